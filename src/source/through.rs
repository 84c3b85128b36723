//! Fills a program with the kernels that clang compiles.

use ir::{
    Module,
    diagnostic::{Code, Diagnostic, Severity},
    source::{COMMAND_LINE, SourceFile, SourceMap},
};
use ptx::Joined;

use super::{Files, Loaded, clang};
use crate::{
    args::{KernelsBy, SourceArgs},
    command::nvcc,
};

/// Most messages of clang's that are shown.
const MOST_SHOWN: usize = 3;

/// Kernels that the front end does not understand, and what clang made of them.
#[derive(Default)]
pub(crate) struct OfClang {
    /// `clang 22`
    pub(crate) by: String,
    /// The standard of C++ that it took, if that is not nvcc's default.
    pub(crate) standard: Option<String>,
    /// What it made.
    pub(crate) ptx: String,
    /// Those that it compiled, by the names in the module.
    pub(crate) kernels: Vec<String>,
    /// Instructions of theirs that dslc cannot run, and the like: one line each.
    pub(crate) notes: Vec<String>,
    /// Why others are not there.
    pub(crate) left_out: Vec<String>,
}

impl OfClang {
    /// What to say of it.
    pub(crate) fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.kernels.is_empty() {
            lines.push(format!("{} compiles {}", self.by, quoted(&self.kernels)));
        }
        lines.extend(self.notes.iter().take(MOST_SHOWN).cloned());
        if self.notes.len() > MOST_SHOWN {
            let more = self.notes.len() - MOST_SHOWN;
            lines.push(format!(
                "{more} more such notes: `dslc check --kernels --format json` has all"
            ));
        }
        let shown = self.left_out.iter().take(MOST_SHOWN);
        lines.extend(shown.map(|why| format!("{} does not compile this: {why}", self.by)));
        if self.left_out.len() > MOST_SHOWN {
            let more = self.left_out.len() - MOST_SHOWN;
            lines.push(format!("{} has {more} more messages", self.by));
        }
        lines
    }

    /// Of what clang made, without kernels yet.
    pub(crate) fn of(made: &clang::Made) -> OfClang {
        OfClang {
            by: made.by.clone(),
            ptx: made.ptx.clone(),
            standard: made.standard.clone().filter(|one| *one != clang::OLDER),
            left_out: made.left_out.iter().map(ToString::to_string).collect(),
            ..OfClang::default()
        }
    }

    fn failed(why: impl Into<String>) -> OfClang {
        OfClang {
            by: "clang".to_string(),
            left_out: vec![why.into()],
            ..OfClang::default()
        }
    }

    /// Notes what the reader of PTX says of the kernels.
    pub(crate) fn add(&mut self, made: &ptx::Kernels) {
        let name = |entry: &str| nvcc::source_name(entry);
        for (entry, why) in &made.refused {
            self.left_out
                .push(format!("`{}`: {}", name(entry), why.message));
        }
        for (entry, why) in &made.unsupported {
            self.notes.push(format!(
                "`{}`: {}; a lane that executes this ends the run",
                name(entry),
                why.message
            ));
        }
        for (entry, why) in &made.assumed {
            self.notes.push(format!(
                "`{}`: {}; where its lanes meet again is assumed",
                name(entry),
                why.message
            ));
        }
    }
}

/// `a`, `b`, `c`
fn quoted(names: &[String]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Whether clang is to be asked.
pub(crate) fn is_asked(args: &SourceArgs) -> bool {
    KernelsBy::wanted(args.kernels_by) != KernelsBy::Dslc && clang::is_there()
}

/// Asks clang for the kernels that the survey of a file does not understand.
pub(super) fn survey(loaded: &mut Loaded, args: &SourceArgs, cuda_arch: u32) {
    // A declaration that the front end cannot lower stops all its kernels.
    let all = KernelsBy::wanted(args.kernels_by) == KernelsBy::Clang || loaded.module.is_none();
    let is_wanted = |kernel: &dsl::KernelVerdict| all || kernel.reason.is_some();
    let refused: Vec<String> = loaded
        .kernels
        .iter()
        .filter(|kernel| is_wanted(kernel))
        .map(|kernel| kernel.name.clone())
        .collect();
    if refused.is_empty() || !is_asked(args) {
        return;
    }
    let templates: Vec<(&str, &SourceFile, usize)> = loaded
        .kernels
        .iter()
        .filter(|kernel| is_wanted(kernel))
        .map(|kernel| {
            let span = loaded.map.use_site(kernel.span);
            let file = loaded.map.file(span.file);
            (kernel.name.as_str(), file, span.start as usize)
        })
        .collect();
    let tried = clang::tried(&templates).into_iter();
    let instances: Vec<String> = args.instances.iter().cloned().chain(tried).collect();
    let made = match clang::ptx(args, cuda_arch / 10, &instances) {
        Ok(made) => made,
        Err(why) => {
            loaded.clang = Some(OfClang::failed(why.to_string()));
            return;
        }
    };
    let mut module = loaded.module.clone().unwrap_or_default();
    // Of two kernels of one name the one is wanted that clang makes.
    let is_other = |function: &ir::Function| {
        function.kind != ir::FunctionKind::Kernel
            || !refused
                .iter()
                .any(|one| clang::plain_name(&function.name) == one)
    };
    module.functions.retain(is_other);
    if module.name.is_empty() {
        module.name = args.file.display().to_string();
    }
    let joined = |entry: &str| {
        let name = nvcc::source_name(entry);
        match refused.iter().any(|one| clang::plain_name(&name) == one) {
            true => Joined::Added,
            false => Joined::LeftOut,
        }
    };
    let mut of_clang = OfClang::of(&made);
    match clang::join(&made, &mut module, &joined) {
        Ok(kernels) => {
            of_clang.add(&kernels);
            for kernel in &kernels.all {
                if clang::has_left_out(&kernels, &kernel.entry) {
                    continue;
                }
                let name = &module.function(kernel.id).name;
                let plain = clang::plain_name(name);
                let understood = loaded.kernels.iter_mut().filter(|one| one.name == plain);
                understood.for_each(|one| one.reason = None);
                of_clang.kernels.push(name.clone());
            }
            ir::verify::assert_verified(&module, "reading clang's PTX");
            loaded.module = Some(module);
            // An instance that was asked for is there now, though the front end cannot make it.
            let map = &loaded.map;
            loaded.diagnostics.retain(|message| {
                let span = map.use_site(message.primary.span);
                let is_request = map.file(span.file).name == COMMAND_LINE;
                !(all || is_request) || message.severity != Severity::Error
            });
        }
        Err(why) => of_clang.left_out.push(why.message),
    }
    loaded.clang = Some(of_clang);
}

/// Compiles a program again whose kernels the front end does not understand: its host code as before, those kernels through clang. Changes
/// nothing if that does not give a whole program, except that it notes why.
pub(super) fn program(
    loaded: &mut Loaded,
    (args, cuda_arch): (&SourceArgs, u32),
    options: &dsl::Options,
    loader: &Files,
) {
    let all = KernelsBy::wanted(args.kernels_by) == KernelsBy::Clang;
    if !is_asked(args) || !all && !loaded.diagnostics.iter().any(may_be_a_limit) {
        return;
    }
    let Some((_, first)) = loaded.map.files().next() else {
        return;
    };
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new(first.name.clone(), first.text.to_string()));
    let (compiled, stubs) = dsl::compile_without_bodies(&mut map, (file, all), options, loader);
    let Some(mut module) = compiled.module else {
        return;
    };
    let filled = match stubs.is_empty() {
        // Only the constraints of kernels were beyond it.
        true => Ok(None),
        false => filled(&mut module, &stubs, args, cuda_arch).map(Some),
    };
    match filled {
        Ok(of_clang) => {
            *loaded = Loaded {
                map,
                module: Some(module),
                diagnostics: compiled.diagnostics,
                clang: of_clang,
                kernels: Vec::new(),
                missing: Vec::new(),
                read: Vec::new(),
            };
        }
        Err(of_clang) => loaded.clang = Some(*of_clang),
    }
}

/// Gives the stubs their bodies; an error if one stays empty.
fn filled(
    module: &mut Module,
    stubs: &[dsl::Stub],
    args: &SourceArgs,
    cuda_arch: u32,
) -> Result<OfClang, Box<OfClang>> {
    let made = clang::ptx(args, cuda_arch / 10, &args.instances);
    let made = made.map_err(|why| Box::new(OfClang::failed(why.to_string())))?;
    let names: Vec<String> = stubs
        .iter()
        .map(|stub| module.function(stub.id).name.clone())
        .collect();
    let joined = |entry: &str| {
        let name = nvcc::source_name(entry);
        let at = names.iter().position(|known| nvcc::same_name(known, &name));
        at.map_or(Joined::LeftOut, |at| {
            Joined::BodyOf(stubs[at].id, stubs[at].params.clone())
        })
    };
    let mut of_clang = OfClang::of(&made);
    let kernels = clang::join(&made, module, &joined);
    let kernels = kernels.map_err(|why| Box::new(OfClang::failed(why.message)))?;
    of_clang.add(&kernels);
    let is_missing = |stub: &&dsl::Stub| {
        let mut made = kernels.all.iter().filter(|kernel| kernel.id == stub.id);
        made.all(|kernel| clang::has_left_out(&kernels, &kernel.entry))
    };
    if let Some(stub) = stubs.iter().find(is_missing) {
        if of_clang.left_out.is_empty() {
            let name = &module.function(stub.id).name;
            of_clang
                .left_out
                .push(format!("its PTX has no kernel `{name}`"));
        }
        return Err(Box::new(of_clang));
    }
    of_clang.kernels = names;
    // What clang left out no kernel needs, and the host code is dslc's.
    of_clang.left_out.clear();
    ir::verify::assert_verified(module, "reading clang's PTX");
    Ok(of_clang)
}

/// Whether an error may be a limit of the front end rather than of the program. A name similar to a known one is a typing error.
fn may_be_a_limit(diagnostic: &Diagnostic) -> bool {
    let is_typing_error = match diagnostic.code {
        Code::UnknownName | Code::UnknownType | Code::UnknownMember | Code::UndefinedFunction => {
            diagnostic.help.is_some()
        }
        Code::IncludeNotFound => true,
        _ => false,
    };
    diagnostic.severity == Severity::Error && !is_typing_error
}
