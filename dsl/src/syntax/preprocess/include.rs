//! `#include`: the program's files are read, system and CUDA headers are known and ignored.

use std::rc::Rc;

use super::Preprocessor;
use crate::syntax::lexer::pp_token::{PpKind, PpToken};
use crate::syntax::message::Message as _;
use crate::syntax::message::preprocess::DirectiveError;
use crate::syntax::token::Punct;
use ir::source::SourceFile;
use ir::span::Span;

/// How deep files may include files.
const DEPTH_LIMIT: usize = 100;

/// The largest number of included files in all, so that a cycle in which a file includes itself twice ends, too.
const COUNT_LIMIT: u32 = 10_000;

impl Preprocessor<'_> {
    /// `#include` with the rest of its line.
    pub(super) fn include(&mut self, directive: Span, line: &[PpToken]) {
        let expanded;
        let line = match line.first() {
            Some(first) if first.name().is_some() => {
                expanded = self.expand_list(line.to_vec());
                &expanded
            }
            _ => line,
        };
        let Some((first, rest)) = line.split_first() else {
            let is_unquoted = false;
            return self.report(
                directive.after(),
                DirectiveError::IncludeNeedsFile { is_unquoted },
            );
        };
        match first.kind {
            PpKind::Str(sym) => {
                self.extra_tokens("include", rest);
                let name = self.names.text(sym).trim_matches('"').to_string();
                self.include_own(&name, first.span);
            }
            // The contents of system headers are built in; headers of a project are in the folders that the command line names.
            PpKind::Punct(Punct::Lt | Punct::Shl | Punct::Le | Punct::LaunchOpen) => {
                let close = rest.iter().position(|token| token.is(Punct::Gt));
                if let (Some(from), Some(close)) = (rest.first(), close)
                    && let Some(last) = rest[..close].last()
                {
                    let place = from.span.to(last.span);
                    let name = self.map.snippet(place).to_string();
                    self.include_of_project(&name, place);
                }
            }
            PpKind::Name(_)
            | PpKind::Number(_)
            | PpKind::Char(_)
            | PpKind::Punct(_)
            | PpKind::Unroll(_) => {
                let is_unquoted = true;
                self.report(first.span, DirectiveError::IncludeNeedsFile { is_unquoted });
            }
        }
    }

    /// `#include <name>`: a header of the project, unless its name is that of a CUDA, C or C++ header.
    fn include_of_project(&mut self, name: &str, place: Span) {
        const LIBRARIES: [&str; 10] = [
            "cooperative_groups",
            "crt",
            "cub",
            "cuda",
            "experimental",
            "linux",
            "netinet",
            "nv",
            "sys",
            "thrust",
        ];
        let folder = name.split_once('/').map(|(folder, _)| folder);
        let is_library = folder.is_some_and(|folder| LIBRARIES.contains(&folder));
        if is_library || is_system_header(name) || !name.contains('.') {
            self.files.headers.push(name.to_string());
            return;
        }
        match self.loader.load(name, "") {
            Some(_) => self.include_from(name, "", place),
            // A header without a folder may belong to any system.
            None if folder.is_none() => self.files.headers.push(name.to_string()),
            None => {
                let name = name.to_string();
                let missing = DirectiveError::NoFile { name }.diagnostic(place, &self.names);
                self.diagnostics.push(missing.as_note());
            }
        }
    }

    fn include_own(&mut self, name: &str, place: Span) {
        let from = self
            .files
            .open
            .last()
            .map_or(String::new(), |open| self.map.file(open.id).name.clone());
        self.include_from(name, &from, place);
    }

    /// Includes the file that the loader finds relative to another file, or only in the named folders.
    fn include_from(&mut self, name: &str, from: &str, place: Span) {
        if self.files.open.len() >= DEPTH_LIMIT || self.files.n_included >= COUNT_LIMIT {
            self.include_depth(name, place);
            return;
        }
        match self.loader.load(name, from) {
            Some(Ok(file)) => {
                self.files.n_included += 1;
                self.open_own(file.full_name, file.text);
            }
            // A built-in header needs no file, even if the program's author had one.
            Some(Err(_)) if is_system_header(name) => self.files.headers.push(name.to_string()),
            Some(Err(reason)) => {
                let name = name.to_string();
                self.report(place, DirectiveError::CannotRead { name, reason });
            }
            None if is_system_header(name) => self.files.headers.push(name.to_string()),
            None => {
                let (name, from) = (name.to_string(), from.to_string());
                self.report(place, DirectiveError::NoFileBeside { name, from });
            }
        }
    }

    fn open_own(&mut self, full_name: String, text: String) {
        // The tokens of the first read are used again: the text is assumed not to have changed.
        if let Some((id, lexed)) = self.files.lexed.get(&full_name) {
            let (id, lexed) = (*id, lexed.clone());
            if !self.files.once.contains(&id) {
                self.open(id, Some(lexed));
            }
            return;
        }
        let known = self
            .files
            .open
            .iter()
            .find(|open| self.map.file(open.id).name == full_name);
        if let Some(open) = known {
            let (id, lexed) = (open.id, open.lexed.clone());
            if !self.files.once.contains(&id) {
                self.open(id, Some(lexed));
            }
            return;
        }
        let id = self.map.add(SourceFile::new(full_name.clone(), text));
        let lexed = self.open(id, None);
        self.files.lexed.insert(full_name, (id, Rc::clone(&lexed)));
    }

    fn include_depth(&mut self, name: &str, place: Span) {
        if self.files.n_included == u32::MAX {
            return;
        }
        // One message, and no more files: the files on the stack may include as many again.
        self.files.n_included = u32::MAX;
        let circle = self.files.open.last().is_some_and(|open| {
            self.files
                .open
                .iter()
                .filter(|other| other.id == open.id)
                .count()
                > 1
        });
        let (name, open) = (name.to_string(), self.files.open.len());
        match circle {
            true => self.report(place, DirectiveError::Circle { name, open }),
            false => self.report(place, DirectiveError::TooManyFiles { name, open }),
        }
    }
}

/// Whether a header declares half-precision types.
pub(super) fn has_half(name: &str) -> bool {
    ["cuda_fp16", "cuda_bf16", "mma"]
        .iter()
        .any(|header| name.strip_suffix(".h").unwrap_or(name) == *header)
}

/// Whether a name is that of a CUDA, C or C++ header, in any quotes.
fn is_system_header(name: &str) -> bool {
    const STEMS: [&str; 42] = [
        "assert",
        "complex",
        "ctype",
        "errno",
        "fenv",
        "float",
        "inttypes",
        "iso646",
        "limits",
        "locale",
        "math",
        "memory",
        "setjmp",
        "signal",
        "stdalign",
        "stdarg",
        "stdatomic",
        "stdbool",
        "stddef",
        "stdint",
        "stdio",
        "stdlib",
        "stdnoreturn",
        "string",
        "strings",
        "tgmath",
        "threads",
        "time",
        "uchar",
        "unistd",
        "wchar",
        "wctype",
        "cuda",
        "cuda_runtime",
        "cuda_runtime_api",
        "device_launch_parameters",
        "device_functions",
        "cooperative_groups",
        "math_constants",
        "math_functions",
        "vector_types",
        "vector_functions",
    ];
    const MORE: [&str; 17] = [
        "mma",
        "cuda_fp16",
        "cuda_bf16",
        "cuda_fp8",
        "cuda_device_runtime_api",
        "device_atomic_functions",
        "device_types",
        "driver_types",
        "driver_functions",
        "host_defines",
        "builtin_types",
        "channel_descriptor",
        "texture_types",
        "surface_types",
        "helper_cuda",
        "helper_functions",
        "cuda_profiler_api",
    ];
    let file = name.rsplit(['/', '\\']).next().unwrap_or(name);
    let stem = file
        .strip_suffix(".h")
        .or_else(|| file.strip_suffix(".hpp"))
        .or_else(|| file.strip_suffix(".cuh"))
        .unwrap_or(file);
    let is_part = name.starts_with("cooperative_groups/");
    // A header of an architecture: `sm_61_intrinsics.h`, `sm_35_atomic_functions.h`.
    let is_of_architecture = stem.starts_with("sm_")
        && (stem.ends_with("_intrinsics") || stem.ends_with("_atomic_functions"));
    is_part
        || is_of_architecture
        || STEMS.contains(&stem)
        || MORE.contains(&stem)
        || stem == "common_functions"
}
