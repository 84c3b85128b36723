//! Leaves out what clang does not understand, as the front end's survey does: a host function that needs a missing library does not stop the
//! file's kernels.
//!
//! A declaration at namespace scope with an error is blanked, and so is the directive that includes a missing file. Lines keep their numbers.

use std::{collections::HashMap, fmt, ops::Range};

use dsl::syntax;
use ir::source::SourceFile;

/// An error of clang's.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Message {
    /// The file as clang names it.
    pub(crate) file: String,
    /// From 1.
    pub(crate) line: usize,
    /// From 1, in bytes.
    column: usize,
    /// What is wrong.
    pub(crate) text: String,
    /// Further places that led to it: of instances of templates, and of calls.
    via: Vec<(String, usize, usize)>,
}

impl Message {
    /// Whether an included file is missing.
    pub(super) fn is_about_file(&self) -> bool {
        self.text.ends_with("file not found")
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.text)
    }
}

/// The errors among what clang says.
pub(super) fn messages(said: &str) -> Vec<Message> {
    let mut all: Vec<Message> = Vec::new();
    for line in said.lines() {
        let Some((file, number, column, rest)) = place(line) else {
            continue;
        };
        let error = ["error: ", "fatal error: "]
            .iter()
            .find_map(|word| rest.strip_prefix(word));
        if let Some(text) = error {
            all.push(Message {
                file: file.to_string(),
                line: number,
                column,
                text: text.to_string(),
                via: Vec::new(),
            });
        } else if rest.starts_with("note: ")
            && let Some(last) = all.last_mut()
        {
            last.via.push((file.to_string(), number, column));
        }
    }
    all
}

/// `file:12:5: rest`
fn place(line: &str) -> Option<(&str, usize, usize, &str)> {
    let mut from = 0;
    loop {
        let at = from + line[from..].find(':')?;
        let rest = &line[at + 1..];
        let mut parts = rest.splitn(3, ':');
        if let (Some(number), Some(column), Some(text)) = (parts.next(), parts.next(), parts.next())
            && let (Ok(number), Ok(column)) = (number.parse(), column.parse())
        {
            return Some((&line[..at], number, column, text.trim_start()));
        }
        from = at + 1;
    }
}

/// Blanks what the messages are about. Returns those of which something was blanked; none if nothing more can be. What dslc adds to the main
/// file begins at the line `added`: if it led to an error, it is what is wrong.
pub(super) fn without(
    texts: &mut HashMap<String, String>,
    messages: &[Message],
    (main, added): (&str, usize),
) -> Vec<Message> {
    let mut wanted: HashMap<String, Vec<(usize, usize, &Message)>> = HashMap::new();
    for message in messages {
        let places = || {
            let own = std::iter::once((&message.file, message.line, message.column));
            let via = message.via.iter();
            own.chain(via.map(|(file, line, column)| (file, *line, *column)))
        };
        let is_added =
            |(file, line, _): &(&String, usize, usize)| *line >= added && is_same(main, file);
        let of_added = places()
            .find(is_added)
            .map(|(_, line, column)| (main.to_string(), line, column));
        // Else the first place in a file of the program's.
        let place = of_added.or_else(|| {
            places().find_map(|(file, line, column)| {
                let name = texts.keys().find(|name| is_same(name, file))?;
                Some((name.clone(), line, column))
            })
        });
        if let Some((name, line, column)) = place {
            let places = wanted.entry(name).or_default();
            places.push((line, column, message));
        }
    }
    let mut removed = Vec::new();
    for (name, lines) in wanted {
        let Some(text) = texts.get_mut(&name) else {
            continue;
        };
        let parts = Parts::of(text);
        let mut edits = Vec::new();
        for (line, column, message) in lines {
            let Some(part) = parts.at(text, line) else {
                continue;
            };
            let is_call = message.text.starts_with("reference to __host__ function");
            let place = parts.line(line).start + column.saturating_sub(1);
            // nvcc takes such a call and makes nothing of it.
            let call = is_call.then(|| parts.statement(text, line)).flatten();
            let edit = match (call, body(text, &part, place)) {
                (Some(call), _) => Edit::Statement(call),
                (None, Some(body)) => Edit::Body(body),
                (None, None) => Edit::Blank(part),
            };
            edits.push(edit);
            removed.push(message.clone());
        }
        apply(text, edits);
    }
    removed
}

pub(super) fn is_same(name: &str, file: &str) -> bool {
    name == file
        || std::path::absolute(name)
            .is_ok_and(|path| std::path::absolute(file).is_ok_and(|other| path == other))
}

/// A text's declarations at namespace scope.
pub(super) struct Parts {
    declarations: Vec<Range<usize>>,
    /// Namespaces with their names, those of language linkages empty.
    namespaces: Vec<(Range<usize>, String)>,
    /// Where each line begins.
    lines: Vec<usize>,
}

impl Parts {
    pub(super) fn of(text: &str) -> Parts {
        let lines: Vec<usize> = std::iter::once(0)
            .chain(text.match_indices('\n').map(|(at, _)| at + 1))
            .collect();
        let mut declarations = Vec::new();
        let (mut open, mut namespaces) = (Vec::new(), Vec::new());
        let mut start: Option<usize> = None;
        let mut depth = 0usize;
        let mut directive_ends = 0;
        let mut others = 0usize;
        for word in syntax::words(&SourceFile::new("", text)) {
            let of = &text[word.range.clone()];
            if word.range.start < directive_ends {
                continue;
            }
            if of == "#" && word.starts_line {
                directive_ends = end_of_directive(text, word.range.start);
                let kind = text[word.range.end..directive_ends].trim_start();
                if kind.starts_with("if") {
                    others += usize::from(others > 0);
                } else if kind.starts_with("el") {
                    others = others.max(1);
                } else if kind.starts_with("endif") {
                    others = others.saturating_sub(1);
                }
                continue;
            }
            // Of the branches of a condition only the first counts: each may have the brackets of the same declaration.
            if others > 0 {
                continue;
            }
            if depth == 0 && start.is_none() {
                if of == "}" {
                    if let Some((from, name)) = open.pop() {
                        namespaces.push((from..word.range.start, name));
                    }
                    continue;
                }
                start = Some(word.range.start);
            }
            let head = || &text[start.unwrap_or(0)..word.range.start];
            match of {
                "{" if depth == 0 && opens(head()) => {
                    open.push((word.range.end, name_of(head())));
                    start = None;
                }
                "{" | "(" => depth += 1,
                // The end of a namespace: what is before it has no end, such as a macro without `;`.
                "}" if depth == 0 => {
                    if let Some((from, name)) = open.pop() {
                        namespaces.push((from..word.range.start, name));
                    }
                    declarations.extend(start.take().map(|start| start..word.range.start));
                }
                "}" | ")" => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 && of == "}" && !is_class(head()) {
                        declarations.extend(start.take().map(|start| start..word.range.end));
                    }
                }
                ";" if depth == 0 => {
                    declarations.extend(start.take().map(|start| start..word.range.end));
                }
                _ => {}
            }
        }
        declarations.extend(start.map(|start| start..text.len()));
        let rest = open
            .into_iter()
            .map(|(from, name)| (from..text.len(), name));
        namespaces.extend(rest);
        Parts {
            declarations,
            namespaces,
            lines,
        }
    }

    /// The bytes of a line.
    fn line(&self, line: usize) -> Range<usize> {
        let begins = line.checked_sub(1).and_then(|at| self.lines.get(at));
        let begins = begins.copied().unwrap_or(0);
        begins..self.lines.get(line).copied().unwrap_or(usize::MAX)
    }

    /// What is to be blanked for an error on a line.
    fn at(&self, text: &str, line: usize) -> Option<Range<usize>> {
        let begins = *self.lines.get(line.checked_sub(1)?)?;
        let ends = self.lines.get(line).copied().unwrap_or(text.len());
        let own = text[begins..ends].trim_start();
        if own.starts_with('#') && own[1..].trim_start().starts_with("include") {
            return Some(begins..ends);
        }
        let found = self
            .declarations
            .iter()
            .find(|part| part.start < ends && part.end > begins)?;
        Some(found.clone())
    }
}

impl Parts {
    /// A call that is a statement, on one line.
    fn statement(&self, text: &str, line: usize) -> Option<Range<usize>> {
        let begins = *self.lines.get(line.checked_sub(1)?)?;
        let ends = self.lines.get(line).copied().unwrap_or(text.len());
        let own = &text[begins..ends];
        let call = own.trim();
        let name = call.split('(').next()?;
        let is_name = |c: char| c.is_alphanumeric() || "_:".contains(c);
        let is_call = call.ends_with(");") && !name.is_empty() && name.chars().all(is_name);
        let start = begins + (own.len() - own.trim_start().len());
        (is_call && !matches!(name, "if" | "for" | "while" | "return" | "switch"))
            .then_some(start..start + call.len())
    }

    /// `a::b::` at a place within these namespaces.
    pub(super) fn namespaces(&self, at: usize) -> String {
        let mut around: Vec<_> = self
            .namespaces
            .iter()
            .filter(|(range, name)| range.contains(&at) && !name.is_empty())
            .collect();
        around.sort_by_key(|(range, _)| range.start);
        around.iter().map(|(_, name)| format!("{name}::")).collect()
    }

    /// Arguments with which a template of a kernel may be tried: the head of the declaration that contains `at`. `None` if it is
    /// no template, or if there are no second ones.
    pub(super) fn arguments(&self, text: &str, at: usize, is_second: bool) -> Option<String> {
        let part = self.declarations.iter().find(|part| part.contains(&at))?;
        let head = text[part.start..at].trim_start();
        let list = head
            .strip_prefix("template")?
            .trim_start()
            .strip_prefix('<')?;
        let mut depth = 0usize;
        let mut params = vec![String::new()];
        for c in list.chars() {
            match c {
                '<' | '(' => depth += 1,
                '>' if depth == 0 => break,
                '>' | ')' => depth -= 1,
                ',' if depth == 0 => {
                    params.push(String::new());
                    continue;
                }
                _ => {}
            }
            if let Some(last) = params.last_mut() {
                last.push(c);
            }
        }
        let mut given = Vec::new();
        let mut is_unsure = false;
        for param in &params {
            let param = param.trim();
            if param.contains('=') || param.contains("...") || param.is_empty() {
                break;
            }
            let kind = param
                .trim_end_matches(|c: char| c.is_alphanumeric() || c == '_')
                .trim();
            let words = ["int", "unsigned", "long", "short", "char"];
            let is_number =
                kind.ends_with("_t") || kind.split_whitespace().any(|word| words.contains(&word));
            // A concept, or an enumeration.
            let may_be_type = !is_number && !matches!(kind, "typename" | "class" | "bool");
            is_unsure |= may_be_type;
            given.push(match kind {
                "typename" | "class" => "float".to_string(),
                "bool" => "false".to_string(),
                "" => return None,
                _ if may_be_type && !is_second => "float".to_string(),
                kind => format!("({kind})32"),
            });
        }
        if is_second && !is_unsure {
            return None;
        }
        Some(given.join(", "))
    }
}

/// The body of the function in a declaration that contains a place: of a member of a class, or of the function itself. `None` for a kernel, and
/// if it is left out already.
fn body(text: &str, part: &Range<usize>, place: usize) -> Option<Range<usize>> {
    let own = &text[part.clone()];
    let words = syntax::words(&SourceFile::new("", own));
    // Of each open brace where it is, and whether it is a function's.
    let mut open: Vec<(usize, bool)> = Vec::new();
    let mut head = 0;
    for word in &words {
        let at = part.start + word.range.start;
        match &own[word.range.clone()] {
            "{" => {
                let head = &own[head..word.range.start];
                let is_inside = open.iter().any(|(_, is_function)| *is_function);
                let is_function = !is_inside
                    && head.contains('(')
                    && !is_class(head)
                    && !opens(head.trim_start());
                if is_function && head.contains("__global__") {
                    return None;
                }
                open.push((at, is_function));
            }
            "}" => {
                let (start, is_function) = open.pop()?;
                if is_function && (start..at).contains(&place) {
                    let body = start..at + 1;
                    return (!text[body.clone()].contains(LEFT_OUT)).then_some(body);
                }
            }
            ";" => {}
            _ => continue,
        }
        head = word.range.end;
    }
    None
}

/// A change of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Edit {
    /// A declaration, or a directive, is blanked.
    Blank(Range<usize>),
    /// A body calls what is not there.
    Body(Range<usize>),
    /// A statement becomes an empty one.
    Statement(Range<usize>),
}

impl Edit {
    fn range(&self) -> &Range<usize> {
        let (Edit::Blank(range) | Edit::Body(range) | Edit::Statement(range)) = self;
        range
    }
}

/// Makes changes, the last first: a change may move what is after it. Of two that overlap only the larger one is made.
fn apply(text: &mut String, mut edits: Vec<Edit>) {
    edits.sort_by_key(|edit| std::cmp::Reverse(edit.range().len()));
    let mut made: Vec<Edit> = Vec::new();
    for edit in edits {
        let range = edit.range();
        let overlaps =
            |other: &Edit| range.start < other.range().end && other.range().start < range.end;
        if !made.iter().any(overlaps) {
            made.push(edit);
        }
    }
    made.sort_by_key(|edit| std::cmp::Reverse(edit.range().start));
    for edit in made {
        match edit {
            Edit::Blank(range) => blank(text, range),
            Edit::Body(range) => leave_out(text, range),
            Edit::Statement(range) => {
                blank(text, range.clone());
                text.replace_range(range.start..range.start + 1, ";");
            }
        }
    }
}

/// A function without a definition: a kernel that calls it has code that clang did not understand.
pub(super) const LEFT_OUT: &str = "__dslc_left_out";

/// Puts a call of that function in the place of a body. Lines keep their numbers.
fn leave_out(text: &mut String, body: Range<usize>) {
    let start = body.start;
    blank(text, body.clone());
    let call = format!("{{{LEFT_OUT}();}}");
    // A short body has no directives, so that what is after it moves only within its line.
    let end = text[start..body.end]
        .find(|c: char| c != ' ')
        .map_or(body.end, |length| start + length);
    text.replace_range(start..end.min(start + call.len()), &call);
}

/// Whether `{` after this text opens a namespace or a language linkage, and no function.
fn opens(head: &str) -> bool {
    let mut words = head.split_whitespace();
    match words.next() {
        Some("namespace") => true,
        Some("inline") => words.next() == Some("namespace"),
        Some("extern") => {
            words.next().is_some_and(|word| word.starts_with('"')) && words.next().is_none()
        }
        _ => false,
    }
}

/// The name of the namespace that this text opens.
fn name_of(head: &str) -> String {
    let (_, name) = head.split_once("namespace").unwrap_or(("", ""));
    name.trim().to_string()
}

/// Whether `}` after this text ends a class, an enumeration or an initialiser, which a `;` follows.
fn is_class(text: &str) -> bool {
    let head = text.split('{').next().unwrap_or(text).trim_end();
    let is_kind = head
        .split_whitespace()
        .any(|word| matches!(word, "struct" | "class" | "union" | "enum" | "typedef"));
    // A function's head ends with its brackets.
    is_kind && !head.ends_with(')') || head.ends_with('=')
}

/// The end of a directive, its continued lines included.
fn end_of_directive(text: &str, start: usize) -> usize {
    let mut at = start;
    while let Some(newline) = text[at..].find('\n') {
        let end = at + newline;
        if !text[..end].trim_end_matches('\r').ends_with('\\') {
            return end;
        }
        at = end + 1;
    }
    text.len()
}

/// Blanks a range, without the directives in it.
fn blank(text: &mut String, range: Range<usize>) {
    let is_include = text[range.clone()].trim_start().starts_with('#');
    let mut out = String::with_capacity(range.len());
    let mut continues = false;
    for line in text[range.clone()].split_inclusive('\n') {
        let is_directive = continues || line.trim_start().starts_with('#');
        continues = is_directive && line.trim_end().ends_with('\\');
        if is_directive && !is_include {
            out += line;
        } else {
            let blanks = line.bytes().map(|byte| match byte {
                b'\n' => '\n',
                _ => ' ',
            });
            out.extend(blanks);
        }
    }
    text.replace_range(range, &out);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_do_not_move_each_other() {
        let text = "struct A { void f() { a; } void g() { b; } };\nvoid h() { c; }\nint x = d;\n";
        let mut texts = HashMap::from([("x.cu".to_string(), text.to_string())]);
        let said = "x.cu:1:23: error: a\nx.cu:1:39: error: b\nx.cu:2:6: error: h\nx.cu:2:12: error: c\nx.cu:3:9: error: d\n";
        without(&mut texts, &messages(said), ("x.cu", 99));
        let lines: Vec<&str> = texts["x.cu"].lines().map(str::trim_end).collect();
        let left = "struct A { void f() {__dslc_left_out();} void g() {__dslc_left_out();} };";
        assert_eq!(lines, [left, "", ""]);
    }

    #[test]
    fn a_declaration_with_an_error_is_blanked() {
        let text = "#include <torch/extension.h>\nnamespace a {\n__global__ void k(int *p) { p[0] = 1; }\nvoid run(torch::Tensor t) {\n  k<<<1, 1>>>(t.p);\n}\n}\nint x;\n";
        let mut texts = HashMap::from([("x.cu".to_string(), text.to_string())]);
        let said = "x.cu:1:10: fatal error: 'torch/extension.h' file not found\nx.cu:4:10: error: use of undeclared identifier 'torch'\nx.cu:5:1: note: there\n";
        let all = messages(said);
        assert_eq!(all.len(), 2);
        assert_eq!(without(&mut texts, &all, ("x.cu", 99)).len(), 2);
        let lines: Vec<&str> = texts["x.cu"].lines().map(str::trim_end).collect();
        assert_eq!(
            lines,
            [
                "",
                "namespace a {",
                "__global__ void k(int *p) { p[0] = 1; }",
                "",
                "",
                "",
                "}",
                "int x;"
            ]
        );
    }
}
