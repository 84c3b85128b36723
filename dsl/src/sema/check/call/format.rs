//! Checks `printf` formats against their arguments: too few, too many, the wrong kind. The messages are warnings, as in compilers.

use crate::sema::check::{Reporter, Tables};
use crate::sema::message::call::CallError;
use crate::sema::{
    classify::Classify,
    ty::Ty,
    typed::{Value, ValueKind},
};
use ir::span::Span;

/// The argument that a conversion needs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Want {
    /// 32 bits.
    Int,
    /// 64 bits.
    Long,
    Double,
    Text,
    Pointer,
}

/// `args[format]` is the format, the rest its arguments.
pub(crate) fn check(
    tables: &Tables,
    reporter: &mut Reporter,
    args: &[Value],
    format: usize,
    at: Span,
) {
    let Some(Value {
        kind: ValueKind::Str(text),
        span,
        ..
    }) = args.get(format)
    else {
        return;
    };
    let wants = conversions(text);
    let given = &args[format + 1..];
    for (i, (conversion, want)) in wants.iter().enumerate() {
        let Some(arg) = given.get(i) else {
            reporter.error(
                tables,
                at,
                CallError::FormatArgumentMissing {
                    conversion: conversion.to_string(),
                    n_wants: wants.len(),
                    n_given: given.len(),
                    place: *span,
                },
            );
            return;
        };
        if !fits(*want, &arg.ty) {
            reporter.error(
                tables,
                arg.span,
                CallError::FormatMismatch {
                    conversion: conversion.to_string(),
                    ty: arg.ty.clone(),
                    place: *span,
                    right: right_conversion(&arg.ty),
                },
            );
        }
    }
    if let Some(extra) = given.get(wants.len()) {
        reporter.error(
            tables,
            extra.span,
            CallError::FormatArgumentExtra {
                place: *span,
                n_wants: wants.len(),
            },
        );
    }
}

fn fits(want: Want, ty: &Ty) -> bool {
    match want {
        Want::Int => ty.is_integral() && ty.bits() <= 32,
        Want::Long => ty.is_integral() && ty.bits() == 64,
        Want::Double => ty.is_floating(),
        Want::Text => {
            matches!(ty, Ty::Pointer(pointee) if matches!(pointee.ty, Ty::Char | Ty::SChar | Ty::UChar))
        }
        Want::Pointer => matches!(ty, Ty::Pointer(_)),
    }
}

fn right_conversion(ty: &Ty) -> Option<&'static str> {
    Some(match ty {
        Ty::Enum(id) => return right_conversion(id.1.ty()),
        Ty::Int => "d",
        Ty::UInt => "u",
        Ty::Long => "ld",
        Ty::ULong => "lu",
        Ty::LongLong => "lld",
        Ty::ULongLong => "llu",
        Ty::Float | Ty::Double => "f",
        Ty::Pointer(pointee) if pointee.ty == Ty::Char => "s",
        Ty::Pointer(_) => "p",
        _ => return None,
    })
}

/// The conversions of a format in order, each with the argument that it needs; `*` needs an `int`.
fn conversions(format: &[u8]) -> Vec<(String, Want)> {
    let mut found = Vec::new();
    let mut rest = format;
    while let Some(start) = rest.iter().position(|&byte| byte == b'%') {
        rest = &rest[start + 1..];
        let mut length = 0;
        let mut is_long = false;
        for &byte in rest {
            match byte {
                b'*' => found.push(("*".to_string(), Want::Int)),
                b'l' | b'z' | b'j' | b't' => is_long = true,
                b'0'..=b'9' | b'.' | b'-' | b'+' | b' ' | b'#' | b'h' => {}
                _ => break,
            }
            length += 1;
        }
        let Some(&letter) = rest.get(length) else {
            break;
        };
        let want = match letter {
            b'd' | b'i' | b'u' | b'x' | b'X' | b'o' => {
                Some(if is_long { Want::Long } else { Want::Int })
            }
            b'c' => Some(Want::Int),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => Some(Want::Double),
            b's' => Some(Want::Text),
            b'p' => Some(Want::Pointer),
            _ => None,
        };
        if let Some(want) = want {
            let text = String::from_utf8_lossy(&rest[..=length]).into_owned();
            found.push((text, want));
        }
        rest = &rest[length + 1..];
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversions_are_found() {
        let wants = |text: &str| {
            conversions(text.as_bytes())
                .into_iter()
                .map(|(_, want)| want)
                .collect::<Vec<_>>()
        };
        assert_eq!(wants("d[%d]!=r[%i] 100%%"), [Want::Int, Want::Int]);
        assert_eq!(
            wants("%5.2f %-8s %lu %zu %p"),
            [
                Want::Double,
                Want::Text,
                Want::Long,
                Want::Long,
                Want::Pointer
            ]
        );
        assert_eq!(
            wants("%*d %.*f"),
            [Want::Int, Want::Int, Want::Int, Want::Double]
        );
        assert_eq!(wants("50%"), []);
    }
}
