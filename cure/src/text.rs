//! A program's text as written: its words, brackets and statements, and edits of it.
//!
//! Nothing here knows types, and macros are not expanded. That is enough to guess where an edit belongs, because each is compiled and run.

use std::ops::Range;

use dsl::syntax::{Word, words};
use ir::{
    locate::is_virtual,
    source::{SourceFile, SourceMap},
};
use report::Edit;

/// A file of the program.
pub(crate) struct Text<'a> {
    pub(crate) file: &'a SourceFile,
    /// Its words, without directives.
    words: Vec<Word>,
}

/// A statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Node {
    pub(crate) kind: NodeKind,
    /// Its first and last words.
    pub(crate) first: usize,
    pub(crate) last: usize,
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NodeKind {
    Block,
    /// Also a `switch`.
    If,
    Loop,
    Plain,
}

/// A function's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct FunctionText {
    /// The bracket before its parameters.
    pub(crate) params: usize,
    /// The brace before its first statement.
    pub(crate) body: usize,
}

impl<'a> Text<'a> {
    /// The files of a program that the user can edit.
    pub(crate) fn all(map: &'a SourceMap) -> Vec<Text<'a>> {
        let files = map.files().map(|(_, file)| file);
        let own = files.filter(|file| !is_virtual(&file.name));
        own.map(Text::new).collect()
    }

    pub(crate) fn new(file: &'a SourceFile) -> Text<'a> {
        let mut in_directive = false;
        let mut kept = words(file);
        kept.retain(|word| {
            if word.starts_line {
                let text = &file.text[word.range.clone()];
                in_directive = text == "#" || text == "%:";
            }
            !in_directive
        });
        Text { file, words: kept }
    }

    /// The number of words.
    pub(crate) fn len(&self) -> usize {
        self.words.len()
    }

    /// A word; empty after the last one.
    pub(crate) fn word(&self, at: usize) -> &'a str {
        let found = self.words.get(at);
        found.map_or("", |word| &self.file.text[word.range.clone()])
    }

    /// The text from a word up to, but without, another one.
    pub(crate) fn between(&self, words: Range<usize>) -> &'a str {
        if words.is_empty() || words.end > self.words.len() {
            return "";
        }
        &self.file.text[self.words[words.start].range.start..self.words[words.end - 1].range.end]
    }

    /// The line of a word, from 1.
    pub(crate) fn line(&self, at: usize) -> u32 {
        self.place(at).0
    }

    /// The place of a word: line and column, from 1.
    pub(crate) fn place(&self, at: usize) -> (u32, u32) {
        let start = self.words.get(at).map_or(0, |word| word.range.start);
        self.file.line_column(start as u32)
    }

    /// The word at a place, or the next one.
    pub(crate) fn at(&self, line: u32, column: u32) -> Option<usize> {
        let offset = self.file.offset(line, column) as usize;
        let at = self.words.partition_point(|word| word.range.end <= offset);
        (at < self.words.len()).then_some(at)
    }

    /// The first word with that text at or after a place, on the same line.
    pub(crate) fn name_at(&self, line: u32, column: u32, name: &str) -> Option<usize> {
        let first = self.at(line, column)?;
        (first..self.words.len())
            .take_while(|&at| self.line(at) == line)
            .find(|&at| self.word(at) == name)
    }

    /// The bracket that closes a bracket.
    pub(crate) fn close(&self, open: usize) -> Option<usize> {
        let mut depth = 0usize;
        for at in open..self.words.len() {
            match self.word(at) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" => {
                    depth = depth.checked_sub(1)?;
                    if depth == 0 {
                        return Some(at);
                    }
                }
                _ => {}
            }
        }
        None
    }

    /// The subscripts after a name: the words of each, without brackets.
    pub(crate) fn subscripts(&self, name: usize) -> Vec<Range<usize>> {
        let mut all = vec![];
        let mut next = name + 1;
        while self.word(next) == "["
            && let Some(close) = self.close(next)
        {
            all.push(next + 1..close);
            next = close + 1;
        }
        all
    }

    /// The initial value of a variable of the function, if nothing else is ever assigned to it.
    pub(crate) fn initial_value(&self, name: usize) -> Option<Range<usize>> {
        let body = self.body(self.function(name)?);
        let variable = self.word(name);
        let changes = |word: &str| {
            matches!(word, "=" | "++" | "--")
                || word.ends_with('=') && !matches!(word, "==" | "!=" | "<=" | ">=")
        };
        let is_set = |&at: &usize| self.word(at) == variable && changes(self.word(at + 1));
        let mut set = body.clone().filter(is_set);
        let first = set.next()?;
        if set.next().is_some() || self.word(first + 1) != "=" {
            return None;
        }
        let mut end = first + 2;
        while end < body.end && !matches!(self.word(end), ";" | ",") {
            end = match self.word(end) {
                "(" | "[" | "{" => self.close(end)? + 1,
                _ => end + 1,
            };
        }
        (first + 2 < end).then_some(first + 2..end)
    }

    /// The text of words, where `new` replaces some of them.
    pub(crate) fn spliced(&self, all: &Range<usize>, part: &Range<usize>, new: &str) -> String {
        let start = |at: usize| self.words[at].range.start;
        let end = |at: usize| self.words[at - 1].range.end;
        let text = &self.file.text;
        format!(
            "{}{new}{}",
            &text[start(all.start)..start(part.start)],
            &text[end(part.end)..end(all.end)]
        )
    }

    /// The function that contains a word.
    pub(crate) fn function(&self, at: usize) -> Option<FunctionText> {
        let mut open: Vec<usize> = vec![];
        for here in 0..at.min(self.words.len()) {
            match self.word(here) {
                "{" => open.push(here),
                "}" => {
                    open.pop();
                }
                _ => {}
            }
        }
        let body = open.into_iter().find(|&brace| {
            let before = brace.checked_sub(1).map(|before| self.word(before));
            before == Some(")") || before == Some("const")
        })?;
        let mut depth = 0usize;
        let params = (0..body).rev().find(|&here| {
            match self.word(here) {
                ")" => depth += 1,
                "(" => depth -= 1,
                _ => {}
            }
            depth == 0 && self.word(here) == "("
        })?;
        Some(FunctionText { params, body })
    }

    /// The words of a function's body.
    pub(crate) fn body(&self, function: FunctionText) -> Range<usize> {
        let end = self.close(function.body).unwrap_or(self.words.len());
        function.body + 1..end
    }

    /// The statements around a word, outermost first.
    pub(crate) fn statements(&self, at: usize) -> Vec<Node> {
        let Some(function) = self.function(at) else {
            return vec![];
        };
        let mut chain = vec![];
        let mut inside = self.body(function);
        'deeper: loop {
            let mut next = inside.start;
            while next < inside.end {
                let Some((node, parts)) = self.statement(next) else {
                    return chain;
                };
                if node.last < at {
                    next = node.last + 1;
                    continue;
                }
                if node.first > at {
                    return chain;
                }
                chain.push(node);
                let part = parts.into_iter().find(|part| part.contains(&at));
                let Some(part) = part else { return chain };
                inside = part;
                continue 'deeper;
            }
            return chain;
        }
    }

    /// The statements of a block.
    pub(crate) fn children(&self, block: Node) -> Vec<Node> {
        let mut all = vec![];
        let mut next = block.first + 1;
        while next < block.last
            && let Some((node, _)) = self.statement(next)
        {
            all.push(node);
            next = node.last + 1;
        }
        all
    }

    /// The outermost statements of a function.
    pub(crate) fn outermost(&self, function: FunctionText) -> Vec<Node> {
        let last = self.body(function).end;
        self.children(Node {
            kind: NodeKind::Block,
            first: function.body,
            last,
        })
    }

    /// The statement that begins with a word, and the places of the statements in it.
    fn statement(&self, first: usize) -> Option<(Node, Vec<Range<usize>>)> {
        let node = |kind, last| Node { kind, first, last };
        let one = |part: Range<usize>| std::iter::once(part).collect::<Vec<_>>();
        match self.word(first) {
            "" => None,
            "{" => {
                let close = self.close(first)?;
                Some((node(NodeKind::Block, close), one(first + 1..close)))
            }
            word @ ("if" | "switch" | "for" | "while") => {
                let open = (first + 1..first + 3).find(|&at| self.word(at) == "(")?;
                let then = self.close(open)? + 1;
                let (inner, _) = self.statement(then)?;
                let mut parts = one(then..inner.last + 1);
                let mut last = inner.last;
                if word == "if" && self.word(last + 1) == "else" {
                    let (other, _) = self.statement(last + 2)?;
                    parts.push(last + 2..other.last + 1);
                    last = other.last;
                }
                let kind = match word {
                    "if" | "switch" => NodeKind::If,
                    _ => NodeKind::Loop,
                };
                Some((node(kind, last), parts))
            }
            "do" => {
                let (inner, _) = self.statement(first + 1)?;
                let end = (inner.last..self.len()).find(|&at| self.word(at) == ";")?;
                Some((node(NodeKind::Loop, end), one(first + 1..inner.last + 1)))
            }
            "case" | "default" => {
                let colon = (first..self.len()).find(|&at| self.word(at) == ":")?;
                Some((node(NodeKind::Plain, colon), vec![]))
            }
            _ => {
                let mut at = first;
                loop {
                    match self.word(at) {
                        "" => return None,
                        ";" => return Some((node(NodeKind::Plain, at), vec![])),
                        "(" | "[" | "{" => at = self.close(at)? + 1,
                        ")" | "]" | "}" => return None,
                        _ => at += 1,
                    }
                }
            }
        }
    }

    /// Replaces words by a text.
    pub(crate) fn replace(&self, words: Range<usize>, text: impl Into<String>) -> Edit {
        let end = self.words[words.end - 1].range.end;
        self.edit(self.words[words.start].range.start..end, text)
    }

    /// Inserts a text before a word.
    pub(crate) fn before(&self, word: usize, text: impl Into<String>) -> Edit {
        let start = self.words[word].range.start;
        self.edit(start..start, text)
    }

    /// Inserts a text after a word.
    pub(crate) fn behind(&self, word: usize, text: impl Into<String>) -> Edit {
        let end = self.words[word].range.end;
        self.edit(end..end, text)
    }

    /// Inserts a line before a statement.
    pub(crate) fn line_before(&self, word: usize, text: &str) -> Edit {
        if self.words[word].starts_line {
            self.before(
                word,
                format!("{text}{}{}", self.line_end(), self.indentation(word)),
            )
        } else {
            self.before(word, format!("{text} "))
        }
    }

    /// Inserts one or more lines after a statement, given by its first and last words.
    pub(crate) fn line_behind(&self, first: usize, last: usize, text: &str) -> Edit {
        let ends_line = self.words.get(last + 1).is_none_or(|next| next.starts_line);
        if !ends_line {
            return self.behind(last, format!(" {}", text.replace('\n', " ")));
        }
        let line = self.line(last);
        let end = self.file.offset(line, u32::MAX) as usize;
        let (line_end, indentation) = (self.line_end(), self.indentation(first));
        let lines = text
            .lines()
            .map(|line| format!("{line_end}{indentation}{line}"));
        self.edit(end..end, lines.collect::<String>())
    }

    /// Replaces a statement by lines, indented like the line of another word.
    pub(crate) fn instead(&self, node: Node, like: usize, lines: &str) -> Edit {
        let (line_end, indentation) = (self.line_end(), self.indentation(like));
        let text = lines.replace('\n', &format!("{line_end}{indentation}"));
        let start = self.file.offset(self.line(node.first), 1) as usize;
        let words = self.words[node.first].range.start..self.words[node.last].range.end;
        match self.file.text[start..words.start].trim().is_empty() {
            true => self.edit(start..words.end, format!("{indentation}{text}")),
            false => self.edit(words, text),
        }
    }

    /// Removes a statement, with its line if that has nothing else.
    pub(crate) fn without(&self, node: Node) -> Edit {
        let (first, last) = (self.line(node.first), self.line(node.last));
        let start = self.file.offset(first, 1) as usize;
        let end = self.file.offset(last, u32::MAX) as usize;
        let words = self.words[node.first].range.start..self.words[node.last].range.end;
        let text = &self.file.text;
        let is_blank = |bytes: Range<usize>| text[bytes].trim().is_empty();
        if is_blank(start..words.start) && is_blank(words.end..end) {
            let next = self.file.offset(last + 1, 1) as usize;
            return self.edit(start..next.max(end), "");
        }
        let blanks = text[start..words.start].len() - text[start..words.start].trim_end().len();
        self.edit(words.start - blanks..words.end, "")
    }

    /// The file's line ending.
    fn line_end(&self) -> &'static str {
        if self.file.text.contains("\r\n") {
            "\r\n"
        } else {
            "\n"
        }
    }

    /// The text before the first word of a word's line.
    fn indentation(&self, word: usize) -> &'a str {
        let line = self.file.line(self.line(word));
        &line[..line.len() - line.trim_start().len()]
    }

    fn edit(&self, bytes: Range<usize>, text: impl Into<String>) -> Edit {
        let (line, column) = self.file.line_column(bytes.start as u32);
        let (end_line, end_column) = self.file.line_column(bytes.end as u32);
        Edit {
            file: self.file.name.clone(),
            line,
            column,
            end_line,
            end_column,
            text: text.into(),
        }
    }
}

/// The texts of the edited files; `None` if two edits overlap or one is for an unknown file.
pub fn edited(map: &SourceMap, edits: &[Edit]) -> Option<Vec<(String, String)>> {
    let mut names: Vec<&str> = edits.iter().map(|edit| edit.file.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let one = |name: &str| {
        let (_, file) = map.files().find(|(_, file)| file.name == name)?;
        let mut text = file.text.clone();
        let mut own: Vec<(Range<usize>, &str)> = edits
            .iter()
            .filter(|edit| edit.file == name)
            .map(|edit| (bytes(file, edit), edit.text.as_str()))
            .collect();
        own.sort_by_key(|(bytes, _)| (bytes.start, bytes.end));
        let meet = own.windows(2).any(|pair| pair[0].0.end > pair[1].0.start);
        if meet {
            return None;
        }
        for (bytes, new) in own.into_iter().rev() {
            text.replace_range(bytes, new);
        }
        Some((name.to_string(), text))
    };
    names.into_iter().map(one).collect()
}

/// The bytes that an edit replaces.
pub(crate) fn bytes(file: &SourceFile, edit: &Edit) -> Range<usize> {
    let start = file.offset(edit.line, edit.column) as usize;
    let end = file.offset(edit.end_line, edit.end_column) as usize;
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(source: &str, word: &str) -> Vec<(NodeKind, u32, u32)> {
        let file = SourceFile::new("t.k", source);
        let text = Text::new(&file);
        let at = (0..text.len()).find(|&at| text.word(at) == word);
        let nodes = text.statements(at.expect("the word"));
        let lines = |node: &Node| (node.kind, text.line(node.first), text.line(node.last));
        nodes.iter().map(lines).collect()
    }

    #[test]
    fn statements_are_nested() {
        let source = "#define N 4 {\ntemplate <int W>\n__global__ void k(int n)\n{\n  if (n)\n    for (int i = 0; i < N; i++) {\n      a[i] = {1, 2};\n      here(i);\n    }\n  else\n    other();\n}\n";
        use NodeKind::{Block, If, Loop, Plain};
        assert_eq!(
            lines(source, "here"),
            [(If, 5, 11), (Loop, 6, 9), (Block, 6, 9), (Plain, 8, 8)]
        );
        assert_eq!(lines(source, "other"), [(If, 5, 11), (Plain, 11, 11)]);
    }

    #[test]
    fn a_line_goes_behind_comments_in_the_file_s_own_manner() {
        let source = "void f()\r\n{\r\n\ta = 1; // one\r\n\tb = 2;\r\n}\r\n";
        let mut map = SourceMap::new();
        map.add(SourceFile::new("t.k", source));
        let texts = Text::all(&map);
        let a = (0..texts[0].len()).find(|&at| texts[0].word(at) == "a");
        let node = texts[0].statements(a.expect("a"))[0];
        let edits = [
            texts[0].line_behind(node.first, node.last, "c = 3;"),
            texts[0].line_before(node.first, "d = 4;"),
        ];
        let new = edited(&map, &edits).expect("edits that do not meet");
        assert_eq!(
            new[0].1,
            "void f()\r\n{\r\n\td = 4;\r\n\ta = 1; // one\r\n\tc = 3;\r\n\tb = 2;\r\n}\r\n"
        );
        let (a, b) = (texts[0].replace(0..2, "x"), texts[0].replace(1..3, "y"));
        assert_eq!(edited(&map, &[a, b]), None);
    }
}
