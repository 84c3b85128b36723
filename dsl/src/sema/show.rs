//! Types in messages, spelled as a C programmer would declare them: `const float *`, `int (*)[4]`, `float [16][17]`.

use std::fmt::Write as _;

use super::ty::{QualTy, Records, Ty};

/// A type's text. `enums` are the enumerations' names by id.
pub(crate) fn show(ty: &QualTy, records: &Records, enums: &[String]) -> String {
    let mut around = String::new();
    let mut ty = ty.clone();
    loop {
        match &ty.ty {
            Ty::Pointer(pointee) => {
                let mut star = String::from("*");
                if ty.is_const {
                    star += "const ";
                }
                if ty.is_volatile {
                    star += "volatile ";
                }
                around.insert_str(0, star.as_str());
                if matches!(pointee.ty, Ty::Array(..) | Ty::Function(_)) {
                    around = format!("({})", around.trim_end());
                }
                let pointee = pointee.as_ref().clone();
                ty = pointee;
            }
            Ty::Array(element, n) => {
                match n {
                    Some(n) => write!(around, "[{n}]").expect("writing to a string"),
                    None => around += "[]",
                }
                let element = element.as_ref().clone();
                ty = element;
            }
            Ty::Function(function) => {
                let params: Vec<_> = function
                    .params
                    .iter()
                    .zip(&function.references)
                    .map(|(param, is_reference)| {
                        let text = show(param, records, enums);
                        match is_reference {
                            true => format!("{text} &"),
                            false => text,
                        }
                    })
                    .collect();
                write!(around, "({})", params.join(", ")).expect("writing to a string");
                ty = function.result.clone().into();
            }
            _ => break,
        }
    }
    let mut text = String::new();
    if ty.is_const {
        text += "const ";
    }
    if ty.is_volatile {
        text += "volatile ";
    }
    text += match &ty.ty {
        Ty::Void => "void",
        Ty::Bool => "bool",
        Ty::Char => "char",
        Ty::SChar => "signed char",
        Ty::UChar => "unsigned char",
        Ty::Short => "short",
        Ty::UShort => "unsigned short",
        Ty::Int => "int",
        Ty::UInt => "unsigned int",
        Ty::Long => "long",
        Ty::ULong => "unsigned long",
        Ty::LongLong => "long long",
        Ty::ULongLong => "unsigned long long",
        Ty::Float => "float",
        Ty::Double => "double",
        Ty::Record(id) => &records[*id].name,
        Ty::Enum(id) => &enums[id.index()],
        Ty::Pointer(_) | Ty::Array(..) | Ty::Function(_) | Ty::Error => "<error>",
    };
    if !around.is_empty() {
        text.push(' ');
        text += around.trim_end();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sema::classify::{constant, pointer_to};

    fn array(element: QualTy, n: u64) -> QualTy {
        Ty::Array(std::sync::Arc::new(element), Some(n)).into()
    }

    #[test]
    fn types_read_as_declared() {
        let text = |ty: QualTy| show(&ty, &Records::new(), &[]);
        let int = || QualTy::from(Ty::Int);
        assert_eq!(text(int()), "int");
        assert_eq!(
            text(pointer_to(constant(Ty::Float)).into()),
            "const float *"
        );
        assert_eq!(text(constant(pointer_to(Ty::Float.into()))), "float *const");
        assert_eq!(text(pointer_to(pointer_to(int()).into()).into()), "int **");
        assert_eq!(text(array(array(int(), 3), 2)), "int [2][3]");
        assert_eq!(text(array(pointer_to(int()).into(), 4)), "int *[4]");
        assert_eq!(text(pointer_to(array(int(), 4)).into()), "int (*)[4]");
    }
}
