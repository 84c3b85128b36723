//! Compares the lexer's table with logos' output for its description. `INSTA_UPDATE=always` writes it.

use std::{fs, path::Path};

use proc_macro2::TokenStream;

/// The names that the table uses.
const HEAD: &str = "// Made from `raw.in.rs`, which says how.

use super::block_comment;
";

/// Line breaks do not matter.
fn letters(text: &str) -> String {
    text.split_whitespace().collect()
}

#[test]
fn the_table_is_made_from_its_description() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/lexer");
    let description = fs::read_to_string(folder.join("raw.in.rs")).expect("the description");
    let tokens: TokenStream = description.parse().expect("Rust tokens");
    let types = logos_codegen::strip_attributes(tokens.clone());
    let table = logos_codegen::generate(tokens);
    // With line breaks, for readers.
    let text = format!("{types}\n{table}\n")
        .replace("; ", ";\n")
        .replace("{ ", "{\n")
        .replace("} ", "}\n");
    let text = format!("{HEAD}\n{text}");
    let path = folder.join("raw.rs");
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if letters(&kept) == letters(&text) {
        return;
    }
    assert_eq!(
        std::env::var("INSTA_UPDATE").as_deref(),
        Ok("always"),
        "raw.rs is not what logos makes of raw.in.rs: run this test with INSTA_UPDATE=always"
    );
    fs::write(&path, text).expect("the table can be written");
}
