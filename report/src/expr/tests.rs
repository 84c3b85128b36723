use super::*;

/// Letters are quantities; `t(…)` is one of an access.
struct Letters;

impl Names for Letters {
    fn number_of(&mut self, name: &str, access: Option<&str>) -> Result<usize, Unknown> {
        let names = ["a", "b", "none", "unknown", "t"];
        let found = names.iter().position(|known| *known == name);
        found
            .filter(|&at| access.is_some() == (at == 4))
            .ok_or_else(|| Unknown {
                message: format!("there is no `{name}`"),
                help: None,
            })
    }
}

fn value(at: usize) -> Seen {
    match at {
        0 => Seen::Number(3.0),
        1 => Seen::Number(0.5),
        2 => Seen::Nothing,
        4 => Seen::Number(128.0),
        _ => Seen::NotModelled,
    }
}

#[test]
fn conditions_hold_or_do_not_or_say_nothing() {
    let cases = [
        ("a == 3", Ok(Some(true))),
        ("a==3&&b>0.9", Ok(Some(false))),
        ("a + b * 2 == 4 && !(a < b)", Ok(Some(true))),
        ("-a + 4 == 1", Ok(Some(true))),
        ("a % 2 == 1 || unknown > 1", Ok(Some(true))),
        ("10 - 2 - 3 == 5", Ok(Some(true))),
        ("none > 1", Ok(None)),
        ("!(none > 1)", Ok(None)),
        ("none > 1 && a == 0", Ok(Some(false))),
        ("a == 0 && none > 1", Ok(Some(false))),
        ("none > 1 || a == 3", Ok(Some(true))),
        ("a / 0 > 1", Ok(None)),
        ("unknown > 1", Err(NotModelled(3))),
        ("t(tile[f(x)][b ? 1 : 0]) <= 128", Ok(Some(true))),
        ("1_024 > 1e3", Ok(Some(true))),
        ("ceil(a / 2) == 2 && floor(a / 2) == 1", Ok(Some(true))),
        ("ceil(none) == 2", Ok(None)),
    ];
    for (text, expected) in cases {
        let expr =
            Expr::condition(text, &mut Letters).unwrap_or_else(|why| panic!("{text}: {why}"));
        assert_eq!(expr.holds(&value), expected, "{text}");
    }
}

#[test]
fn problems_name_their_place() {
    let cases = [
        ("a", "a", "this is a number, not a condition"),
        ("a == 3 &&", "", "the expression is not complete"),
        ("a == 3 && b", "b", "this is a number, not a condition"),
        ("(a == 3", "(", "this bracket is not closed"),
        ("a = 3", "= 3", "the expression ends before this"),
        ("0 < a < 1", "<", "two comparisons in one have no meaning"),
        ("c > 1", "c", "there is no `c`"),
        ("a(x) > 1", "a(x)", "there is no `a`"),
        (
            "(a > 1) + 1 > 1",
            "(a > 1)",
            "this is a condition, not a number",
        ),
        (
            "ceil(a > 1) > 1",
            "(a > 1)",
            "this is a condition, not a number",
        ),
        ("a > 1.2.3", "1.2.3", "this is no number"),
        ("a > ü", "ü", "`ü` cannot stand here"),
        ("", "", "the expression is not complete"),
    ];
    for (text, place, message) in cases {
        let problem = Expr::condition(text, &mut Letters).expect_err(text);
        assert_eq!(
            (&text[problem.place.clone()], &*problem.message),
            (place, message),
            "{text}"
        );
        assert!(
            problem
                .render("--require", text, false, 80)
                .contains(message)
        );
    }
    let deep = "(".repeat(10_000);
    assert!(Expr::condition(&deep, &mut Letters).is_err());
}
