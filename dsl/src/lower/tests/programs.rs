//! Lowers every example, verifies, prints and reads it back.

use super::compile;
use ir::parse::parse;

#[test]
fn examples_are_lowered_and_survive_their_text() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
    let mut n = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "k") {
            let text = std::fs::read_to_string(&path).unwrap();
            let module = compile(&text);
            let printed = module.to_string();
            assert_eq!(parse(&printed).as_ref(), Ok(&module), "{}", path.display());
            n += 1;
        }
    }
    assert!(n > 20);
}
