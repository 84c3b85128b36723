//! Spellings and values.

use super::*;

fn int(text: &str) -> (u64, bool, IntSuffix, bool) {
    match number(text) {
        Ok(TokenKind::Int {
            value,
            unsigned,
            suffix,
            decimal,
        }) => (value, unsigned, suffix, decimal),
        other => panic!("{text}: {other:?}"),
    }
}

fn float(text: &str) -> (f64, bool) {
    match number(text) {
        Ok(TokenKind::Float { value, single }) => (value, single),
        other => panic!("{text}: {other:?}"),
    }
}

fn error(text: &str) -> String {
    use crate::syntax::message::Message as _;
    use ir::span::Span;
    let error = number(text).expect_err(text);
    error.diagnostic(Span::default(), &()).message
}

#[test]
fn integers() {
    assert_eq!(int("0"), (0, false, IntSuffix::None, true));
    assert_eq!(int("42u"), (42, true, IntSuffix::None, true));
    assert_eq!(int("1LL"), (1, false, IntSuffix::LongLong, true));
    assert_eq!(int("0xFFull"), (255, true, IntSuffix::LongLong, false));
    assert_eq!(int("0xffLU"), (255, true, IntSuffix::Long, false));
    assert_eq!(int("0b101"), (5, false, IntSuffix::None, false));
    assert_eq!(int("0777"), (511, false, IntSuffix::None, false));
    assert_eq!(int("1'000'000"), (1_000_000, false, IntSuffix::None, true));
    assert_eq!(
        int("18446744073709551615"),
        (u64::MAX, false, IntSuffix::None, true)
    );
}

#[test]
fn floats() {
    assert_eq!(float("1."), (1.0, false));
    assert_eq!(float(".5f"), (0.5, true));
    assert_eq!(float("1e3"), (1000.0, false));
    assert_eq!(float("08.5"), (8.5, false));
    assert_eq!(float("0.1f"), (f64::from(0.1_f32), true));
    assert_eq!(float("16777217.0f"), (16_777_216.0, true));
    assert_eq!(
        float("1.17549435e-38f"),
        (f64::from(f32::MIN_POSITIVE), true)
    );
}

#[test]
fn hexadecimal_floats() {
    assert_eq!(float("0x1.8p3"), (12.0, false));
    assert_eq!(float("0x.8p0f"), (0.5, true));
    assert_eq!(float("0x1.921fb54442d18p+1"), (std::f64::consts::PI, false));
    assert_eq!(float("0x1p-1074"), (f64::from_bits(1), false));
    assert_eq!(float("0x1p-1075"), (0.0, false));
    assert_eq!(float("0x1.8p-1075"), (f64::from_bits(1), false));
    assert_eq!(float("0x1.fffffep127f"), (f64::from(f32::MAX), true));
    assert_eq!(float("0x1.000001p0f"), (1.0, true));
    assert_eq!(
        float("0x1.0000010000000000000000001p0f"),
        (f64::from(1.0 + f32::EPSILON), true)
    );
    assert_eq!(
        float("0x123456789abcdef01p0"),
        (f64::from_bits(0x43f2_3456_789a_bcdf), false)
    );
}

#[test]
fn wrong_numbers() {
    assert_eq!(error("1f"), "`f` is not a suffix of an integer");
    assert_eq!(
        error("08"),
        "`8` is not an octal digit, and a number that starts with `0` is octal"
    );
    assert_eq!(error("0b12"), "`2` is not a binary digit");
    assert_eq!(error("0x"), "`0x` has no digits after its prefix");
    assert_eq!(error("12abc"), "`abc` is not a suffix of an integer");
    assert_eq!(error("1.2.3"), "`1.2.3` has more than one point");
    assert_eq!(error("1e"), "the exponent of `1e` has no digits");
    assert_eq!(error("1e40f"), "`1e40f` is larger than any float");
    assert_eq!(
        error("18446744073709551616"),
        "`18446744073709551616` does not fit in 64 bits"
    );
    assert_eq!(error("0x1.8"), "`0x1.8` needs an exponent");
    assert_eq!(error("1lul"), "`lul` is not a suffix of an integer");
}

#[test]
fn characters() {
    let value = |text: &str| character(text, &mut None);
    assert_eq!(value("'a'"), Ok(97));
    assert_eq!(value(r"'\0'"), Ok(0));
    assert_eq!(value(r"'\xff'"), Ok(-1));
    assert_eq!(value(r"'\''"), Ok(39));
    assert_eq!(value(r"'\377'"), Ok(-1));
    for bad in [
        "''", "'ab'", "'中'", r"'\x'", r"'\x100'", r"'\400'", r"'\u12'",
    ] {
        assert!(value(bad).is_err(), "{bad}");
    }
}

#[test]
fn strings() {
    let mut bytes = Vec::new();
    let mut unknown = None;
    string(r#""a\n\x41\102\u4f60\q""#, &mut bytes, &mut unknown).unwrap();
    assert_eq!(bytes, "a\nAB你q".as_bytes());
    assert_eq!(unknown, Some('q'));
}
