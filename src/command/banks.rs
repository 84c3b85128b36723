//! `dslc banks EXPR`: which banks the lanes of a warp touch, and what that costs.
//!
//! The expression is put into a kernel of one access, which runs in the simulator: what it shows is what a program would be charged.

use std::{fmt::Write, sync::Arc};

use dsl::source::{NoFiles, SourceFile, SourceMap};
use interp::{
    LaunchConfig, LaunchFailure, MachineConfig, Memory, Program, Site, mask::LaneMask,
    rules::RuleSet, trap::AccessOp,
};

use super::run::rules;
use crate::{args::BanksArgs, failure::Failure, output};

pub(crate) fn run(args: &BanksArgs) -> Result<u8, Failure> {
    let rules = rules(&args.arch, args.bank_width)?;
    let (element, dims) = args
        .array
        .split_at(args.array.find('[').unwrap_or(args.array.len()));
    let name: String = args
        .expr
        .chars()
        .take_while(|c| c.is_alphanumeric() || *c == '_')
        .collect();
    if name.is_empty() || !args.expr.trim_end().ends_with(']') {
        return Err(Failure::new(
            "expected an element of an array: 'tile[threadIdx.x][threadIdx.y]'",
        ));
    }
    let access = if args.store {
        format!("{} = value;", args.expr)
    } else {
        format!("value = {};", args.expr)
    };
    // One line for the access, so that a message about it shows the user's own text.
    let text = format!(
        "#define lane ((threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) % 32)\n\
         __global__ void banks() {{\n__shared__ {element} {name}{dims};\n{element} value;\n{access}\n}}\n"
    );
    let mut map = SourceMap::new();
    let file = map.add(SourceFile::new("banks", text));
    let compiled = dsl::compile(&mut map, file, &dsl::Options::default(), &NoFiles);
    let errors = dsl::diagnostic::render::render(&compiled.diagnostics, &map, false, None);
    let Some(module) = compiled.module else {
        output::err(&errors);
        return Ok(1);
    };
    let program = Program::new(Arc::new(module));
    let (kernel, _) = program
        .module()
        .kernels()
        .next()
        .ok_or_else(|| Failure::new("no kernel"))?;
    let mut block = [1; 3];
    for (dim, &given) in block.iter_mut().zip(&args.block) {
        *dim = given;
    }
    let config = LaunchConfig {
        grid: [1; 3],
        block,
        shared_bytes: 0,
        cooperative: false,
        loc: dsl::ir::LocId::default(),
    };
    let machine = MachineConfig {
        rules,
        jobs: 1,
        limit: None,
        checks: interp::Checks::NONE,
        order: interp::Order::Ascending,
        both_orders: interp::BothOrders::Never,
        keep_going: false,
        trace: false,
        stop: interp::StopFlag::default(),
    };
    let result = interp::launch(
        &program,
        kernel,
        &config,
        &[],
        &mut Memory::new(&program),
        &machine,
        &mut |_| {},
    );
    let report = match result {
        Ok(report) => report,
        Err(LaunchFailure::Trap { trap, .. }) => return Err(Failure::new(trap.to_string())),
        Err(LaunchFailure::Invalid(why)) => return Err(Failure::new(why.to_string())),
    };
    let op = if args.store {
        AccessOp::Store
    } else {
        AccessOp::Load
    };
    let site = report
        .sites
        .iter()
        .find(|site| site.op == op)
        .ok_or_else(|| Failure::new("the expression makes no access"))?;
    output::out(picture(site, args, &rules).as_bytes());
    Ok(0)
}

/// One row per bank: the words that lanes touch there, with the lanes.
fn picture(site: &Site, args: &BanksArgs, rules: &RuleSet) -> String {
    let mut text = String::new();
    let Some(witness) = site.witness.as_deref() else {
        return text;
    };
    let width = u64::from(rules.bank_width.bytes());
    let mask = LaneMask(witness.mask);
    let _ = writeln!(
        text,
        "{} of {} bytes per lane, warp {}, {}",
        site.op, site.width_bytes, witness.warp, args.arch
    );
    let _ = writeln!(text, "bank  words (lanes)");
    for bank in 0..32u64 {
        let mut words: Vec<(u64, Vec<usize>)> = Vec::new();
        for lane in mask.lanes() {
            let first = witness.addresses[lane] / width;
            let last = (witness.addresses[lane] + u64::from(site.width_bytes) - 1) / width;
            for word in (first..=last).filter(|word| word % 32 == bank) {
                match words.iter_mut().find(|(other, _)| *other == word) {
                    Some((_, lanes)) => lanes.push(lane),
                    None => words.push((word, vec![lane])),
                }
            }
        }
        if words.is_empty() {
            continue;
        }
        let mut row = format!("{bank:>4}  ");
        let shown = 6;
        for (word, lanes) in words.iter().take(shown) {
            let lanes = match lanes.as_slice() {
                [one] => one.to_string(),
                [first, .., last] => format!("{first}..{last}"),
                [] => String::new(),
            };
            let _ = write!(row, "{word} ({lanes})  ");
        }
        if words.len() > shown {
            let _ = write!(row, "… {} words in all", words.len());
        }
        let _ = writeln!(text, "{}", row.trim_end());
    }
    let counts = &site.counts;
    let requests = counts.requests.max(1);
    let _ = writeln!(
        text,
        "{} transactions for {} request{} ({} would be ideal); worst {}-way",
        counts.transactions,
        requests,
        if requests == 1 { "" } else { "s" },
        counts.ideal,
        counts.max_degree
    );
    text
}
