//! From text to [`tree`](crate::tree): all of PTX's syntax, and no meaning. An instruction that dslc does not know is read like all others.

mod body;
mod cursor;
mod value;
mod variable;

use crate::tree::{Function, Ptx};
use crate::{Error, lexer::Token};
use cursor::Cursor;
pub(crate) use variable::space;

/// The largest text, in bytes.
const MAX_TEXT_BYTES: usize = 1 << 30;

type Result<T> = std::result::Result<T, Error>;

/// Reads a PTX module.
pub fn parse(text: &str) -> Result<Ptx<'_>> {
    if text.len() > MAX_TEXT_BYTES {
        return Err(Error::at(text, 0, "the text is larger than 1 GiB"));
    }
    let mut cursor = Cursor::new(text)?;
    let mut ptx = Ptx::default();
    while !cursor.at_end() {
        module_item(&mut cursor, &mut ptx)?;
    }
    if ptx.version == (0, 0) {
        return Err(Error::at(
            text,
            0,
            "PTX begins with `.version`, and this text has none",
        ));
    }
    Ok(ptx)
}

/// A directive, variable or function at module scope.
fn module_item<'t>(cursor: &mut Cursor<'t>, ptx: &mut Ptx<'t>) -> Result<()> {
    match cursor.peek_text() {
        ".version" => {
            cursor.next();
            ptx.version = cursor.version()?;
        }
        ".target" => {
            cursor.next();
            ptx.target = cursor.name()?;
            while cursor.eat(Token::Comma) {
                cursor.name()?;
            }
        }
        ".address_size" => {
            cursor.next();
            if cursor.peek_text() != "64" {
                return cursor.fail("only addresses of 64 bits are supported");
            }
            cursor.next();
        }
        ".file" => {
            cursor.next();
            let number = cursor.small_int()?;
            let name = cursor.string()?;
            while cursor.eat(Token::Comma) {
                cursor.int()?;
            }
            ptx.files.push((number, name));
        }
        ".section" => section(cursor)?,
        ".pragma" | ".alias" => cursor.skip_statement()?,
        "" => return cursor.fail("a directive is missing"),
        _ => definition(cursor, ptx)?,
    }
    Ok(())
}

/// `.section .debug_info { … }`: debuggers read it, dslc does not.
fn section(cursor: &mut Cursor<'_>) -> Result<()> {
    cursor.next();
    cursor.next();
    cursor.expect(Token::LBrace, "`{`")?;
    while !cursor.eat(Token::RBrace) {
        if cursor.at_end() {
            return cursor.fail("the section does not end");
        }
        cursor.next();
    }
    Ok(())
}

/// A variable or a function, with its linkage.
fn definition<'t>(cursor: &mut Cursor<'t>, ptx: &mut Ptx<'t>) -> Result<()> {
    let mut is_extern = false;
    loop {
        match cursor.peek_text() {
            ".extern" => is_extern = true,
            ".visible" | ".weak" | ".common" => {}
            _ => break,
        }
        cursor.next();
    }
    match cursor.peek_text() {
        ".entry" | ".func" => {
            let function = function(cursor)?;
            ptx.functions.push(function);
        }
        _ => match variable::declaration(cursor, is_extern)? {
            Some(found) => ptx.variables.extend(found),
            None => return cursor.fail("no directive of PTX"),
        },
    }
    Ok(())
}

/// `.entry name (params) .maxntid 256 { … }`, `.func (result) name (params) { … }`.
fn function<'t>(cursor: &mut Cursor<'t>) -> Result<Function<'t>> {
    let is_entry = cursor.next_text() == ".entry";
    let results = match is_entry {
        false => variable::params(cursor)?,
        true => Vec::new(),
    };
    let at = cursor.at();
    let name = cursor.name()?;
    let params = variable::params(cursor)?;
    let mut function = Function {
        name,
        is_entry,
        results,
        params,
        max_threads: None,
        min_blocks: None,
        body: None,
        at,
    };
    loop {
        match cursor.peek_text() {
            ".maxntid" | ".reqntid" => {
                cursor.next();
                function.max_threads = Some(product(cursor)?);
            }
            ".minnctapersm" => {
                cursor.next();
                function.min_blocks = Some(cursor.int()?);
            }
            ".maxnreg" | ".reqnctapercluster" | ".maxclusterrank" | ".blocksareclusters"
            | ".explicitcluster" => {
                cursor.next();
                if cursor.peek() == Some(Token::Int) {
                    product(cursor)?;
                }
            }
            ".noreturn" | ".abi_preserve" => {
                cursor.next();
            }
            ".pragma" => cursor.skip_statement()?,
            _ => break,
        }
    }
    if cursor.eat(Token::Semi) {
        return Ok(function);
    }
    if cursor.peek() != Some(Token::LBrace) {
        return Ok(function);
    }
    let mut body = body::body(cursor)?;
    body::name_params(&mut body, &function.params);
    function.body = Some(body);
    Ok(function)
}

/// `16, 16, 1`
fn product(cursor: &mut Cursor<'_>) -> Result<u64> {
    let mut product = cursor.int()?;
    while cursor.eat(Token::Comma) {
        product = product.saturating_mul(cursor.int()?);
    }
    Ok(product)
}
