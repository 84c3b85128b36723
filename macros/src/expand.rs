//! Expands a macro's input to Rust tokens: the generated module, or errors on the tokens that they are about.

use std::{
    env,
    path::{Path, PathBuf},
    thread,
};

use bind::{Bound, Request, Source, Text};
use ir::{
    diagnostic::{Diagnostic, Severity, render},
    source::SourceMap,
};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};

use crate::{
    files::{self, Files},
    input::{self, Body, Input, Wrong},
    place::Tokens,
};

/// The front end recurses as deep as its input is nested, and most builds do not optimise it.
const STACK_BYTES: usize = 256 << 20;

/// Where messages are placed.
enum Places {
    /// On the token.
    Tokens(Tokens),
    /// All on this token; the message says the place.
    At(Span),
}

/// `kernel! { mod m { … } }` or `kernel!(mod m = r"…")`.
pub(crate) fn kernel(input: TokenStream) -> TokenStream {
    match input::parse(input).and_then(inline) {
        Ok(tokens) => tokens,
        Err(Wrong { span, text }) => error((span, span), &text),
    }
}

/// `include_kernel!(mod m = "path")`.
pub(crate) fn include_kernel(input: TokenStream) -> TokenStream {
    match input::parse(input).and_then(file) {
        Ok(tokens) => tokens,
        Err(Wrong { span, text }) => error((span, span), &text),
    }
}

fn inline(input: Input) -> Result<TokenStream, Wrong> {
    let (span, places, (line, column), text) = match &input.body {
        Body::Braces(body) => {
            let text = body.span().source_text();
            // Without the source (a macro made the tokens), the tokens are used instead.
            let text = text
                .as_deref()
                .and_then(|text| text.strip_prefix('{')?.strip_suffix('}'))
                .map_or_else(|| body.stream().to_string(), str::to_string);
            let start = body.span_open().end();
            let start = (start.line(), start.column());
            (
                body.span_open(),
                Places::Tokens(Tokens::new(body)),
                start,
                text,
            )
        }
        Body::Text(literal) => {
            let (text, skipped) = string(literal)?;
            let start = literal.span().start();
            let start = (start.line(), start.column() + skipped);
            (literal.span(), Places::At(literal.span()), start, text)
        }
    };
    let rust_file = span.local_file().unwrap_or_default();
    let name = match span.file() {
        name if name.is_empty() => rust_file.display().to_string(),
        name => name,
    };
    // Lines and columns are those of the Rust file.
    let padding = "\n".repeat(line.saturating_sub(1)) + &" ".repeat(column.saturating_sub(1));
    let request = request(&input, name.clone(), padding + &text);
    let files = Files {
        folder: rust_file.parent().unwrap_or(Path::new("")).to_path_buf(),
        source: name.clone(),
        include: include_folders(&input),
    };
    let own = Text {
        name,
        start: (line as u32, column as u32),
        expression: format!("{text:?}"),
    };
    Ok(expand(&input, request, files, own, &places, Vec::new()))
}

fn file(input: Input) -> Result<TokenStream, Wrong> {
    let Body::Text(literal) = &input.body else {
        let text = "expected a path: `mod name = \"kernels/name.k\"`; kernels themselves go into `kernel!`";
        return Err(Wrong {
            span: input.name.span(),
            text: text.to_string(),
        });
    };
    let span = literal.span();
    let wrong = |text: String| Wrong { span, text };
    let (path, _) = string(literal)?;
    let rust_file = span.local_file().ok_or_else(|| {
        wrong("it is not known in which file this stands, so the path leads nowhere".to_string())
    })?;
    let path = rust_file.parent().unwrap_or(Path::new("")).join(path);
    let text = files::read(&path)
        .map_err(|why| wrong(format!("cannot read `{}`: {why}", path.display())))?;
    let name = path.display().to_string();
    let request = request(&input, name.clone(), text);
    let files = Files {
        folder: path.parent().unwrap_or(Path::new("")).to_path_buf(),
        source: name.clone(),
        include: include_folders(&input),
    };
    let own = Text {
        expression: included(&name),
        name: name.clone(),
        start: (1, 1),
    };
    Ok(expand(
        &input,
        request,
        files,
        own,
        &Places::At(span),
        vec![name],
    ))
}

fn request(input: &Input, file_name: String, text: String) -> Request {
    Request {
        file_name,
        text,
        visibility: input.visibility.to_string(),
        module_name: input.name.to_string(),
        options: input.options.clone(),
    }
}

/// `include = ["…"]`, relative to the package.
fn include_folders(input: &Input) -> Vec<PathBuf> {
    let package = env::var_os("CARGO_MANIFEST_DIR").map_or_else(PathBuf::new, PathBuf::from);
    let folders = input.options.include.iter();
    folders.map(|folder| package.join(folder)).collect()
}

/// `include_str!` of a file. The path is absolute, since the compiler may look from another folder than that of the Rust file.
fn included(name: &str) -> String {
    format!("::core::include_str!({:?})", absolute(name))
}

fn absolute(name: &str) -> String {
    let path = Path::new(name);
    let path = match env::current_dir() {
        Ok(folder) => folder.join(path),
        Err(_) => path.to_path_buf(),
    };
    path.display().to_string()
}

/// The text of a string literal, and how many columns precede the text in it.
fn string(literal: &Literal) -> Result<(String, usize), Wrong> {
    let written = literal.to_string();
    let wrong = |text: &str| {
        Err(Wrong {
            span: literal.span(),
            text: text.to_string(),
        })
    };
    if let Some(rest) = written.strip_prefix('r') {
        let hashes = rest.len() - rest.trim_start_matches('#').len();
        let inner = rest.get(hashes + 1..rest.len().saturating_sub(hashes + 1));
        if rest[hashes..].starts_with('"')
            && let Some(inner) = inner
        {
            return Ok((inner.to_string(), hashes + 2));
        }
    } else if let Some(inner) = written
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
    {
        if inner.contains('\\') {
            return wrong(
                "escapes in this string would be Rust's, not C's: write it as r\"…\" or r##\"…\"##",
            );
        }
        return Ok((inner.to_string(), 1));
    }
    wrong("expected a string")
}

/// Runs the generator on a large stack.
fn bound(request: Request, files: Files) -> Bound {
    let spawned = thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || bind::bind(request, &files));
    match spawned.map(|thread| thread.join()) {
        Ok(Ok(bound)) => bound,
        Ok(Err(payload)) => std::panic::resume_unwind(payload),
        Err(error) => panic!("cannot start a thread for the kernels: {error}"),
    }
}

fn expand(
    input: &Input,
    request: Request,
    files: Files,
    own: Text,
    places: &Places,
    mut opened: Vec<String>,
) -> TokenStream {
    let bound = bound(request, files);
    let mut out = TokenStream::new();
    let messages = bound.diagnostics.iter();
    let messages: TokenStream = messages
        .flat_map(|diagnostic| message(diagnostic, &bound.map, places))
        .collect();
    opened.extend(bound.included.iter().map(|source| source.name.clone()));
    let Some(kernels) = bound.kernels.as_ref().filter(|_| !bound.has_errors()) else {
        out.extend(messages);
        // The next build has to check the files again.
        out.extend(opened.iter().flat_map(|name| watched(name)));
        return out;
    };
    let text_of = |source: &Source| Text {
        name: source.name.clone(),
        start: (1, 1),
        expression: included(&source.name),
    };
    let texts: Vec<Text> = std::iter::once(own)
        .chain(bound.included.iter().map(text_of))
        .collect();
    let ptx = crate::ptx::embedded(kernels.ir()).unwrap_or_else(|why| {
        let span = input.name.span();
        out.extend(error((span, span), &why));
        Vec::new()
    });
    let code = kernels.rust(&bound.map, &texts, &ptx);
    let generated: TokenStream = match code.parse() {
        Ok(generated) => generated,
        Err(why) => {
            let span = input.name.span();
            let text = format!("dslc made Rust that is none ({why}); this is a bug in dslc");
            out.extend(error((span, span), &text));
            return out;
        }
    };
    let mut names = vec![(input.name.to_string(), input.name.span())];
    if let Places::Tokens(tokens) = places {
        for (method, function) in kernels.methods(&bound.map) {
            let (start, end) = positions(&bound.map, function.span);
            let (span, _) = tokens.between(start, end);
            names.push((method, span));
        }
    }
    out.extend(with_items(named(generated, &names), messages));
    out
}

/// Adds items to a module. Warnings go there, so that an attribute of the module silences them.
fn with_items(module: TokenStream, items: TokenStream) -> TokenStream {
    let mut tokens: Vec<TokenTree> = module.into_iter().collect();
    if let Some(TokenTree::Group(body)) = tokens.last_mut() {
        let mut inner = body.stream();
        inner.extend(items);
        let mut group = Group::new(Delimiter::Brace, inner);
        group.set_span(body.span());
        *body = group;
    }
    tokens.into_iter().collect()
}

/// The generated tokens; after `fn` and `mod`, names of the source have their place in the source.
fn named(stream: TokenStream, names: &[(String, Span)]) -> TokenStream {
    let mut is_name = false;
    let tokens = stream.into_iter().map(|token| match token {
        TokenTree::Group(group) => {
            is_name = false;
            let mut inner = Group::new(group.delimiter(), named(group.stream(), names));
            inner.set_span(group.span());
            TokenTree::Group(inner)
        }
        TokenTree::Ident(mut ident) => {
            let text = ident.to_string();
            if is_name && let Some((_, span)) = names.iter().find(|(name, _)| *name == text) {
                ident.set_span(span.resolved_at(Span::call_site()));
            }
            is_name = matches!(text.as_str(), "fn" | "mod");
            TokenTree::Ident(ident)
        }
        other => {
            is_name = false;
            other
        }
    });
    tokens.collect()
}

/// Start and end of a span, line and column from 1.
fn positions(map: &SourceMap, span: ir::span::Span) -> ((usize, usize), (usize, usize)) {
    let span = map.use_site(span);
    let file = map.file(span.file);
    let position = |offset: u32| {
        let (line, column) = file.line_column(offset);
        (line as usize, column as usize)
    };
    (position(span.start), position(span.end))
}

/// A message for `rustc` to show: an error, or the nearest to a warning that stable Rust allows.
fn message(diagnostic: &Diagnostic, map: &SourceMap, places: &Places) -> TokenStream {
    let main = map.files().next().map(|(id, _)| id);
    let place = map.use_site(diagnostic.primary.span);
    let (spans, text) = match places {
        Places::Tokens(tokens) if Some(place.file) == main => {
            let (start, end) = positions(map, diagnostic.primary.span);
            (tokens.between(start, end), in_words(diagnostic, map))
        }
        // The message is about a header.
        Places::Tokens(_) => {
            let span = Span::call_site();
            ((span, span), framed(diagnostic, map))
        }
        Places::At(span) => ((*span, *span), framed(diagnostic, map)),
    };
    match diagnostic.severity {
        Severity::Error => error(spans, &text),
        Severity::Warning | Severity::Note => warning(spans.0, &text),
    }
}

/// The message with its source, as the command line shows it.
fn framed(diagnostic: &Diagnostic, map: &SourceMap) -> String {
    let rendered = render::render(std::slice::from_ref(diagnostic), map, false, Some(100));
    // The frame's title says less than the line with the place.
    let frame = rendered.split_once('\n').map_or("", |(_, frame)| frame);
    format!("{}\n{}", render::short(diagnostic, map), frame.trim_end())
}

/// The message alone; `rustc` shows the place.
fn in_words(diagnostic: &Diagnostic, map: &SourceMap) -> String {
    let mut text = diagnostic.message.clone();
    if !diagnostic.primary.message.is_empty() {
        text += &format!("\n{}", diagnostic.primary.message);
    }
    for label in &diagnostic.labels {
        let (start, _) = positions(map, label.span);
        let file = &map.file(map.use_site(label.span).file).name;
        text += &format!("\n{file}:{}:{}: {}", start.0, start.1, label.message);
    }
    for note in &diagnostic.notes {
        text += &format!("\nnote: {note}");
    }
    if let Some(help) = &diagnostic.help {
        text += &format!("\nhelp: {help}");
    }
    text + &format!("\n[{}]", diagnostic.code.number())
}

/// `::core::compile_error! { "…" }` over the tokens from the first to the last span.
fn error((first, last): (Span, Span), text: &str) -> TokenStream {
    let colon = |spacing| TokenTree::Punct(Punct::new(':', spacing));
    let mut group = Group::new(
        Delimiter::Brace,
        TokenTree::Literal(Literal::string(text)).into(),
    );
    group.set_span(last);
    let tokens = [
        colon(Spacing::Joint),
        colon(Spacing::Alone),
        TokenTree::Ident(Ident::new("core", first)),
        colon(Spacing::Joint),
        colon(Spacing::Alone),
        TokenTree::Ident(Ident::new("compile_error", first)),
        TokenTree::Punct(Punct::new('!', Spacing::Alone)),
        TokenTree::Group(group),
    ];
    tokens
        .into_iter()
        .map(|mut token| {
            if !matches!(token, TokenTree::Group(_)) {
                token.set_span(first);
            }
            token
        })
        .collect()
}

/// A use of something deprecated, on that token: stable Rust has no other way to warn.
fn warning(span: Span, text: &str) -> TokenStream {
    let code = format!(
        "const _: () = {{ #[deprecated(note = {text:?})] #[allow(dead_code, non_upper_case_globals)] const kernel_warning: () = (); kernel_warning }};"
    );
    let tokens: TokenStream = code.parse().unwrap_or_default();
    respanned(tokens, span)
}

/// Places the last `kernel_warning` of a warning on the token that it is about.
fn respanned(stream: TokenStream, span: Span) -> TokenStream {
    let tokens: Vec<TokenTree> = stream.into_iter().collect();
    let last = tokens.len().saturating_sub(1);
    let tokens = tokens
        .into_iter()
        .enumerate()
        .map(|(index, token)| match token {
            TokenTree::Group(group) => {
                let mut inner = Group::new(group.delimiter(), respanned(group.stream(), span));
                inner.set_span(group.span());
                TokenTree::Group(inner)
            }
            TokenTree::Ident(mut ident) if index == last => {
                ident.set_span(span.resolved_at(Span::call_site()));
                TokenTree::Ident(ident)
            }
            other => other,
        });
    tokens.collect()
}

/// Makes the compiler depend on a file: a change of it causes a rebuild.
fn watched(name: &str) -> TokenStream {
    let path = absolute(name);
    format!("const _: &[u8] = ::core::include_bytes!({path:?});")
        .parse()
        .unwrap_or_default()
}
