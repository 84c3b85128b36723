//! Draws a request in the terminal: lanes over banks, where each cell has the number of the pass that serves it, then the words of each
//! bank with their lanes.

use std::fmt::Write;

use interp::{Site, mask::LaneMask, rules::RuleSet};
use report::{
    html::Request,
    text::{Paint, Style, cut},
};

use super::{Shown, cost};
use crate::{args::BanksArgs, output};

const LANES: usize = 32;
/// Columns of the lanes' labels, and between two grids.
const NAMES: usize = 6;
const BETWEEN: usize = 3;
/// Most words of a bank that are listed, and most parts of a list of lanes.
const MAX_WORDS: usize = 6;
const MAX_PARTS: usize = 4;
/// Colours of passes on a terminal with 256 of them, from the first to the last.
const COLORS: [u8; 8] = [33, 63, 99, 135, 170, 204, 209, 214];

/// A line and its width in columns.
type Line = (String, usize);

/// The pictures of all expressions, two side by side where there is room.
pub(super) fn text(all: &[Shown], args: &BanksArgs, rules: &RuleSet, color: bool) -> String {
    let style = Style {
        columns: output::columns(),
        color,
    };
    let mut text = String::new();
    let is_pair =
        all.len() > 1 && style.columns >= 2 * grid_columns(rules) + BETWEEN && !args.passes;
    if is_pair {
        let blocks: Vec<Vec<Line>> = all
            .iter()
            .map(|shown| block(shown, args, rules, style, grid_columns(rules)))
            .collect();
        text += &beside(&blocks, grid_columns(rules));
        for shown in all {
            let title = style.paint(Paint::Bold, &cut(&shown.title, style.columns));
            let _ = write!(text, "\n{title}\n{}", words(&shown.site, rules, style));
        }
    } else {
        for (at, shown) in all.iter().enumerate() {
            if at > 0 {
                text.push('\n');
            }
            text += &beside(
                &[block(shown, args, rules, style, style.columns)],
                grid_columns(rules),
            );
            text.push('\n');
            text += &words(&shown.site, rules, style);
        }
    }
    for shown in all {
        let before = if all.len() > 1 {
            format!("{}: ", shown.title)
        } else {
            String::new()
        };
        text += &style.paragraph("", &format!("{before}{}", cost(shown)), None);
    }
    text
}

/// The title, the accessed array, and the grid or grids.
fn block(
    shown: &Shown,
    args: &BanksArgs,
    rules: &RuleSet,
    style: Style,
    columns: usize,
) -> Vec<Line> {
    let site = &shown.site;
    let plain = |text: String| {
        let wide = text.chars().count();
        (text, wide)
    };
    let title = cut(&shown.title, columns);
    let wide = title.chars().count();
    let mut lines = vec![(style.paint(Paint::Bold, &title), wide)];
    let warp = site.witness.as_ref().map_or(0, |witness| witness.warp);
    let bytes = if site.width_bytes == 1 {
        "byte"
    } else {
        "bytes"
    };
    let what = format!(
        "{}, {} {bytes} a lane, warp {warp}, {}",
        site.op,
        site.width_bytes,
        rules
            .given_by
            .map_or(rules.arch.to_string(), str::to_string)
    );
    lines.push(plain(cut(&what, columns)));
    if shown.accesses > 1 {
        lines.push(plain(cut(
            &format!("the worst of its {} accesses", shown.accesses),
            columns,
        )));
    }
    lines.push(plain(String::new()));
    let Some(request) = Request::of(site) else {
        return lines;
    };
    let Some(passes) = request.passes(rules) else {
        lines.push(plain(cut("its passes are not modelled", columns)));
        return lines;
    };
    if args.passes {
        let across = ((columns + BETWEEN) / (grid_columns(rules) + BETWEEN)).max(1);
        let numbered: Vec<usize> = (0..passes.len()).collect();
        for row in numbered.chunks(across) {
            let grids: Vec<Vec<Line>> = row
                .iter()
                .map(|&at| {
                    let head = plain(format!("pass {} of {}", at + 1, passes.len()));
                    let mut grid = vec![head];
                    grid.extend(self::grid(&request, &passes, Some(at), rules, style));
                    grid
                })
                .collect();
            lines.extend(
                beside(&grids, grid_columns(rules))
                    .lines()
                    .map(|line| plain(line.to_string())),
            );
            lines.push(plain(String::new()));
        }
        return lines;
    }
    lines.extend(grid(&request, &passes, None, rules, style));
    lines
}

/// Columns of a grid: at least enough for its title, however few banks there are.
fn grid_columns(rules: &RuleSet) -> usize {
    NAMES + LANES.max(rules.shared.banks as usize)
}

/// Puts the lines of blocks side by side.
fn beside(blocks: &[Vec<Line>], wide: usize) -> String {
    let rows = blocks.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for row in 0..rows {
        let mut line = String::new();
        let mut written = 0;
        for (at, block) in blocks.iter().enumerate() {
            let Some((part, columns)) = block.get(row).filter(|(_, columns)| *columns > 0) else {
                continue;
            };
            let start = at * (wide + BETWEEN);
            let _ = write!(line, "{:1$}{part}", "", start.saturating_sub(written));
            written = start.max(written) + columns;
        }
        let _ = writeln!(text, "{line}");
    }
    text
}

/// The lanes over the banks, for all passes in one grid or for one of them.
fn grid(
    request: &Request<'_>,
    passes: &[LaneMask],
    only: Option<usize>,
    rules: &RuleSet,
    style: Style,
) -> Vec<Line> {
    let n_banks = rules.shared.banks as usize;
    let mut head = "lane  ".to_string();
    for bank in (0..n_banks).step_by(8) {
        let name = bank.to_string();
        // The last label is right-aligned.
        let wide = if bank + 8 >= n_banks && n_banks > 8 {
            6
        } else {
            8
        };
        let _ = write!(head, "{name:<wide$}");
    }
    if n_banks > 8 {
        let _ = write!(head, "{}", n_banks - 1);
    }
    let head = head.trim_end();
    let mut lines = vec![(style.paint(Paint::Dim, head), head.len())];
    for lane in 0..LANES {
        let served = passes.iter().position(|lanes| lanes.contains(lane));
        let served = served
            .filter(|&pass| only.is_none_or(|only| passes[only].contains(lane) || pass == only));
        let mut cells: Vec<Option<usize>> = vec![None; n_banks];
        if let Some(pass) = served {
            let (first, count) = request.banks(lane, rules);
            for bank in first..first + count {
                cells[bank % n_banks] = Some(only.unwrap_or(pass));
            }
        }
        let mut line = format!("{lane:>4}  ");
        // One colour escape for adjacent cells of the same colour.
        for run in cells.chunk_by(|a, b| a == b) {
            match run[0] {
                None => line += &style.paint(Paint::Dim, &"·".repeat(run.len())),
                Some(pass) => {
                    let text = symbol(pass).to_string().repeat(run.len());
                    line += &colored(&text, pass, passes.len(), style);
                }
            }
        }
        lines.push((line, NAMES + n_banks));
    }
    lines
}

/// A pass as one character: 1 to 9, a to z, A to Z, then +.
fn symbol(pass: usize) -> char {
    let digits = ('1'..='9').chain('a'..='z').chain('A'..='Z');
    digits.into_iter().nth(pass).unwrap_or('+')
}

fn colored(text: &str, pass: usize, passes: usize, style: Style) -> String {
    if !style.color {
        return text.to_string();
    }
    let at = match passes {
        0 | 1 => 0,
        _ => pass * (COLORS.len() - 1) / (passes - 1),
    };
    format!("\x1b[1;38;5;{}m{text}\x1b[0m", COLORS[at])
}

/// One row per bank: the words that lanes access there, with the lanes.
fn words(site: &Site, rules: &RuleSet, style: Style) -> String {
    let mut text = String::new();
    let Some(witness) = site.witness.as_deref() else {
        return text;
    };
    let width = u64::from(rules.bank_width.bytes());
    let mask = LaneMask(witness.mask);
    let _ = writeln!(text, "{}", style.paint(Paint::Dim, "bank  words (lanes)"));
    let n_banks = u64::from(rules.shared.banks);
    for bank in 0..n_banks {
        let mut words: Vec<(u64, Vec<usize>)> = Vec::new();
        for lane in mask.lanes() {
            let first = witness.addresses[lane] / width;
            let last = (witness.addresses[lane] + u64::from(site.width_bytes) - 1) / width;
            for word in (first..=last).filter(|word| word % n_banks == bank) {
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
        for (word, lanes) in words.iter().take(MAX_WORDS) {
            let _ = write!(row, "{word} ({})  ", list(lanes));
        }
        if words.len() > MAX_WORDS {
            let _ = write!(row, "… {} words in all", words.len());
        }
        let _ = writeln!(text, "{}", cut(row.trim_end(), style.columns));
    }
    text
}

/// Lanes in short, ascending: `0..31`, `0, 4, .. 28`, `0, 1, 5`.
fn list(lanes: &[usize]) -> String {
    let mut parts: Vec<String> = vec![];
    let mut rest = lanes;
    while let Some(&first) = rest.first() {
        let step = rest.get(1).map_or(1, |second| second - first);
        let run = rest
            .windows(2)
            .take_while(|pair| pair[1] - pair[0] == step)
            .count()
            + 1;
        let last = rest[run - 1];
        let taken = match (run, step) {
            (3.., 1) => {
                parts.push(format!("{first}..{last}"));
                run
            }
            (4.., _) => {
                parts.push(format!("{first}, {}, .. {last}", first + step));
                run
            }
            _ => {
                parts.push(first.to_string());
                1
            }
        };
        rest = &rest[taken..];
    }
    if parts.len() > MAX_PARTS {
        parts.truncate(MAX_PARTS);
        return format!("{}, … {} lanes", parts.join(", "), lanes.len());
    }
    parts.join(", ")
}

#[cfg(test)]
mod tests {
    use super::list;

    #[test]
    fn lists_of_lanes_name_all_of_them() {
        let by = |step: usize| (0..32).step_by(step).collect::<Vec<_>>();
        assert_eq!(list(&by(1)), "0..31");
        assert_eq!(list(&by(4)), "0, 4, .. 28");
        assert_eq!(list(&by(16)), "0, 16");
        assert_eq!(list(&[7]), "7");
        assert_eq!(list(&[0, 1, 2, 3, 8, 9, 10, 11]), "0..3, 8..11");
        assert_eq!(list(&[0, 2, 4]), "0, 2, 4");
        assert_eq!(list(&[0, 1, 5, 7, 20, 21]), "0, 1, 5, 7, … 6 lanes");
    }
}
