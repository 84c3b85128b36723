//! Kernels through clang: what the front end does not understand becomes PTX, and the PTX becomes IR.
//!
//! clang reads the same files as the front end: those below the program's folder, the folders of `-I` and the system's. What it says about a
//! file elsewhere is not shown, because the message would contain the file's text.

mod percent;
mod repair;

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::{Duration, Instant},
};

use ir::{GlobalId, Module, source::SourceFile};

use super::include::Files;
use crate::{
    args::SourceArgs,
    command::nvcc::{Clang, compiler, join_launches, same_name, source_name},
    failure::Failure,
};
use ptx::Joined;
use repair::{Message, Parts};

/// How long clang may compile one source.
const MOST_TIME: Duration = Duration::from_secs(60);
/// How often a source is compiled again without what clang did not understand.
const MOST_ROUNDS: usize = 12;

/// The system's folders of headers.
const OF_SYSTEM: [&str; 3] = ["/usr/include", "/usr/lib", "/usr/local/include"];

/// What a program's device code is written in.
#[derive(Clone, Debug)]
struct Dialect {
    standard: String,
    /// Whether device code may call templates of the host, such as `std::swap`.
    templates: bool,
}

/// The dialects that are tried, nvcc's default first. The one with the fewest errors is taken.
fn dialects(args: &SourceArgs) -> Vec<Dialect> {
    let standards = match &args.std {
        Some(standard) => vec![standard.as_str()],
        None => vec![OLDER, NEWER],
    };
    let both = [false, true].into_iter();
    let pairs = both.flat_map(|templates| standards.iter().map(move |one| (templates, *one)));
    pairs
        .map(|(templates, standard)| Dialect {
            standard: standard.to_string(),
            templates,
        })
        .collect()
}

pub(super) const OLDER: &str = "gnu++17";
const NEWER: &str = "gnu++20";

/// Templates without a word for their side belong to both.
const OF_BOTH_SIDES: &str = "-foffload-implicit-host-device-templates";

/// What clang made of a program's device code.
pub(crate) struct Made {
    pub(super) ptx: String,
    /// `clang 22`
    pub(crate) by: String,
    /// The standard that it took.
    pub(super) standard: Option<String>,
    /// What it did not understand, and left out.
    pub(super) left_out: Vec<Message>,
}

/// Whether there is a clang to ask.
pub(crate) fn is_there() -> bool {
    compiler().is_some()
}

/// Compiles the device code of a program, and these instances of kernel templates. A declaration that clang does not understand is left out;
/// `Err` is one sentence.
pub(crate) fn ptx(args: &SourceArgs, arch: u32, instances: &[String]) -> Result<Made, Failure> {
    let clang = Clang::find(None)?;
    let files = Files::new(&args.file, &args.include);
    let mut texts = Texts::of(args);
    let main = args.file.display().to_string();
    let mut added = usize::MAX;
    if let Some(text) = texts.0.get_mut(&main) {
        added = text.lines().count() + 1;
        *text = with_instances(text, instances);
    }
    let folder = tempfile::tempdir()?;
    let mut left_out: Vec<Message> = Vec::new();
    let mut dialect = None;
    for _ in 0..MOST_ROUNDS {
        let run = Run {
            clang: &clang,
            args,
            arch,
            folder: folder.path(),
            texts: &texts,
            main: &main,
            // What a missing header would have included.
            more: left_out.iter().any(Message::is_about_file),
        };
        let messages = match run.compile(&mut dialect, &files)? {
            Ok(ptx) => {
                return Ok(Made {
                    ptx: texts.named(&ptx),
                    by: clang.version(),
                    standard: dialect.map(|dialect: Dialect| dialect.standard),
                    left_out,
                });
            }
            Err(messages) => messages,
        };
        let removed = repair::without(&mut texts.0, &messages, (&main, added));
        if removed.is_empty() {
            let first = messages.first();
            let first = first.map_or(
                "it ended without a message: it may have crashed".to_string(),
                ToString::to_string,
            );
            return Err(Failure::new(first));
        }
        left_out.extend(removed);
    }
    let first = left_out.first().map(ToString::to_string);
    Err(Failure::new(first.unwrap_or_default()))
}

/// An instance of each of these kernels that is a template: `kernel<float, 32>`; two, if a parameter may be a type or a number.
pub(super) fn tried(kernels: &[(&str, &SourceFile, usize)]) -> Vec<String> {
    let mut known: HashMap<&str, Parts> = HashMap::new();
    let rounds = kernels
        .iter()
        .flat_map(|kernel| [(kernel, false), (kernel, true)]);
    let instances = rounds.filter_map(|((name, file, at), is_second)| {
        let parts = known
            .entry(file.name.as_str())
            .or_insert_with(|| Parts::of(&file.text));
        let arguments = parts.arguments(&file.text, *at, is_second)?;
        let path = parts.namespaces(*at);
        Some(format!("{path}{name}<{arguments}>"))
    });
    instances.collect()
}

/// The program's files by the names that messages have, as clang reads them.
struct Texts(HashMap<String, String>);

impl Texts {
    fn of(args: &SourceArgs) -> Texts {
        let all = super::texts(&args.file, &args.include).into_iter();
        Texts(
            all.map(|(name, text)| {
                let text = percent::doubled(&join_launches(&text)).into_owned();
                (name, text)
            })
            .collect(),
        )
    }

    /// The PTX with the files' names as the program has them: clang makes paths of them.
    fn named(&self, ptx: &str) -> String {
        let mut out = String::with_capacity(ptx.len());
        for line in ptx.split_inclusive('\n') {
            let path = line
                .trim_start()
                .strip_prefix(".file")
                .and_then(|rest| rest.split('"').nth(1));
            let known = path.and_then(|path| {
                let mut names = self.0.keys();
                Some((path, names.find(|name| repair::is_same(name, path))?))
            });
            match known {
                Some((path, name)) => out += &line.replacen(path, name, 1),
                None => out += line,
            }
        }
        out
    }
}

/// The text with a host function that names instances of kernel templates, so that clang makes them.
fn with_instances(text: &str, instances: &[String]) -> String {
    let mut text = text.to_string();
    for (number, instance) in instances.iter().enumerate() {
        text += &format!(
            "\nstatic void __dslc_instance{number}() {{ auto *kernel = &{instance}; (void)kernel; }}"
        );
    }
    text
}

/// One run of clang.
struct Run<'a> {
    clang: &'a Clang,
    args: &'a SourceArgs,
    arch: u32,
    folder: &'a Path,
    texts: &'a Texts,
    main: &'a str,
    /// Include the library's own headers first.
    more: bool,
}

impl Run<'_> {
    /// The PTX, or what clang says. The first run decides about the dialect.
    fn compile(
        &self,
        dialect: &mut Option<Dialect>,
        files: &Files,
    ) -> Result<Result<String, Vec<Message>>, Failure> {
        if dialect.is_none() {
            let mut best: Option<(Vec<Message>, Dialect)> = None;
            for tried in dialects(self.args) {
                let messages = self.checked(&tried, files)?;
                // A missing file ends the compilation: what is after it is not yet known.
                if messages.iter().any(Message::is_about_file) {
                    return Ok(Err(messages));
                }
                let is_right = messages.is_empty();
                if best
                    .as_ref()
                    .is_none_or(|(least, _)| messages.len() < least.len())
                {
                    best = Some((messages, tried));
                }
                if is_right {
                    break;
                }
            }
            if let Some((messages, best)) = best {
                let best = &*dialect.insert(best);
                if !messages.is_empty() {
                    return Ok(Err(messages));
                }
                return self.made(best);
            }
        }
        let Some(dialect) = dialect else {
            return Ok(Err(Vec::new()));
        };
        let messages = self.checked(dialect, files)?;
        if !messages.is_empty() {
            return Ok(Err(messages));
        }
        self.made(dialect)
    }

    /// The PTX of a source without errors. Some errors of device code are found only now.
    fn made(&self, dialect: &Dialect) -> Result<Result<String, Vec<Message>>, Failure> {
        let output = self.folder.join("kernels.ptx");
        let mut command = self.command(dialect)?;
        command.arg("-o").arg(&output);
        match run(&mut command, self.folder)? {
            None => Ok(Ok(fs::read_to_string(&output)?)),
            Some(text) => Ok(Err(repair::messages(&text))),
        }
    }

    /// What clang says without making code, which takes most of its time.
    fn checked(&self, dialect: &Dialect, files: &Files) -> Result<Vec<Message>, Failure> {
        let list = self.folder.join("read.d");
        let mut command = self.command(dialect)?;
        command.args(["-fsyntax-only", "-MD", "-MF"]).arg(&list);
        let said = run(&mut command, self.folder)?;
        if let Some(file) = read_elsewhere(&list, files, self.clang.toolkit(), self.folder) {
            return Err(Failure::new(format!(
                "the program includes `{}`, which is outside its folder",
                file.display()
            )));
        }
        Ok(said.map_or(Vec::new(), |text| repair::messages(&text)))
    }

    fn command(&self, dialect: &Dialect) -> Result<Command, Failure> {
        let mut words = vec![format!("-std={}", dialect.standard)];
        if dialect.templates {
            words.push(OF_BOTH_SIDES.to_string());
        }
        words.extend(self.args.defines.iter().map(|define| format!("-D{define}")));
        let mut command = self.clang.kernels(self.arch, self.args.fmad, &words);
        if self.more {
            for header in ["cuda_fp16.h", "cuda_bf16.h", "cooperative_groups.h"] {
                command.args(["-include", header]);
            }
        }
        let beside = self.args.file.parent().unwrap_or(Path::new(""));
        let beside = match beside.as_os_str().is_empty() {
            true => Path::new("."),
            false => beside,
        };
        command.arg("-iquote").arg(beside);
        for folder in &self.args.include {
            command.arg("-I").arg(folder);
        }
        let mut roots = Vec::new();
        for (number, (name, text)) in self.texts.0.iter().enumerate() {
            if name == self.main {
                continue;
            }
            let copy = self.folder.join(format!("{number}.h"));
            fs::write(&copy, text)?;
            if let Ok(path) = fs::canonicalize(name) {
                roots.push(
                    serde_json::json!({ "type": "file", "name": path, "external-contents": copy }),
                );
                let spelled = std::path::absolute(name)?;
                if spelled != path {
                    roots.push(serde_json::json!({ "type": "file", "name": spelled, "external-contents": copy }));
                }
            }
        }
        if !roots.is_empty() {
            let overlay = self.folder.join("overlay.json");
            let json =
                serde_json::json!({ "version": 0, "use-external-names": false, "roots": roots });
            fs::write(&overlay, json.to_string())?;
            command.arg("-ivfsoverlay").arg(overlay);
        }
        let text = self.texts.0.get(self.main).map_or("", String::as_str);
        let source = self.folder.join("program.cu");
        fs::write(
            &source,
            format!(
                "{}\n#line 1 {:?}\n{text}\n",
                format_args!(
                    "extern \"C\" __host__ __device__ void {}();",
                    repair::LEFT_OUT
                ),
                self.main
            ),
        )?;
        command.arg(source);
        Ok(command)
    }
}

/// Runs clang within its time; returns what it says if it fails.
fn run(command: &mut Command, folder: &Path) -> Result<Option<String>, Failure> {
    let said = folder.join("said");
    command
        // The overlay has the folders' names without symbolic links.
        .env_remove("PWD")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&said)?);
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > MOST_TIME {
            let _ = child.kill();
            let _ = child.wait();
            return Err(Failure::new(format!(
                "clang needs more than {} seconds for it",
                MOST_TIME.as_secs()
            )));
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    match status.success() {
        true => Ok(None),
        false => Ok(Some(
            String::from_utf8_lossy(&fs::read(&said)?).into_owned(),
        )),
    }
}

/// A file that clang read and that the program may not read. `list` is a rule of make.
fn read_elsewhere(list: &Path, files: &Files, toolkit: &Path, folder: &Path) -> Option<PathBuf> {
    let text = fs::read_to_string(list).unwrap_or_default();
    let (_, names) = text.split_once(':')?;
    let names = names.replace("\\\n", " ").replace("\\ ", "\0");
    let mut names = names.split_whitespace().map(|name| name.replace('\0', " "));
    names.find_map(|name| {
        let path = fs::canonicalize(&name).unwrap_or_else(|_| PathBuf::from(&name));
        let of_system = OF_SYSTEM.iter().any(|root| path.starts_with(root));
        let is_own = path.starts_with(toolkit) || path.starts_with(folder);
        (!of_system && !is_own && !files.may_read(&path)).then_some(path)
    })
}

/// Adds clang's kernels to a module. `joined` says what becomes of an entry. Variables are the module's where the
/// source's names are equal.
pub(crate) fn join(
    made: &Made,
    module: &mut Module,
    joined: &dyn Fn(&str) -> Joined,
) -> Result<ptx::Kernels, ptx::Error> {
    let globals: Vec<(String, GlobalId)> = (0..)
        .map(GlobalId)
        .zip(&module.globals)
        .map(|(id, global)| (global.name.clone(), id))
        .collect();
    let first_global = module.globals.len();
    let variable = |mangled: &str| {
        let name = source_name(mangled);
        let mut known = globals.iter();
        known
            .find(|(known, _)| same_name(known, &name))
            .map(|(_, id)| *id)
    };
    let kernels = ptx::join(
        &made.ptx,
        "kernels.ptx",
        module,
        &made.by,
        joined,
        &variable,
    )?;
    for global in &mut module.globals[first_global..] {
        global.name = source_name(&global.name);
    }
    for kernel in &kernels.all {
        let function = &mut module.functions[kernel.id.index()];
        if function.name == kernel.entry {
            function.name = source_name(&kernel.entry);
        }
        for shared in &mut function.shared {
            shared.name = last_name(&source_name(&shared.name));
        }
        for slot in &mut function.slots {
            // `_Z1kPf_param_0+8`
            if let Some((_, number)) = slot.name.rsplit_once("_param_") {
                slot.name = format!("param{number}");
            }
        }
    }
    Ok(kernels)
}

/// Whether a kernel has code that clang did not understand.
pub(crate) fn has_left_out(kernels: &ptx::Kernels, entry: &str) -> bool {
    let mut unsupported = kernels.unsupported.iter();
    unsupported.any(|(kernel, why)| kernel == entry && why.message.contains(repair::LEFT_OUT))
}

/// `scale` of `a::scale<float, 32>`.
pub(super) fn plain_name(name: &str) -> &str {
    let head = name.split('<').next().unwrap_or(name);
    head.rsplit("::").next().unwrap_or(head)
}

/// `tile` of `k(float*)::tile`.
fn last_name(name: &str) -> String {
    name.rsplit("::").next().unwrap_or(name).to_string()
}
