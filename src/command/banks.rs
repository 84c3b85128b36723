//! `dslc banks EXPR`: which banks the lanes of a warp access, and the cost of the access.
//!
//! The expression becomes a kernel with one access, which runs in the simulator: the cost shown is the cost that a program has.

mod draw;

use std::{fmt::Write, path::Path, sync::Arc};

use interp::{
    LaunchConfig, LaunchFailure, LaunchReport, MachineConfig, Memory, Program, Site,
    rules::RuleSet, trap::AccessOp,
};
use ir::{
    FuncId,
    source::{NoFiles, SourceFile, SourceMap},
};
use report::html::{self, Request};

use crate::{
    args::{BanksArgs, Color, ProgramArgs},
    execute,
    failure::Failure,
    files::{self, Claims},
    output,
    rules::rules,
    source,
};

/// The shared memory of a block that does not ask for more.
const SHARED_BYTES: u32 = 48 << 10;

/// An expression and the result of its run.
struct Shown {
    /// The expression with its array's declaration.
    title: String,
    site: Site,
    /// How many accesses the expression makes; this is the worst of them.
    accesses: usize,
}

pub(crate) fn run(args: &BanksArgs, color: Color) -> Result<u8, Failure> {
    let rules = rules(args.arch.as_deref(), &args.rules)?;
    if args.array.len() > args.expr.len() {
        return Err(Failure::new(
            "there are more --array options than expressions",
        ));
    }
    if let Some(warp) = args.warp {
        let threads = args
            .block
            .iter()
            .map(|&dim| u64::from(dim))
            .product::<u64>();
        if u64::from(warp) * 32 >= threads {
            return Err(Failure::new(format!(
                "--warp {warp}: a block of {threads} threads has {}, counted from 0",
                report::require::plural(threads.div_ceil(32), "warp", "warps")
            )));
        }
    }
    let mut claims = Claims::default();
    for (path, option) in [(&args.html, "--html"), (&args.svg, "--svg")] {
        if let Some(path) = path {
            claims.writes(path, option)?;
        }
    }
    let mut all = vec![];
    for (at, expr) in args.expr.iter().enumerate() {
        let array = args.array.get(at).or(args.array.last());
        let array = array.map_or(likely_array(expr), String::as_str);
        match access(expr, array, args, rules)? {
            Some(shown) => all.push(shown),
            None => return Ok(1),
        }
    }
    let paint = output::use_color_out(color);
    output::out(draw::text(&all, args, &rules, paint).as_bytes());
    let written = |path: &Path, text: String| {
        files::write(path, text.as_bytes())
            .map_err(|why| Failure::new(format!("cannot write `{}`: {why}", path.display())))
    };
    let requests = || {
        let requests = all
            .iter()
            .filter_map(|shown| Some((shown, Request::of(&shown.site)?)));
        requests.map(|(shown, request)| (shown.title.clone(), request))
    };
    if let Some(path) = &args.html {
        let costs = all.iter().map(cost);
        let titled: Vec<_> = requests()
            .zip(costs)
            .map(|((title, request), cost)| (title, request, cost))
            .collect();
        written(path, html::requests(&titled, &rules))?;
    }
    if let Some(path) = &args.svg {
        let titled: Vec<_> = requests().collect();
        written(path, html::svg(&titled, &rules))?;
    }
    Ok(0)
}

/// `4 transactions for 1 request (1 would be ideal); worst 4-way`.
fn cost(shown: &Shown) -> String {
    let counts = &shown.site.counts;
    if counts.not_modelled() {
        return "the cost of this access is not modelled".to_string();
    }
    let requests = counts.requests.max(1);
    format!(
        "{} transaction{} for {requests} request{} ({} would be ideal); worst {}-way",
        counts.transactions,
        if counts.transactions == 1 { "" } else { "s" },
        if requests == 1 { "" } else { "s" },
        counts.ideal,
        counts.max_degree
    )
}

/// The array that an expression is likely to mean, if the command line does not declare it: chosen by its subscripts, and by whether a
/// member follows.
fn likely_array(expr: &str) -> &'static str {
    let mut chars = expr.trim().chars().peekable();
    let (mut depth, mut subscripts) = (0usize, 0);
    while let Some(c) = chars.next() {
        match c {
            '[' => depth += 1,
            ']' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    subscripts += 1;
                    match chars.peek() {
                        Some('.') => return "float4[256]",
                        Some('[') => {}
                        _ => break,
                    }
                }
            }
            _ => {}
        }
    }
    match subscripts {
        0 | 1 => "int[1024]",
        2 => "float[32][32]",
        _ => "float[8][32][32]",
    }
}

/// The array that an expression accesses: the first name before a subscript.
fn array_name(expr: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || c == '_';
    let before = |at: usize| {
        let head = expr[..at].trim_end();
        let start = head.rfind(|c| !is_name(c)).map_or(0, |at| {
            at + head[at..].chars().next().map_or(1, char::len_utf8)
        });
        let name = &head[start..];
        let is_member = head[..start].trim_end().ends_with(['.', '>']);
        let is_word = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        (is_word && !is_member).then_some(name)
    };
    expr.match_indices('[').find_map(|(at, _)| before(at))
}

/// The kernel with the access on a separate line, so that a message about it shows the user's own text.
fn kernel(expr: &str, array: &str, args: &BanksArgs) -> Result<(String, String), Failure> {
    let mut text = String::from(
        "#define thread_ (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z))\n#define lane (thread_ % 32)\n",
    );
    let (declared, place, title) = match array_name(expr) {
        Some(name) => {
            // The first bracket outside of a struct's braces.
            let mut depth = 0;
            let dims = array.char_indices().find(|&(_, c)| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                c == '[' && depth == 0
            });
            let (element, dims) = array.split_at(dims.map_or(array.len(), |(at, _)| at));
            let element = element.trim();
            let mut named = element;
            if let Some(body) = element.find('{') {
                let kind = if element.starts_with("union") {
                    "union"
                } else {
                    "struct"
                };
                let _ = writeln!(
                    text,
                    "{kind} element_ {};",
                    element[body..].trim_end_matches(';')
                );
                named = "element_";
            }
            let title = format!("{expr}  in {element} {name}{dims}");
            (format!("{named} {name}{dims}"), expr.to_string(), title)
        }
        None => {
            let word = match args.bytes {
                1 => "char",
                2 => "short",
                4 => "int",
                8 => "long long",
                16 => "int4",
                other => {
                    return Err(Failure::new(format!(
                        "--bytes {other}: a lane accesses 1, 2, 4, 8 or 16 bytes"
                    )));
                }
            };
            let place = format!("*({word} *)(bytes_ + ({expr}))");
            let title = format!("byte {expr}");
            (
                format!("__align__(16) char bytes_[{SHARED_BYTES}]"),
                place,
                title,
            )
        }
    };
    let guard = match args.warp {
        Some(warp) => format!("if (thread_ / 32 == {warp})\n"),
        None => String::new(),
    };
    let access = match args.store {
        true => format!("{{ auto value = {place}; {place} = value; }}"),
        false => format!("{{ auto value = {place}; }}"),
    };
    let _ = write!(
        text,
        "__global__ void banks() {{\n__shared__ {declared};\n{guard}{access}\n}}\n"
    );
    Ok((text, title))
}

/// Runs the access; `None` if it does not compile, after the errors were shown.
fn access(
    expr: &str,
    array: &str,
    args: &BanksArgs,
    rules: RuleSet,
) -> Result<Option<Shown>, Failure> {
    let (text, title) = kernel(expr, array, args)?;
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("banks", text));
    let options = dsl::Options {
        defines: source::defines(&args.defines)?,
        ..dsl::Options::default()
    };
    let compiled = dsl::compile(&mut map, file, &options, &NoFiles);
    let Some(module) = compiled.module else {
        let columns = Some(output::message_columns());
        let errors = ir::diagnostic::render::render(&compiled.diagnostics, &map, false, columns);
        output::err(&errors);
        return Ok(None);
    };
    let program = Program::new(Arc::new(module));
    let (kernel, _) = program
        .module()
        .kernels()
        .next()
        .ok_or_else(|| Failure::new("no kernel"))?;
    let report = launch(&program, kernel, args.block, rules)?;
    let op = if args.store {
        AccessOp::Store
    } else {
        AccessOp::Load
    };
    let sites = report.sites.into_iter().filter(|site| {
        site.op == op && site.space == ir::Space::Shared && site.counts.requests > 0
    });
    let mut sites: Vec<Site> = sites.collect();
    let accesses = sites.len();
    // Of several worst ones, the first.
    sites.sort_by_key(|site| std::cmp::Reverse(site.counts.bank_conflicts()));
    let site = sites.into_iter().next();
    let site = site.ok_or_else(|| {
        Failure::new(format!("`{expr}` does not access shared memory: write an array element, 'tile[lane][0]', or a number of bytes, 'lane * 8'"))
    })?;
    Ok(Some(Shown {
        title,
        site,
        accesses,
    }))
}

/// Runs one block, without any check.
fn launch(
    program: &Program,
    kernel: FuncId,
    block: [u32; 3],
    rules: RuleSet,
) -> Result<LaunchReport, Failure> {
    let config = LaunchConfig {
        grid: [1; 3],
        block,
        shared_bytes: 0,
        cooperative: false,
        depth: 0,
        loc: ir::LocId::default(),
    };
    let program_args = ProgramArgs {
        jobs: 1,
        ..ProgramArgs::default()
    };
    let machine = MachineConfig {
        limit: None,
        checks: interp::Checks::NONE,
        both_orders: interp::BothOrders::Never,
        keep_going: false,
        ..execute::machine(rules, &program_args, &interp::StopFlag::default())
    };
    let result = interp::launch(
        program,
        kernel,
        &config,
        &[],
        &mut Memory::new(program.module()),
        &machine,
        &mut |_| {},
    );
    match result {
        Ok(report) => Ok(report),
        Err(LaunchFailure::Trap { trap, .. }) => Err(Failure::new(trap.to_string())),
        Err(LaunchFailure::Invalid(why)) => Err(Failure::new(why.to_string())),
    }
}
