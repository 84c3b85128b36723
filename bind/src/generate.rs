//! Writes the text of the Rust module.

use std::fmt::Write;

use dsl::{
    lower::{scalars, size_bytes},
    sema::{
        ty::Ty,
        typed::{Function, Global, GlobalSpace as TypedSpace},
    },
};
use ir::{FuncId, GlobalSpace, MemType, source::SourceMap};

use crate::{
    Kernels,
    names::{Unique, identifier, qualified},
    types::{Types, scalar},
};

/// A variable up to this size is read as a value, a larger one as a vector of its elements.
const VALUE_BYTES: u64 = 64 << 10;

/// A source, as the generated code refers to it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Text {
    /// The source's name in messages and reports.
    pub name: String,
    /// Where its text begins, line and column from 1.
    pub start: (u32, u32),
    /// A Rust expression of type `&'static str`.
    pub expression: String,
}

/// PTX that is embedded in the generated code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PtxText {
    /// 80 for sm_80.
    pub sm: u32,
    /// A Rust expression of type `&'static str`.
    pub expression: String,
}

impl Kernels {
    /// The verified IR as text.
    pub fn ir(&self) -> &str {
        &self.ir
    }

    /// Names of the methods, each with the source's name of its kernel.
    pub fn methods(&self, map: &SourceMap) -> Vec<(String, &Function)> {
        let mut names = Unique::default();
        let named = self
            .kernels
            .iter()
            .enumerate()
            .map(|(index, (id, function))| {
                let asked = self.kernels.request(index, map);
                let asked = asked.and_then(|index| self.request.options.instances.get(index));
                let name = match asked {
                    Some(instance) => instance.method(),
                    None => {
                        let known = &self.kernels.module.function(id).name;
                        qualified(known, map.snippet(function.span))
                    }
                };
                (names.take(&name), function)
            });
        named.collect()
    }

    /// The module, as an item.
    pub fn rust(&self, map: &SourceMap, texts: &[Text], ptx: &[PtxText]) -> String {
        let visibility = &self.request.visibility;
        let name = identifier(&self.request.module_name);
        let items = self.items(map, texts, ptx);
        format!("{visibility} mod {name} {{\n{items}}}\n")
    }

    /// The items of the module, as in a separate file.
    pub fn items(&self, map: &SourceMap, texts: &[Text], ptx: &[PtxText]) -> String {
        let library = self.request.options.library.as_str();
        let mut types = Types::new(&self.kernels.program, library, map);
        let methods = self.methods(map);
        let mut body = String::new();
        for ((id, function), (name, _)) in self.kernels.iter().zip(&methods) {
            self.method(&mut body, &mut types, map, id, function, name);
        }
        let mut taken: Vec<&str> = methods.iter().map(|(name, _)| name.as_str()).collect();
        taken.push("load");
        let mut names = Unique::without(&taken);
        for (index, global) in self.variables() {
            let name = identifier(&format!("{}::{}", global.namespace, global.name));
            self.variable(&mut body, &mut types, index, global, &name, &mut names);
        }
        types.all_of_the_source();
        let declarations = types.declarations();
        let sources: String = texts.iter().map(source).collect();
        let ptx: String = ptx
            .iter()
            .map(|ptx| format!("({}, {}), ", ptx.sm, ptx.expression))
            .collect();
        let file = &self.request.file_name;
        let ir = raw(&self.ir);
        format!(
            "//! Kernels of `{file}`.
#![cfg_attr(rustfmt, rustfmt_skip)]
#![allow(
    dead_code,
    non_camel_case_types,
    non_snake_case,
    unreachable_pub,
    unused_mut,
    unused_qualifications,
    clippy::all,
    clippy::pedantic,
    reason = \"the names are the kernels' own, and not each is used\"
)]

/// The kernels as the machine runs them, and where they come from.
static PROGRAM: {library}::embed::Program = {library}::embed::Program {{
    name: {file:?},
    ir: {ir},
    sources: &[{sources}],
    ptx: &[{ptx}],
}};

/// The kernels on a device: one method each.
#[derive(Clone, Debug)]
pub struct Kernels {{
    loaded: {library}::embed::Loaded,
}}

/// Brings the kernels to a device. Twice on one device is once: the variables are shared.
pub fn load(device: &{library}::Device) -> {library}::Result<Kernels> {{
    ::core::result::Result::Ok(Kernels {{
        loaded: device.load(&PROGRAM)?,
    }})
}}

impl Kernels {{{}}}
{}",
            outdented(&body),
            outdented(&declarations),
        )
    }

    fn method(
        &self,
        out: &mut String,
        types: &mut Types<'_>,
        map: &SourceMap,
        id: FuncId,
        function: &Function,
        name: &str,
    ) {
        let library = self.request.options.library.as_str();
        let index = self
            .kernels
            .module
            .kernels()
            .position(|(kernel, _)| kernel == id)
            .unwrap_or_default();
        let mut names = Unique::default();
        let params: Vec<(String, &Ty)> = function
            .params
            .iter()
            .map(|&var| {
                let var = &function.vars[var];
                let name = if var.name.is_empty() {
                    "arg"
                } else {
                    &var.name
                };
                (names.take(&identifier(name)), &var.ty.ty)
            })
            .collect();
        let grid = names.take("grid");
        let call = names.take("call");
        let mut generics = Vec::new();
        let mut declared = format!("&self, {grid}: {library}::Grid");
        let mut given = String::new();
        for (name, ty) in &params {
            let (declared_type, argument) = self.parameter(types, ty, name, &mut generics);
            let _ = write!(declared, ", {name}: {declared_type}");
            let _ = writeln!(given, "            {call}.{argument};");
        }
        let generics = if generics.is_empty() {
            String::new()
        } else {
            format!("<{}>", generics.join(", "))
        };
        let prototype = prototype(map, function);
        let line = map
            .file(function.span.file)
            .line_column(function.span.start)
            .0;
        let mutable = if params.is_empty() { "" } else { "mut " };
        let _ = write!(
            out,
            "
        /// Launches `{}` of line {line}:
        ///
        /// ```cuda
        /// __global__ void {prototype}
        /// ```
        #[track_caller]
        pub fn {name}{generics}({declared}) -> {library}::Result<{library}::Run> {{
            let {mutable}{call} = self.loaded.call({index}, {grid});
{given}            {call}.launch()
        }}
",
            self.kernels.module.function(id).name,
        );
    }

    /// The type of a method's parameter, and how the call passes it. A `void *` may point to any element type: it makes the method generic.
    fn parameter(
        &self,
        types: &mut Types<'_>,
        ty: &Ty,
        name: &str,
        generics: &mut Vec<String>,
    ) -> (String, String) {
        let library = self.request.options.library.as_str();
        let Ty::Pointer(pointee) = ty else {
            let leaves = scalars(&self.kernels.program, ty).into_iter();
            let leaves = leaves.map(|(offset, leaf)| {
                let leaf = scalar_name(leaf);
                format!("({offset}, {library}::embed::Scalar::{leaf})")
            });
            let leaves: Vec<String> = leaves.collect();
            let rust = types.rust(ty).unwrap_or_else(|| "()".to_string());
            return (rust, format!("value(&{name}, &[{}])", leaves.join(", ")));
        };
        let element = types.rust(&pointee.ty).unwrap_or_else(|| {
            let generic = format!("T{}", generics.len());
            generics.push(format!("{generic}: {library}::Element"));
            generic
        });
        match pointee.is_const {
            true => (
                format!("&{library}::Buffer<{element}>"),
                format!("read({name})?"),
            ),
            false => (
                format!("&mut {library}::Buffer<{element}>"),
                format!("write({name})?"),
            ),
        }
    }

    /// The variables that Rust may set and get: index in the IR's globals, and declaration.
    fn variables(&self) -> Vec<(usize, &Global)> {
        let globals = self.kernels.module.globals.iter().enumerate();
        let on_device = globals.filter(|(_, global)| global.space != GlobalSpace::Host);
        let declared = on_device.filter_map(|(index, global)| {
            let mut all = self.kernels.program.globals.iter();
            let found = all.find(|declared| {
                declared.name == global.name
                    && matches!(
                        declared.space,
                        TypedSpace::Device | TypedSpace::Managed | TypedSpace::Constant
                    )
            });
            found.map(|declared| (index, declared))
        });
        declared.collect()
    }

    fn variable(
        &self,
        out: &mut String,
        types: &mut Types<'_>,
        index: usize,
        global: &Global,
        name: &str,
        names: &mut Unique,
    ) {
        let library = self.request.options.library.as_str();
        let Some(rust) = types.rust(&global.ty.ty) else {
            return;
        };
        let bytes = size_bytes(&self.kernels.program, &global.ty.ty);
        let what = match global.space {
            TypedSpace::Constant => "__constant__",
            TypedSpace::Managed => "__managed__",
            _ => "__device__",
        };
        let setter = names.take(&identifier(&format!(
            "set_{}",
            name.trim_start_matches("r#")
        )));
        let getter = names.take(name);
        let (argument, result, write, read) = match &global.ty.ty {
            Ty::Array(element, Some(count)) if bytes > VALUE_BYTES => {
                let Some(element) = types.rust(&element.ty) else {
                    return;
                };
                (
                    format!("&[{element}]"),
                    format!("::std::vec::Vec<{element}>"),
                    format!("set_elements({index}, {count}, value)"),
                    format!("elements({index}, {count})"),
                )
            }
            ty => {
                let (argument, value) = match scalar(ty) {
                    Some(_) => (
                        format!("impl ::core::borrow::Borrow<{rust}>"),
                        "value.borrow()",
                    ),
                    None => (format!("&{rust}"), "value"),
                };
                (
                    argument,
                    rust,
                    format!("set({index}, {value})"),
                    format!("get({index})"),
                )
            }
        };
        let _ = write!(
            out,
            "
        /// Sets `{what} {name}`.
        pub fn {setter}(&self, value: {argument}) -> {library}::Result<()> {{
            self.loaded.{write}
        }}

        /// What `{what} {name}` holds now.
        pub fn {getter}(&self) -> {library}::Result<{result}> {{
            self.loaded.{read}
        }}
",
        );
    }
}

/// Removes one level of indentation.
fn outdented(text: &str) -> String {
    text.split_inclusive('\n')
        .map(|line| line.strip_prefix("    ").unwrap_or(line))
        .collect()
}

/// `(name, line, column, text), `
fn source(text: &Text) -> String {
    let (line, column) = text.start;
    format!("({:?}, {line}, {column}, {}), ", text.name, text.expression)
}

/// The variant of `embed::Scalar`.
fn scalar_name(ty: MemType) -> &'static str {
    match ty {
        MemType::Bool => "Bool",
        MemType::S8 => "S8",
        MemType::U8 => "U8",
        MemType::S16 => "S16",
        MemType::U16 => "U16",
        MemType::I32 => "I32",
        MemType::I64 => "I64",
        MemType::F32 => "F32",
        MemType::F64 => "F64",
        MemType::Ptr => "Ptr",
    }
}

/// `saxpy(float a, const float *x, float *y, int n)`, as written but on one line.
fn prototype(map: &SourceMap, function: &Function) -> String {
    let text = &map.file(function.span.file).text;
    let rest = text.get(function.span.start as usize..).unwrap_or("");
    let mut depth = 0usize;
    let mut end = function.span.end.saturating_sub(function.span.start) as usize;
    for (at, c) in rest.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth <= 1 => {
                end = at + 1;
                break;
            }
            ')' => depth -= 1,
            '{' | ';' => break,
            _ => {}
        }
    }
    let words: Vec<&str> = rest.get(..end).unwrap_or("").split_whitespace().collect();
    words.join(" ")
}

/// A raw string literal.
pub fn raw(text: &str) -> String {
    let mut hashes = String::from("#");
    while text.contains(&format!("\"{hashes}")) {
        hashes.push('#');
    }
    format!("r{hashes}\"{text}\"{hashes}")
}
