//! Characters that input methods, documents and web pages substitute for ASCII punctuation.

use crate::syntax::message::lex::{LexProblem, Lookalike};

/// The ASCII text that a character looks like, if it is known. `" "` for blanks, and for invisible characters, too.
pub(crate) fn ascii(found: char) -> Option<&'static str> {
    if ('\u{ff01}'..='\u{ff5e}').contains(&found) {
        let at = found as usize - 0xff01;
        return PRINTABLE.get(at..at + 1);
    }
    let ascii = match found {
        '“' | '”' | '„' | '‟' | '「' | '」' | '『' | '』' | '〝' | '〞' | '«' | '»' => {
            "\""
        }
        '‘' | '’' | '‚' | '‛' | '´' => "'",
        '【' | '〔' | '〖' | '［' => "[",
        '】' | '〕' | '〗' | '］' => "]",
        '《' | '〈' | '‹' => "<",
        '》' | '〉' | '›' => ">",
        '。' | '｡' => ".",
        '、' | '､' | '﹐' => ",",
        '﹔' | '\u{37e}' => ";",
        '﹕' | '︰' | '∶' => ":",
        '…' => "...",
        '—' | '–' | '−' | '‐' | '‑' | '‒' | '―' | '﹣' => "-",
        '×' | '∗' | '∙' | '﹡' => "*",
        '÷' | '∕' | '⁄' => "/",
        '≤' | '≦' => "<=",
        '≥' | '≧' => ">=",
        '≠' => "!=",
        '→' => "->",
        '˜' | '∼' => "~",
        'ˆ' => "^",
        '¦' | '∣' => "|",
        '\u{3000}' | '\u{a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' => {
            " "
        }
        '\u{200b}'..='\u{200f}'
        | '\u{2060}'
        | '\u{feff}'
        | '\u{ad}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => " ",
        '\u{85}' | '\u{2028}' | '\u{2029}' => " ",
        _ => return None,
    };
    Some(ascii)
}

const PRINTABLE: &str = "!\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefghijklmnopqrstuvwxyz{|}~";

/// The message that a character was read as `ascii`.
pub(crate) fn problem(found: char, ascii: &'static str) -> LexProblem {
    let found = Lookalike(found);
    match ascii {
        " " => LexProblem::ConfusableBlank { found },
        _ => LexProblem::Confusable { found, ascii },
    }
}

/// The name of a character in a message: `` `；` (a full-width semicolon) ``, `U+00A0 (a no-break space)`.
pub(crate) fn describe(found: char) -> String {
    let name = match found {
        '\u{3000}' => "a full-width space",
        '\u{a0}' | '\u{202f}' => "a no-break space",
        '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{205f}' => "a space that is not the ASCII one",
        '\u{200b}' => "a zero-width space",
        '\u{feff}' => "a byte order mark inside the text",
        '\u{ad}' => "a soft hyphen",
        '\u{85}' | '\u{2028}' | '\u{2029}' => "a line separator that C does not know",
        '\u{200c}'..='\u{200f}'
        | '\u{2060}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' => "an invisible character",
        _ => return format!("`{found}` ({})", ascii_like(found)),
    };
    format!("U+{:04X} ({name})", found as u32)
}

/// What kind of look-alike a visible character is.
fn ascii_like(found: char) -> String {
    let kind = match found {
        '；' => "full-width semicolon",
        '，' => "full-width comma",
        '（' | '）' => "full-width parenthesis",
        '：' => "full-width colon",
        '？' => "full-width question mark",
        '！' => "full-width exclamation mark",
        '\u{ff01}'..='\u{ff5e}' => "full-width character",
        '“' | '”' | '„' | '‟' | '‘' | '’' | '‚' | '‛' => "curly quote",
        '「' | '」' | '『' | '』' | '〝' | '〞' | '«' | '»' | '´' => {
            "quotation mark that C does not know"
        }
        '【' | '】' | '〔' | '〕' | '〖' | '〗' => "full-width bracket",
        '《' | '》' | '〈' | '〉' | '‹' | '›' => "angle bracket that C does not know",
        '。' | '｡' => "full-width full stop",
        '、' | '､' | '﹐' => "full-width comma",
        '—' | '–' | '‐' | '‑' | '‒' | '―' | '﹣' => "dash",
        '−' => "minus sign that is not the ASCII one",
        '…' => "ellipsis in one character",
        _ => return format!("U+{:04X}", found as u32),
    };
    format!("U+{:04X}, {kind}", found as u32)
}
