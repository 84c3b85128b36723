//! A position in the text, and readers of its small parts: words, numbers, quoted strings.

use std::str::FromStr;

use super::{ParseError, Result};

/// The text and the position in it. Every method skips white space and comments first.
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
    /// The start of the last word, for errors about it.
    word_at: usize,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(text: &'a str) -> Cursor<'a> {
        Cursor {
            text,
            at: 0,
            word_at: 0,
        }
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn skip(&mut self) {
        loop {
            let rest = self.rest();
            let trimmed = rest.trim_start();
            self.at += rest.len() - trimmed.len();
            if !trimmed.starts_with("//") {
                return;
            }
            self.at += trimmed.find('\n').unwrap_or(trimmed.len());
        }
    }

    fn error_at(&self, at: usize, message: String) -> ParseError {
        let before = &self.text[..at];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        ParseError {
            line: before.matches('\n').count() + 1,
            column: before[line_start..].chars().count() + 1,
            message,
        }
    }

    /// An error at this position.
    pub(crate) fn fail<T>(&mut self, message: &str) -> Result<T> {
        self.skip();
        Err(self.error_at(self.at, message.to_string()))
    }

    fn expected<T>(&mut self, what: &str) -> Result<T> {
        self.skip();
        let found = match self.rest().split_whitespace().next() {
            None => "the end".to_string(),
            Some(found) => format!("`{}`", found.chars().take(20).collect::<String>()),
        };
        self.fail(&format!("expected {what}, found {found}"))
    }

    /// An error about the last word.
    pub(crate) fn fail_word<T>(&mut self, expected: &str) -> Result<T> {
        self.at = self.word_at;
        self.expected(expected)
    }

    pub(crate) fn at_end(&mut self) -> bool {
        self.skip();
        self.rest().is_empty()
    }

    pub(crate) fn peek(&mut self, token: &str) -> bool {
        self.skip();
        self.rest().starts_with(token)
    }

    pub(crate) fn eat(&mut self, token: &str) -> bool {
        let found = self.peek(token);
        if found {
            self.at += token.len();
        }
        found
    }

    pub(crate) fn expect(&mut self, token: &str) -> Result<()> {
        if self.eat(token) {
            Ok(())
        } else {
            self.expected(&format!("`{token}`"))
        }
    }

    /// Whether the line (or the block on it) ends here.
    pub(crate) fn at_line_end(&self) -> bool {
        let rest = self.rest().trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with(['\r', '\n', '}']) || rest.starts_with("//")
    }

    /// Letters, digits, `_` and `.`; may be empty.
    pub(crate) fn peek_word(&mut self) -> &'a str {
        self.skip();
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '.';
        &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())]
    }

    pub(crate) fn word(&mut self) -> Result<&'a str> {
        let word = self.peek_word();
        if word.is_empty() {
            return self.expected("a word");
        }
        self.word_at = self.at;
        self.at += word.len();
        Ok(word)
    }

    pub(crate) fn eat_word(&mut self, word: &str) -> bool {
        let found = self.peek_word() == word;
        if found {
            self.at += word.len();
        }
        found
    }

    pub(crate) fn expect_word(&mut self, word: &str) -> Result<()> {
        if self.eat_word(word) {
            Ok(())
        } else {
            self.expected(&format!("`{word}`"))
        }
    }

    /// An unsigned decimal number.
    pub(crate) fn number<T: FromStr>(&mut self) -> Result<T> {
        let word = self.word()?;
        let digits = word.bytes().all(|byte| byte.is_ascii_digit());
        match word.parse() {
            Ok(number) if digits => Ok(number),
            _ if digits => self.fail_word("a smaller number"),
            _ => self.fail_word("a number"),
        }
    }

    /// `!3`, `%3`, `L3`, `fn3`: the prefix and a number.
    pub(crate) fn id(&mut self, prefix: &str) -> Result<u32> {
        self.skip();
        let start = self.at;
        if self.eat(prefix) && self.rest().starts_with(|c: char| c.is_ascii_digit()) {
            self.number()
        } else {
            self.at = start;
            self.expected(&format!("`{prefix}` and a number"))
        }
    }

    /// An id that must be the next one.
    pub(crate) fn index(&mut self, prefix: &str, next: usize) -> Result<()> {
        self.skip();
        let start = self.at;
        if self.id(prefix)? as usize == next {
            return Ok(());
        }
        self.at = start;
        self.fail(&format!(
            "expected `{prefix}{next}`: they are numbered in order"
        ))
    }

    /// Items separated by commas, up to and including `end`.
    pub(crate) fn list(
        &mut self,
        end: &str,
        mut item: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<()> {
        if self.eat(end) {
            return Ok(());
        }
        loop {
            item(self)?;
            if self.eat(end) {
                return Ok(());
            }
            self.expect(",")?;
        }
    }

    /// A constant's text: everything up to white space or punctuation.
    pub(crate) fn literal(&mut self) -> Result<&'a str> {
        self.skip();
        let rest = self.rest();
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-' | '+');
        let literal = &rest[..rest.find(|c| !inside(c)).unwrap_or(rest.len())];
        if literal.is_empty() {
            return self.expected("a constant");
        }
        self.word_at = self.at;
        self.at += literal.len();
        Ok(literal)
    }

    /// A quoted string that is valid UTF-8.
    pub(crate) fn string(&mut self) -> Result<String> {
        self.skip();
        let start = self.at;
        let bytes = self.bytes()?;
        let Ok(string) = String::from_utf8(bytes) else {
            self.at = start;
            return self.fail("the string is not UTF-8");
        };
        Ok(string)
    }

    /// A quoted string: `\n \t \" \\ \x0a \u{2028}`.
    pub(crate) fn bytes(&mut self) -> Result<Vec<u8>> {
        if !self.eat("\"") {
            return self.expected("a string");
        }
        let start = self.at - 1;
        let mut bytes = vec![];
        loop {
            let at = self.at;
            match self.next_char() {
                None | Some('\n') => {
                    let message = "the string does not end on its line";
                    return Err(self.error_at(start, message.to_string()));
                }
                Some('"') => return Ok(bytes),
                Some('\\') => {
                    let escaped = self.escape(&mut bytes);
                    escaped.map_err(|message| self.error_at(at, message.to_string()))?;
                }
                Some(c) => push_char(&mut bytes, c),
            }
        }
    }

    /// The next character, including white space.
    fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// The characters after a backslash.
    fn escape(&mut self, bytes: &mut Vec<u8>) -> std::result::Result<(), &'static str> {
        match self.next_char() {
            Some('n') => bytes.push(b'\n'),
            Some('t') => bytes.push(b'\t'),
            Some(c @ ('"' | '\\')) => push_char(bytes, c),
            Some('x') => {
                let digits = self.rest().get(..2).unwrap_or_default();
                let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
                match u8::from_str_radix(digits, 16) {
                    Ok(byte) if hex => bytes.push(byte),
                    _ => return Err("`\\x` takes two hexadecimal digits"),
                }
                self.at += 2;
            }
            Some('u') => {
                let rest = self.rest();
                let end = rest.find('}').unwrap_or(0);
                let code = rest.get(1..end).filter(|_| rest.starts_with('{'));
                let code = code.and_then(|code| u32::from_str_radix(code, 16).ok());
                match code.and_then(char::from_u32) {
                    Some(c) => push_char(bytes, c),
                    None => return Err("`\\u` takes the code of a character in braces"),
                }
                self.at += end + 1;
            }
            Some(_) | None => return Err("there is no such escape"),
        }
        Ok(())
    }
}

fn push_char(bytes: &mut Vec<u8>, c: char) {
    bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}
