//! Manual pages and completions: they contain every command.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::{Command, Stdio},
};

use crate::support::{dslc, file};

/// The commands that `dslc --help` lists.
fn commands() -> Vec<String> {
    let help = dslc(&["--help"]).stdout;
    let listed = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let listed = listed.take_while(|line| !line.is_empty());
    let names = listed.filter(|line| !line.starts_with("    "));
    let names: Vec<String> = names
        .filter_map(|line| line.split_whitespace().next())
        .map(str::to_string)
        .collect();
    assert!(names.len() > 10 && names.contains(&"run".to_string()));
    names
}

#[test]
fn each_command_has_a_manual_page_with_its_options() {
    let beside = PathBuf::from(file("beside", ""));
    let folder = beside.with_file_name("pages").display().to_string();
    let output = dslc(&["man", "--out", &folder]);
    assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
    for name in commands() {
        let page = dslc(&["man", &name]).stdout;
        let written = fs::read_to_string(format!("{folder}/dslc-{name}.1"));
        assert_eq!(written.expect("the page"), page);
        assert!(page.contains(&format!(".TH dslc-{name} 1 ")), "{page}");
        assert!(page.contains("\\-\\-color"), "{page}");
    }
    let own = fs::read_to_string(format!("{folder}/dslc.1")).expect("the page of dslc");
    assert!(own.contains("dslc\\-run(1)") && own.contains("EXIT STATUS"));
    assert!(dslc(&["man", "run"]).stdout.contains("\\-\\-arch"));
    let unknown = dslc(&["man", "rum"]);
    assert_eq!(unknown.code, Some(2));
    assert!(unknown.stderr.contains("there is no command `rum`"));
}

#[test]
fn each_shell_completes_each_command() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let output = dslc(&["completions", shell]);
        assert_eq!((output.code, output.stderr.as_str()), (Some(0), ""));
        for name in commands() {
            assert!(output.stdout.contains(&name), "{shell}: {name}");
        }
    }
    let unknown = dslc(&["completions", "cmd"]);
    assert_eq!(unknown.code, Some(2));
}

#[cfg(unix)]
#[test]
fn bash_completes_commands_options_and_values() {
    let script = dslc(&["completions", "bash"]).stdout;
    let cases = [
        ("dslc sw", "sweep"),
        ("dslc run --arc", "--arch"),
        ("dslc run --color al", "always"),
    ];
    for (line, expected) in cases {
        let words = line.replace(' ', "\" \"");
        let at = line.matches(' ').count();
        let asked = format!(
            "{script}\nCOMP_WORDS=(\"{words}\") COMP_CWORD={at}\n_dslc dslc \"${{COMP_WORDS[{at}]}}\" \"${{COMP_WORDS[{}]}}\"\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
            at - 1
        );
        let bash = Command::new("bash")
            .args(["--norc", "-s"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let mut bash = bash.expect("bash, which the project's scripts need, too");
        let mut stdin = bash.stdin.take().expect("a pipe");
        stdin.write_all(asked.as_bytes()).expect("bash reads");
        drop(stdin);
        let output = bash.wait_with_output().expect("bash ends");
        let output = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.trim(), expected, "{line}");
    }
}
