//! What the report says about waste, and what it omits: `tests/hot_spots/*.k`. Every part, separated by `|`, after `//~ says: ` is on the
//! first screen, in any order. No text after `//~ silent: ` is.

use libtest_mimic::Trial;

use crate::{
    each,
    support::{dslc, labels::options},
};

pub(crate) fn trials() -> Vec<Trial> {
    each("hot_spots", "tests/hot_spots", 1, says)
}

fn says(path: &str, source: &str) -> Result<(), String> {
    let always = ["run", path, "--cures", "never"];
    let shown = dslc(&[&always[..], &options(source)].concat()).stdout;
    let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
    let of = |kind: &str| -> Vec<String> {
        let lines = source.lines().filter_map(|line| line.strip_prefix(kind));
        let parts = lines.flat_map(|line| line.split('|'));
        parts.map(|part| part.trim().to_string()).collect()
    };
    let (said, silent) = (of("//~ says: "), of("//~ silent: "));
    assert!(!said.is_empty() || !silent.is_empty(), "it expects nothing");
    for part in said {
        assert!(words.contains(&part), "`{part}` is missing\n{shown}");
    }
    for part in silent {
        assert!(!words.contains(&part), "`{part}` is said\n{shown}");
    }
    Ok(())
}
