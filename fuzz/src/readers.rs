//! Readers of files that may come from other people: any bytes get an answer, and accepted content is written so that it reads back the
//! same.
//!
//! The first line names the reader: `ir`, `baseline`, `npy`, `arch`.

use std::sync::Arc;

use interp::{Program, rules::Arch};
use ir::{parse, print, verify};
use report::findings::baseline::Baseline;
use runtime::buffer::HostBuffer;

use crate::{notice, support::npy as npy_file};

/// See the module.
pub fn target(data: &[u8]) {
    let end = data.iter().position(|&byte| byte == b'\n');
    let (which, data) = data.split_at(end.map_or(data.len(), |end| end + 1));
    let text = String::from_utf8_lossy(data);
    match which {
        b"baseline\n" => baseline(&text),
        b"npy\n" => npy(data),
        b"arch\n" => match text.parse::<Arch>() {
            Ok(arch) => assert_eq!(arch.to_string().parse::<Arch>().ok(), Some(arch)),
            Err(error) => notice(&error.to_string()),
        },
        _ => ir(&text),
    }
}

fn ir(text: &str) {
    let module = match parse(text) {
        Ok(module) => module,
        Err(error) => return notice(&error.to_string()),
    };
    let printed = print(&module);
    let again = parse(&printed).unwrap_or_else(|error| panic!("{error}\n{printed}"));
    assert_eq!(print(&again), printed, "it reads back");
    match verify(&module) {
        // The machine can compile verified IR: it may come from a file that `dslc` reads when a Rust program starts.
        Ok(()) => {
            let program = Program::new(Arc::new(module));
            notice(&format!("{} functions", program.module().functions.len()));
        }
        Err(violations) => notice(&violations[0].to_string()),
    }
}

fn baseline(text: &str) {
    match Baseline::parse(text) {
        Ok(known) => {
            let written = known.text().expect("it was read");
            let again = Baseline::parse(&written).expect("it reads back");
            assert_eq!(again.text().expect("it was read"), written);
        }
        Err(error) => notice(&error.to_string()),
    }
}

fn npy(file: &[u8]) {
    match HostBuffer::from_npy("fuzz.npy", npy_file(file), 1 << 20) {
        Ok(buffer) => {
            let elements: u64 = buffer.shape.iter().product();
            assert_eq!(
                buffer.bytes.len() as u64,
                elements * buffer.element.bytes() as u64
            );
            let again = HostBuffer::from_npy("fuzz.npy", npy_file(&buffer.to_npy()), 1 << 20);
            assert_eq!(again.expect("it reads back"), buffer);
            buffer.show(20);
        }
        Err(error) => notice(&error.to_string()),
    }
}

/// Words for mutations.
pub const WORDS: &[&str] = &[
    "ir\n",
    "baseline\n",
    "npy\n",
    "arch\nsm_90",
    "{\"schema\": \"dslc-baseline/1\", \"findings\": [",
    "{\"fingerprint\": \"0\", \"code\": \"R0101\", \"kind\": \"race\", \"kernel\": null, \"message\": \"\"}",
    "\\ud800",
    "1e999",
    "[[[[[[[[[[[[[[[[",
    "}",
    "]",
    "\u{93}NUMPY\u{1}\0",
    "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }",
    "'<i8'",
    "'|b1'",
    "'>f8'",
    "'<U9'",
    "[('a', '<f4')]",
    "True",
    "(4294967296, 4294967296, )",
    "(18446744073709551615, 3, )",
    "(0, 18446744073709551615, 2, )",
    "kernel %k",
    "slot $",
    "param",
    "loc !",
    "i32",
    "i64",
    "f32",
    "f64",
    "i1",
    "ptr",
    "global",
    "shared @",
    "local @",
    "loop L",
    "scope L",
    "step {",
    "if %",
    "else {",
    "break L",
    "continue L",
    "return",
    "load",
    "store",
    "atomic",
    "call",
    "launch",
    "host",
    "18446744073709551615",
    "-9223372036854775808",
    "4294967295",
    "zero",
    "align 0",
    "{",
    "\"",
    "\\",
];
