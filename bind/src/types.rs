//! Converts types of C to types of Rust.
//!
//! | C | Rust |
//! |---|---|
//! | `bool`, `char`, `int`, `long`, `float` … | the scalar of the same size and signedness |
//! | an enumeration | the integer it is kept in |
//! | `float4` and CUDA's other vector types | the library's type of that name |
//! | `half`, `__nv_bfloat16` | `f16` and `bf16` of the crate `half` |
//! | `T [n]` | `[T; n]` |
//! | `T *` inside of a structure | `DevicePointer<T>` |
//! | a structure | a `#[repr(C)]` structure of the module, with the layout asserted |
//! | a union, and what Rust cannot lay out like C | the same, with its bytes as the only member |

use std::fmt::Write;

use dsl::{
    lower::{align_bytes, size_bytes},
    sema::{
        ty::{QualTy, Record, RecordId, Ty},
        typed::Program,
    },
};
use ir::{locate::is_library, source::SourceMap};

use crate::names::{Unique, identifier, qualified};

/// The types of one module. The requested structures are declared at the end.
pub(crate) struct Types<'p> {
    program: &'p Program,
    library: &'p str,
    map: &'p SourceMap,
    names: Unique,
    /// Structures in the order in which they were requested, with their names.
    records: Vec<(RecordId, String)>,
}

/// Scalars of C and of Rust.
pub(crate) fn scalar(ty: &Ty) -> Option<&'static str> {
    Some(match ty {
        Ty::Bool => "bool",
        Ty::Char | Ty::SChar => "i8",
        Ty::UChar => "u8",
        Ty::Short => "i16",
        Ty::UShort => "u16",
        Ty::Int => "i32",
        Ty::UInt => "u32",
        Ty::Long | Ty::LongLong => "i64",
        Ty::ULong | Ty::ULongLong => "u64",
        Ty::Float => "f32",
        Ty::Double => "f64",
        Ty::Enum(id) => return scalar(id.1.ty()),
        Ty::Void | Ty::Pointer(_) | Ty::Array(..) | Ty::Record(_) | Ty::Function(_) | Ty::Error => {
            return None;
        }
    })
}

/// The library's type for a record, if there is one.
fn known(record: &Record) -> Option<&str> {
    match record.name.as_str() {
        "__half" => Some("half::f16"),
        "__nv_bfloat16" => Some("half::bf16"),
        "__half2" => Some("half2"),
        "__nv_bfloat162" => Some("bfloat162"),
        // The library has CUDA's vector types under the same names.
        name => (record.is_vector && record.span.is_none()).then_some(name),
    }
}

impl<'p> Types<'p> {
    /// Types of a program, for the module of its kernels.
    pub(crate) fn new(program: &'p Program, library: &'p str, map: &'p SourceMap) -> Types<'p> {
        Types {
            program,
            library,
            map,
            names: Unique::without(&["Kernels"]),
            records: Vec::new(),
        }
    }

    /// The type of a value; `None` for `void`, functions and `[]`.
    pub(crate) fn rust(&mut self, ty: &Ty) -> Option<String> {
        if let Some(scalar) = scalar(ty) {
            return Some(scalar.to_string());
        }
        match ty {
            Ty::Pointer(pointee) => {
                let inner = self.rust(&pointee.ty).unwrap_or_else(|| "u8".to_string());
                Some(format!("{}::DevicePointer<{inner}>", self.library))
            }
            Ty::Array(element, Some(count)) => {
                let inner = self.rust(&element.ty)?;
                Some(format!("[{inner}; {count}]"))
            }
            Ty::Record(id) => Some(self.record(*id)),
            _ => None,
        }
    }

    fn record(&mut self, id: RecordId) -> String {
        if let Some(known) = known(self.program.record(id)) {
            return format!("{}::{known}", self.library);
        }
        if let Some((_, name)) = self.records.iter().find(|(known, _)| *known == id) {
            return name.clone();
        }
        let record = self.program.record(id);
        let written = record.span.map_or("", |span| self.map.snippet(span));
        let name = qualified(&record.name, written);
        let name = self.names.take(&name);
        self.records.push((id, name.clone()));
        name
    }

    /// Requests each structure that the source itself declares outside functions and templates: programs may need buffers of them.
    pub(crate) fn all_of_the_source(&mut self) {
        for (index, record) in self.program.records.iter().enumerate() {
            let Some(span) = record.span else { continue };
            let is_own = !is_library(&self.map.file(span.file).name);
            let is_plain = !record.name.contains(['<', ' ']) && !record.fields.is_empty();
            if is_own && is_plain {
                self.record(RecordId(index as u32));
            }
        }
    }

    /// Declares every requested structure, and the structures in them.
    pub(crate) fn declarations(&mut self) -> String {
        let mut out = String::new();
        let mut next = 0;
        while let Some((id, name)) = self.records.get(next).cloned() {
            next += 1;
            self.declare(&mut out, id, &name);
        }
        out
    }

    /// The members, as Rust; `None` if Rust would lay them out differently.
    fn members(&mut self, record: &Record) -> Option<Vec<Member>> {
        if record.is_union || record.fields.is_empty() {
            return None;
        }
        let mut names = Unique::default();
        let mut members = Vec::new();
        let mut end = 0;
        for field in &record.fields {
            let QualTy { ty, .. } = &field.ty;
            let (bytes, align) = (size_bytes(self.program, ty), align_bytes(self.program, ty));
            // Rust has no bit-fields.
            if field.bits.is_some() || field.offset_bytes != u64::next_multiple_of(end, align) {
                return None;
            }
            end = field.offset_bytes + bytes;
            let name = match field.name.as_str() {
                "" => "unnamed",
                name => name,
            };
            members.push(Member {
                name: names.take(&identifier(name)),
                ty: self.rust(ty)?,
                offset: field.offset_bytes,
                bytes,
            });
        }
        (u64::next_multiple_of(end, record.align_bytes) == record.size_bytes).then_some(members)
    }

    /// Writes the Rust struct of a record, with tests of its layout. A record whose members Rust cannot name is an array of bytes.
    fn declare(&mut self, out: &mut String, id: RecordId, name: &str) {
        let record = self.program.record(id).clone();
        let (bytes, align) = (record.size_bytes, record.align_bytes);
        let members = self.members(&record).unwrap_or_else(|| {
            vec![Member {
                name: "bytes".to_string(),
                ty: format!("[u8; {bytes}]"),
                offset: 0,
                bytes,
            }]
        });
        let library = self.library;
        let what = if record.is_union { "union" } else { "struct" };
        let fields = lines(&members, |member| {
            let Member {
                name, ty, offset, ..
            } = member;
            format!("        /// At byte {offset}.\n        pub {name}: {ty},\n")
        });
        let offsets = lines(&members, |member| {
            let Member {
                name: field,
                offset,
                ..
            } = member;
            format!("        assert!(::core::mem::offset_of!({name}, {field}) == {offset});\n")
        });
        let puts = lines(&members, |member| {
            let (field, range) = (&member.name, member.range());
            format!("            {library}::Element::put(&self.{field}, &mut bytes[{range}]);\n")
        });
        let takes = lines(&members, |member| {
            let (field, range) = (&member.name, member.range());
            format!("                {field}: {library}::Element::take(&bytes[{range}]),\n")
        });
        let _ = write!(
            out,
            "
    /// `{what} {}` of the kernels: {bytes} bytes, aligned to {align}.
    #[repr(C, align({align}))]
    #[derive(Clone, Copy, Debug, PartialEq)]
    pub struct {name} {{
{fields}    }}

    // The kernels' compiler and Rust's have to agree.
    const _: () = {{
        assert!(::core::mem::size_of::<{name}>() == {bytes});
        assert!(::core::mem::align_of::<{name}>() == {align});
{offsets}    }};

    impl {library}::Element for {name} {{
        const BYTES: usize = {bytes};

        fn put(&self, bytes: &mut [u8]) {{
{puts}        }}

        fn take(bytes: &[u8]) -> Self {{
            {name} {{
{takes}            }}
        }}
    }}

    impl ::core::default::Default for {name} {{
        fn default() -> Self {{
            {library}::Element::take(&[0; {bytes}])
        }}
    }}
",
            record.name
        );
    }
}

/// A line for each member.
fn lines(members: &[Member], line: impl Fn(&Member) -> String) -> String {
    members.iter().map(line).collect()
}

/// One member of a structure.
struct Member {
    name: String,
    ty: String,
    offset: u64,
    bytes: u64,
}

impl Member {
    fn range(&self) -> String {
        format!("{}..{}", self.offset, self.offset + self.bytes)
    }
}
