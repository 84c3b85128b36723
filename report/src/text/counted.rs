//! From how many of their blocks launches were counted, with `--count-only`.

use interp::{Counted, LaunchReport};

use super::style::Style;
use crate::Model;

/// The effect of counting on the rest of a report.
pub(crate) const LEFT_OUT: &str =
    "--count-only: what counted launches compute was left out, and nothing was checked";
/// Most launches that get a sentence.
const MAX_TOLD: usize = 12;

/// A sentence for each launch, and its consequence; empty if all launches simply ran.
pub(super) fn paragraphs(model: &Model<'_>, style: Style) -> String {
    let mut text = String::new();
    let (mut any, mut told) = (false, 0);
    for group in &model.launches {
        let Some(how) = sentence(&group.launch, model) else {
            continue;
        };
        any |= !matches!(group.launch.order.counted, Counted::Part { .. });
        told += 1;
        if told > MAX_TOLD {
            continue;
        }
        let sentence = format!(
            "launch {} `{}`: {how}",
            group.first, group.launch.kernel_name
        );
        text += &style.paragraph("", &sentence, None);
    }
    if told > MAX_TOLD {
        let more = format!("{} more launches: see `--format json`", told - MAX_TOLD);
        text += &style.paragraph("", &more, None);
    }
    if any {
        text += &style.paragraph("", LEFT_OUT, None);
    }
    text
}

/// How a launch was counted, unless all of its blocks ran as usual.
pub(crate) fn sentence(launch: &LaunchReport, model: &Model<'_>) -> Option<String> {
    let all: u128 = launch.grid.iter().map(|&n| u128::from(n)).product();
    match &launch.order.counted {
        Counted::Run => None,
        Counted::From { blocks: 0, .. } => Some("counted as an earlier launch".to_owned()),
        Counted::From { blocks, .. } => Some(format!(
            "counted from {} of {} block{}",
            grouped((*blocks).into()),
            grouped(all),
            if all == 1 { "" } else { "s" }
        )),
        Counted::Part { from, to } => Some(format!(
            "blocks {from}..{to} of {all} ran; the program ended after that"
        )),
        Counted::InFull(why) => {
            let why = why.text(|loc| model.input.place(loc));
            Some(format!("ran in full: {why}"))
        }
    }
}

/// `1,048,576`.
fn grouped(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn digits_stand_in_threes() {
        assert_eq!(grouped(7), "7");
        assert_eq!(grouped(1_048_576), "1,048,576");
    }
}
