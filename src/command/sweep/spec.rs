//! The specification of a sweep: reads and checks the file, and makes the axes.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use indexmap::IndexMap;
use report::expr::{Expr, Names, Problem, Unknown};
use serde::{Deserialize, Serialize};

use super::{
    configuration::{Template, has_word},
    measure::{Quantities, Quantity},
};
use crate::{failure::Failure, files, output};

/// The default memory limit of each run: the same on each machine, so that the results are the same.
const MEMORY: &str = "1G";

/// The file as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    programs: OneOrMany,
    /// The kernel whose launches are measured.
    kernel: Option<String>,
    #[serde(default)]
    include: Vec<PathBuf>,
    #[serde(default)]
    kernels_only: bool,
    args: Option<OneOrMany>,
    #[serde(default)]
    launch: OneOrMany,
    #[serde(default)]
    buffers: OneOrMany,
    options: Option<OneOrMany>,
    arch: Option<OneOrMany>,
    #[serde(default, rename = "where")]
    conditions: OneOrMany,
    #[serde(default)]
    macros: IndexMap<String, Values>,
    #[serde(default)]
    values: IndexMap<String, Values>,
    measure: IndexMap<String, String>,
    #[serde(default)]
    require: OneOrMany,
    objective: Option<String>,
    #[serde(default)]
    pareto: Vec<String>,
    timeout: Option<f64>,
    memory: Option<String>,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "expected a text, or a list of texts")]
enum OneOrMany {
    One(String),
    Many(Vec<String>),
}

impl Default for OneOrMany {
    fn default() -> OneOrMany {
        OneOrMany::Many(vec![])
    }
}

impl From<OneOrMany> for Vec<String> {
    fn from(some: OneOrMany) -> Vec<String> {
        match some {
            OneOrMany::One(one) => vec![one],
            OneOrMany::Many(many) => many,
        }
    }
}

#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "expected a value, a list of values, or a range: { from = 8, to = 64, step = 8 }"
)]
enum Values {
    One(Value),
    Many(Vec<Value>),
    Range(Range),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Range {
    from: i64,
    to: i64,
    step: Option<i64>,
    times: Option<i64>,
}

/// A value of a macro or of another axis.
#[derive(Clone, Debug, Deserialize, Serialize, PartialEq)]
#[serde(untagged)]
pub(super) enum Value {
    Integer(i64),
    Float(f64),
    Bool(bool),
    Text(String),
}

impl Value {
    /// The text in a command line.
    pub(super) fn text(&self) -> String {
        match self {
            Value::Integer(number) => number.to_string(),
            Value::Float(number) => number.to_string(),
            Value::Bool(is) => u8::from(*is).to_string(),
            Value::Text(text) => text.clone(),
        }
    }

    /// The value as a number in conditions.
    pub(super) fn number(&self) -> Option<f64> {
        match self {
            Value::Integer(number) => Some(*number as f64),
            Value::Float(number) => Some(*number),
            Value::Bool(is) => Some(f64::from(u8::from(*is))),
            Value::Text(_) => None,
        }
    }
}

/// A setting with several values.
pub(super) struct Axis {
    pub(super) name: String,
    pub(super) kind: Kind,
    pub(super) values: Vec<Value>,
}

/// What an axis changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Program,
    Arch,
    Options,
    /// `-D`.
    Macro,
    /// A placeholder in braces.
    Value,
    Args,
}

/// The programs to run and the quantities to measure.
pub(super) struct Spec {
    /// The axes; the last one changes fastest.
    pub(super) axes: Vec<Axis>,
    /// Programs' paths are relative to this folder.
    pub(super) folder: PathBuf,
    pub(super) kernel: Option<String>,
    pub(super) include: Vec<PathBuf>,
    pub(super) kernels_only: bool,
    pub(super) launch: Vec<Template>,
    pub(super) buffers: Vec<Template>,
    /// Conditions on the values of axes; their quantities are axes.
    pub(super) conditions: Vec<Expr>,
    /// Names, and the expressions that they measure.
    pub(super) measures: Vec<(String, Expr)>,
    pub(super) quantities: Vec<Quantity>,
    /// Requirements on the results: those that fail are not among the best.
    pub(super) required: Vec<(String, Expr)>,
    /// The expression over the measures to minimise.
    pub(super) objective: Option<(String, Expr)>,
    /// The expressions of the Pareto set: no configuration in it is beaten by another one in all of them.
    pub(super) pareto: Vec<(String, Expr)>,
    pub(super) timeout: Option<Duration>,
    /// The memory limit of each run at any time, as in `--memory`.
    pub(super) memory: String,
    /// What all runs have in common and their rows depend on, for hashes.
    pub(super) common_text: String,
}

/// Reads a specification.
pub(super) fn read(path: &Path, color: bool) -> Result<Spec, Failure> {
    let name = path.display().to_string();
    let wrong = |why: &str| Failure::new(format!("{name}: {why}"));
    let bytes = files::read(path, true, files::TEXT_BYTES)
        .map_err(|why| Failure::new(format!("cannot read `{name}`: {why}")))?;
    let text = String::from_utf8(bytes).map_err(|_| wrong("it is not UTF-8 text"))?;
    let file: File = toml::from_str(&text).map_err(|why| {
        let why = why.to_string();
        wrong(&format!("{}{}", why.trim_end(), hint(&why)))
    })?;
    let folder = path.parent().unwrap_or(Path::new(""));
    Reader {
        name: &name,
        color,
        folder,
    }
    .spec(file)
}

/// A hint for an unknown key.
fn hint(why: &str) -> String {
    let given = why.split_once("unknown field `").map(|(_, rest)| rest);
    let Some((given, rest)) = given.and_then(|rest| rest.split_once('`')) else {
        return match why.contains("missing field `measure`") {
            true => "\nsay what is measured: `[measure]` and a line `name = \"shared_load_transactions\"`".to_string(),
            false => String::new(),
        };
    };
    if matches!(given, "maximize" | "minimize") {
        return "\nthe best has least of `objective`; for most of x, `objective = \"-x\"`"
            .to_string();
    }
    let known = rest.split('`').skip(1).step_by(2);
    match ir::suggest::nearest(given, known) {
        Some(nearest) => format!("\ndid you mean `{nearest}`?"),
        None => String::new(),
    }
}

struct Reader<'a> {
    name: &'a str,
    color: bool,
    folder: &'a Path,
}

impl Reader<'_> {
    fn wrong(&self, why: impl AsRef<str>) -> Failure {
        Failure::new(format!("{}: {}", self.name, why.as_ref()))
    }

    /// Renders an invalid expression with its place.
    fn shown(&self, key: &str, text: &str, problem: &Problem) -> Failure {
        let name = format!("{} {key}", self.name);
        output::err(&problem.render(&name, text, self.color, output::message_columns()));
        self.wrong(format!("`{key}` is not understood"))
    }

    fn spec(&self, file: File) -> Result<Spec, Failure> {
        let [launch, buffers, allowed, required] =
            [file.launch, file.buffers, file.conditions, file.require].map(Vec::from);
        let mut axes = vec![];
        self.add(
            &mut axes,
            "program",
            Kind::Program,
            texts(file.programs.into()),
        )?;
        let arch = file.arch.map_or(vec!["sm_90".to_string()], Vec::from);
        for name in &arch {
            let several = match name.contains(',') {
                true => "; several architectures are a list: `arch = [\"sm_80\", \"sm_90\"]`",
                false => "",
            };
            crate::rules::of_arch(name, 4)
                .map_err(|why| self.wrong(format!("arch: {why}{several}")))?;
        }
        self.add(&mut axes, "arch", Kind::Arch, texts(arch))?;
        let options = file.options.map_or(vec![String::new()], Vec::from);
        self.add(&mut axes, "options", Kind::Options, texts(options))?;
        for (kind, table) in [(Kind::Macro, file.macros), (Kind::Value, file.values)] {
            for (name, values) in table {
                let values = self.values(&name, values)?;
                self.add(&mut axes, &name, kind, values)?;
            }
        }
        let args = file.args.map_or(vec![String::new()], Vec::from);
        self.add(&mut axes, "args", Kind::Args, texts(args))?;
        let template = |text: &String| Template::parse(text, &axes).map_err(|why| self.wrong(why));
        let templates =
            |texts: &[String]| texts.iter().map(template).collect::<Result<Vec<_>, _>>();
        let launch_text = format!("{launch:?} {buffers:?}");
        let (launch, buffers) = (templates(&launch)?, templates(&buffers)?);
        let mut in_words = vec![];
        for axis in axes
            .iter()
            .filter(|axis| matches!(axis.kind, Kind::Args | Kind::Options))
        {
            for value in &axis.values {
                in_words.push(template(&value.text())?);
            }
        }
        for (at, axis) in axes.iter().enumerate() {
            let name = &axis.name;
            let mut all = launch.iter().chain(&buffers).chain(&in_words);
            // A single value that only `where` uses is a constant. Several values would give the same results several times.
            let is_constant =
                axis.values.len() == 1 && allowed.iter().any(|text| has_word(text, name));
            if axis.kind == Kind::Value
                && !is_constant
                && !all.any(|template| template.reads(at, name))
            {
                return Err(self.wrong(format!(
                    "nothing uses the value `{name}`: write `{{{name}}}` in `launch`, `buffers`, `args` or `options`; a macro of the program \
                     belongs into [macros]"
                )));
            }
        }
        let mut conditions = vec![];
        for text in &allowed {
            let condition = Expr::condition(text, &mut Axes(&axes));
            conditions.push(condition.map_err(|why| self.shown("where", text, &why))?);
        }
        let mut quantities = Quantities::default();
        let memory = file.memory.unwrap_or_else(|| MEMORY.to_string());
        let mut common_text = format!(
            "{:?} {launch_text} {memory} {}",
            file.kernel, file.kernels_only
        );
        let mut measures = vec![];
        for (name, text) in &file.measure {
            let key = format!("measure.{name}");
            let expr = Expr::number(text, &mut quantities);
            measures.push((
                name.clone(),
                expr.map_err(|why| self.shown(&key, text, &why))?,
            ));
            common_text += &format!("\n{name}={text}");
        }
        if measures.is_empty() {
            return Err(self.wrong("nothing is measured: [measure] has no entry"));
        }
        let mut names = Measures(&measures);
        let required = self.all("require", &required, |text| {
            Expr::condition(text, &mut names)
        })?;
        let objective: Vec<String> = file.objective.into_iter().collect();
        let mut objective = self.all("objective", &objective, |text| {
            Expr::number(text, &mut names)
        })?;
        let pareto = self.all("pareto", &file.pareto, |text| {
            Expr::number(text, &mut names)
        })?;
        let timeout = file.timeout.map(Duration::try_from_secs_f64).transpose();
        Ok(Spec {
            axes,
            folder: self.folder.to_path_buf(),
            kernel: file.kernel,
            include: file
                .include
                .iter()
                .map(|path| self.folder.join(path))
                .collect(),
            kernels_only: file.kernels_only,
            launch,
            buffers,
            conditions,
            measures,
            quantities: quantities.0,
            required,
            objective: objective.pop(),
            pareto,
            timeout: timeout.map_err(|_| self.wrong("`timeout` is a number of seconds above 0"))?,
            memory,
            common_text,
        })
    }

    fn all(
        &self,
        key: &str,
        texts: &[String],
        mut parse: impl FnMut(&str) -> Result<Expr, Problem>,
    ) -> Result<Vec<(String, Expr)>, Failure> {
        let each = texts.iter().map(|text| match parse(text) {
            Ok(expr) => Ok((text.clone(), expr)),
            Err(why) => Err(self.shown(key, text, &why)),
        });
        each.collect()
    }

    fn add(
        &self,
        axes: &mut Vec<Axis>,
        name: &str,
        kind: Kind,
        values: Vec<Value>,
    ) -> Result<(), Failure> {
        if axes.iter().any(|axis: &Axis| axis.name == name) {
            return Err(self.wrong(format!("there are two axes `{name}`")));
        }
        if values.is_empty() {
            return Err(self.wrong(format!("`{name}` has no value")));
        }
        if let Some(again) = (1..values.len()).find(|&at| values[..at].contains(&values[at])) {
            let value = values[again].text();
            return Err(self.wrong(format!("`{name}` has the value `{value}` twice")));
        }
        axes.push(Axis {
            name: name.to_string(),
            kind,
            values,
        });
        Ok(())
    }

    fn values(&self, name: &str, values: Values) -> Result<Vec<Value>, Failure> {
        /// More values are a typing error.
        const MOST: usize = 1_000_000;
        let range = match values {
            Values::One(value) => return Ok(vec![value]),
            Values::Many(values) => return Ok(values),
            Values::Range(range) => range,
        };
        let next: Box<dyn Fn(i64) -> Option<i64>> = match (range.step, range.times) {
            (None, None) => Box::new(|value| value.checked_add(1)),
            (Some(step), None) if step > 0 => Box::new(move |value| value.checked_add(step)),
            (None, Some(times)) if times > 1 && range.from > 0 => {
                Box::new(move |value| value.checked_mul(times))
            }
            _ => {
                return Err(self.wrong(format!(
                    "`{name}`: a range has a `step` above 0, or `times` above 1 from a value above 0"
                )));
            }
        };
        let values = std::iter::successors(Some(range.from), |value| next(*value));
        let values: Vec<Value> = values
            .take_while(|value| *value <= range.to)
            .take(MOST)
            .map(Value::Integer)
            .collect();
        if values.is_empty() {
            return Err(self.wrong(format!(
                "`{name}`: there is nothing from {} to {}: `from` is the smaller one",
                range.from, range.to
            )));
        }
        Ok(values)
    }
}

fn texts(texts: Vec<String>) -> Vec<Value> {
    texts.into_iter().map(Value::Text).collect()
}

/// The axes as names in conditions; `arch` is a number, 90 for sm_90.
pub(super) struct Axes<'a>(pub(super) &'a [Axis]);

impl Names for Axes<'_> {
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown> {
        let at = self.0.iter().position(|axis| axis.name == name);
        let Some(at) = at.filter(|_| access.is_none()) else {
            let names = self.0.iter().map(|axis| axis.name.as_str());
            return Err(unknown("axis", name, names));
        };
        let axis = &self.0[at];
        let is_number = |value: &Value| value.number().is_some();
        if axis.kind != Kind::Arch && !axis.values.iter().all(is_number) {
            return Err(Unknown {
                message: format!("`{name}` is text, not a number"),
                help: None,
            });
        }
        Ok(at)
    }
}

/// The measures as names in objectives.
struct Measures<'a>(&'a [(String, Expr)]);

impl Names for Measures<'_> {
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown> {
        let at = self.0.iter().position(|(known, _)| known == name);
        at.filter(|_| access.is_none()).ok_or_else(|| {
            let names = self.0.iter().map(|(name, _)| name.as_str());
            unknown("measure", name, names)
        })
    }
}

fn unknown<'a>(what: &str, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Unknown {
    let help = match ir::suggest::nearest(name, names.clone()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => match names.collect::<Vec<_>>().as_slice() {
            [one] => format!("there is only `{one}`"),
            several => format!("there are {}", several.join(", ")),
        },
    };
    Unknown {
        message: format!("there is no {what} `{name}`"),
        help: Some(help),
    }
}
