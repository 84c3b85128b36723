//! `--require`: parses requirements, and shows the results.

use report::{
    Model,
    architectures::Other,
    require::{Judged, Requirement},
    text::Style,
};

use crate::{args::Color, output};

/// The requirements of the command line; `None` if one of them is invalid, which is shown.
pub(crate) fn parse(texts: &[String], color: Color) -> Option<Vec<Requirement>> {
    let (mut all, mut is_wrong) = (vec![], false);
    for text in texts {
        match Requirement::parse(text) {
            Ok(requirement) => all.push(requirement),
            Err(problem) => {
                let color = output::use_color(color);
                let message = problem.render("--require", text, color, output::message_columns());
                output::err(&message);
                is_wrong = true;
            }
        }
    }
    (!is_wrong).then_some(all)
}

/// Whether the launches of a run meet the requirements, on each of its architectures.
pub(crate) fn judge(requirements: &[Requirement], model: &Model<'_>) -> Vec<Judged> {
    let own = (&model.input.outcome.launches, model.input.rules);
    let others = model.others.iter();
    let others = others.map(|Other { rules, outcome }| (&outcome.launches, rules));
    let all: Vec<_> = std::iter::once(own).chain(others).collect();
    let each = requirements.iter().flat_map(|requirement| {
        let on = all.iter();
        on.map(|(launches, rules)| requirement.judge(launches, rules))
    });
    each.collect()
}

/// Shows the results.
pub(crate) fn show(model: &Model<'_>, color: Color) {
    let style = Style {
        columns: output::message_columns(),
        color: output::use_color(color),
    };
    let names_arch = !model.others.is_empty();
    let texts = model.requirements.iter();
    let text: String = texts.map(|judged| judged.text(style, names_arch)).collect();
    output::err(&text);
}
