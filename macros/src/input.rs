//! Parses the macro's input: `pub mod name(options) { C }`, or `pub mod name = "…", options`.

use bind::Options;
use proc_macro::{Delimiter, Group, Ident, Literal, Span, TokenStream, TokenTree};

/// A macro's input.
pub(crate) struct Input {
    /// Attributes and visibility.
    pub(crate) visibility: TokenStream,
    pub(crate) name: Ident,
    pub(crate) options: Options,
    pub(crate) body: Body,
}

/// The source in the input.
pub(crate) enum Body {
    /// The C text itself.
    Braces(Group),
    /// The C text, or a path, in a string.
    Text(Literal),
}

/// An error in a macro's input.
pub(crate) struct Wrong {
    pub(crate) span: Span,
    pub(crate) text: String,
}

fn wrong<T>(span: Span, text: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong {
        span,
        text: text.into(),
    })
}

/// Reads the input.
pub(crate) fn parse(input: TokenStream) -> Result<Input, Wrong> {
    const FORM: &str = "expected `mod name { … }` with kernels in it, or `mod name = \"…\"`";
    let mut tokens = input.into_iter().peekable();
    let mut visibility = Vec::new();
    loop {
        match tokens.next() {
            Some(TokenTree::Ident(word)) if word.to_string() == "mod" => break,
            Some(token) => visibility.push(token),
            None => return wrong(Span::call_site(), FORM),
        }
    }
    let name = match tokens.next() {
        Some(TokenTree::Ident(name)) => name,
        Some(other) => return wrong(other.span(), "expected the module's name"),
        None => return wrong(Span::call_site(), FORM),
    };
    let mut options = Options::default();
    let mut next = tokens.next();
    if let Some(TokenTree::Group(group)) = &next
        && group.delimiter() == Delimiter::Parenthesis
    {
        read_options(group.stream(), &mut options)?;
        next = tokens.next();
    }
    let body = match next {
        Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
            Body::Braces(group)
        }
        Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => match tokens.next() {
            Some(TokenTree::Literal(literal)) => Body::Text(literal),
            // A literal that came through `macro_rules!`.
            Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::None => {
                match group.stream().into_iter().next() {
                    Some(TokenTree::Literal(literal)) => Body::Text(literal),
                    _ => return wrong(group.span(), "expected a string"),
                }
            }
            Some(other) => return wrong(other.span(), "expected a string"),
            None => return wrong(punct.span(), "expected a string after `=`"),
        },
        Some(other) => return wrong(other.span(), FORM),
        None => return wrong(name.span(), FORM),
    };
    match (tokens.next(), &body) {
        (None, _) => {}
        (Some(TokenTree::Punct(punct)), Body::Text(_)) if punct.as_char() == ',' => {
            read_options(tokens.collect(), &mut options)?;
        }
        (Some(other), _) => return wrong(other.span(), "expected nothing more"),
    }
    Ok(Input {
        visibility: visibility.into_iter().collect(),
        name,
        options,
        body,
    })
}

/// `instances = [fill<float, 2>], fmad = false`
fn read_options(stream: TokenStream, options: &mut Options) -> Result<(), Wrong> {
    let mut tokens = stream.into_iter();
    while let Some(token) = tokens.next() {
        let TokenTree::Ident(option) = token else {
            return wrong(token.span(), "expected an option, as in `fmad = false`");
        };
        let option_name = option.to_string();
        if let Err(error) = Options::known(&option_name) {
            return wrong(option.span(), error.to_string());
        }
        match tokens.next() {
            Some(TokenTree::Punct(punct)) if punct.as_char() == '=' => {}
            other => {
                let span = other.map_or(option.span(), |other| other.span());
                return wrong(span, format!("expected `=` after `{option_name}`"));
            }
        }
        let mut value: Vec<TokenTree> = Vec::new();
        for token in tokens.by_ref() {
            match token {
                TokenTree::Punct(punct) if punct.as_char() == ',' => break,
                token => value.push(token),
            }
        }
        let span = value.first().map_or(option.span(), TokenTree::span);
        let failed = |error: bind::OptionsError| Wrong {
            span,
            text: error.to_string(),
        };
        match value.as_slice() {
            [TokenTree::Group(list)] if list.delimiter() == Delimiter::Bracket => {
                for (span, element) in elements(list.stream()) {
                    options.add(&option_name, &element).map_err(|error| Wrong {
                        span,
                        text: error.to_string(),
                    })?;
                }
            }
            _ if Options::is_list(&option_name) => {
                return wrong(span, format!("`{option_name}` is a list: `[…]`"));
            }
            value => {
                let value: TokenStream = value.iter().cloned().collect();
                options
                    .set(&option_name, &value.to_string())
                    .map_err(failed)?;
            }
        }
    }
    Ok(())
}

/// The elements of a list, as text. A comma between `<` and `>` belongs to the element.
fn elements(stream: TokenStream) -> Vec<(Span, String)> {
    let mut out: Vec<(Span, Vec<TokenTree>)> = Vec::new();
    let mut depth = 0i32;
    let mut starts = true;
    for token in stream {
        if let TokenTree::Punct(punct) = &token {
            match punct.as_char() {
                '<' => depth += 1,
                '>' => depth -= 1,
                ',' if depth <= 0 => {
                    starts = true;
                    continue;
                }
                _ => {}
            }
        }
        match out.last_mut() {
            Some((_, element)) if !starts => element.push(token),
            _ => out.push((token.span(), vec![token])),
        }
        starts = false;
    }
    let text = |(span, tokens): (Span, Vec<TokenTree>)| {
        (
            span,
            tokens.into_iter().collect::<TokenStream>().to_string(),
        )
    };
    out.into_iter().map(text).collect()
}
