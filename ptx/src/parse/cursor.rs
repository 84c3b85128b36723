//! A place in the tokens.

use super::Result;
use crate::Error;
use crate::lexer::{Spanned, Token, tokens};

pub(super) struct Cursor<'t> {
    text: &'t str,
    tokens: Vec<Spanned>,
    next: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(text: &'t str) -> Result<Cursor<'t>> {
        let tokens =
            tokens(text).map_err(|at| Error::at(text, at, "no token of PTX begins here"))?;
        Ok(Cursor {
            text,
            tokens,
            next: 0,
        })
    }

    pub(super) fn text(&self) -> &'t str {
        self.text
    }

    pub(super) fn at_end(&self) -> bool {
        self.next >= self.tokens.len()
    }

    /// The byte of the text where the next token begins.
    pub(super) fn at(&self) -> u32 {
        let end = self.text.len() as u32;
        self.tokens.get(self.next).map_or(end, |token| token.from)
    }

    pub(super) fn peek(&self) -> Option<Token> {
        self.peek_at(0)
    }

    pub(super) fn peek_at(&self, ahead: usize) -> Option<Token> {
        let token = self.tokens.get(self.next + ahead)?;
        Some(token.token)
    }

    /// The next token's text; empty at the end.
    pub(super) fn peek_text(&self) -> &'t str {
        match self.tokens.get(self.next) {
            Some(token) => &self.text[token.from as usize..token.to as usize],
            None => "",
        }
    }

    pub(super) fn next_text(&mut self) -> &'t str {
        let text = self.peek_text();
        self.next();
        text
    }

    pub(super) fn next(&mut self) {
        self.next += 1;
    }

    pub(super) fn eat(&mut self, token: Token) -> bool {
        let is_next = self.peek() == Some(token);
        self.next += usize::from(is_next);
        is_next
    }

    pub(super) fn expect(&mut self, token: Token, what: &str) -> Result<()> {
        match self.eat(token) {
            true => Ok(()),
            false => self.expected(what),
        }
    }

    /// The error that something else is here.
    pub(super) fn expected<T>(&self, what: &str) -> Result<T> {
        match self.peek_text() {
            "" => self.fail(&format!("the text ends where {what} is expected")),
            text => self.fail(&format!("`{text}` is where {what} is expected")),
        }
    }

    pub(super) fn fail<T>(&self, message: &str) -> Result<T> {
        Err(Error::at(self.text, self.at() as usize, message))
    }

    pub(super) fn name(&mut self) -> Result<&'t str> {
        match self.peek() {
            Some(Token::Name) => Ok(self.next_text()),
            _ => self.expected("a name"),
        }
    }

    pub(super) fn string(&mut self) -> Result<&'t str> {
        match self.peek() {
            Some(Token::Str) => {
                let text = self.next_text();
                Ok(&text[1..text.len() - 1])
            }
            _ => self.expected("a string"),
        }
    }

    /// `8.7`
    pub(super) fn version(&mut self) -> Result<(u32, u32)> {
        let version = self.peek_text().split_once('.');
        let version =
            version.and_then(|(major, minor)| Some((major.parse().ok()?, minor.parse().ok()?)));
        match version {
            Some(version) => {
                self.next();
                Ok(version)
            }
            None => self.expected("a version like `8.0`"),
        }
    }

    /// A number without sign.
    pub(super) fn int(&mut self) -> Result<u64> {
        if self.peek() != Some(Token::Int) {
            return self.expected("a number");
        }
        let text = self.peek_text();
        let digits = text.strip_suffix('U').unwrap_or(text);
        let value = match digits.as_bytes() {
            [b'0', b'x' | b'X', ..] => u64::from_str_radix(&digits[2..], 16),
            [b'0', b'b' | b'B', ..] => u64::from_str_radix(&digits[2..], 2),
            [b'0', _, ..] => u64::from_str_radix(&digits[1..], 8),
            _ => digits.parse(),
        };
        match value {
            Ok(value) => {
                self.next();
                Ok(value)
            }
            Err(_) => self.fail(&format!("`{text}` is no number of 64 bits")),
        }
    }

    /// A number of 32 bits.
    pub(super) fn small_int(&mut self) -> Result<u32> {
        let at = self.at();
        let value = self.int()?;
        u32::try_from(value)
            .map_err(|_| Error::at(self.text, at as usize, "the number needs more than 32 bits"))
    }

    /// Skips to the end of the statement.
    pub(super) fn skip_statement(&mut self) -> Result<()> {
        while !self.eat(Token::Semi) {
            if self.at_end() {
                return self.expected("`;`");
            }
            self.next();
        }
        Ok(())
    }
}
