//! `dslc banks`: the picture of an expression, without a program.

use std::fs;

use super::support::{dslc, dslc_wide, has, root};

/// The output of a command that has to succeed.
fn drawn(args: &[&str]) -> String {
    let output = dslc(&[&["banks"], args].concat());
    assert_eq!(output.code, Some(0), "{args:?}: {}", output.stderr);
    output.stdout
}

/// The command fails with that code, and prints this reason.
fn refused(args: &[&str], code: i32, why: &str) {
    let output = dslc(&[&["banks"], args].concat());
    let error = output.stderr;
    assert_eq!(output.code, Some(code), "{args:?}: {error}");
    assert!(error.contains(why), "{args:?}: {error}");
}

/// The row of a lane in the grid.
fn lane(picture: &str, lane: usize) -> &str {
    let start = format!("{lane:>4}  ");
    let row = picture
        .lines()
        .skip(3)
        .find(|line| line.starts_with(&start));
    row.unwrap_or_else(|| panic!("no lane {lane} in\n{picture}"))
}

#[test]
fn lists_of_lanes_name_all_of_them() {
    let picture = drawn(&["s[lane % 4]"]);
    for row in ["   0  0 (0, 4, .. 28)", "   3  3 (3, 7, .. 31)"] {
        assert!(picture.lines().any(|line| line == row), "{picture}");
    }
    assert!(drawn(&["s[0]"]).contains("   0  0 (0..31)\n"));
    assert!(drawn(&["s[lane / 16]"]).contains("   1  1 (16..31)\n"));
}

#[test]
fn cells_say_which_pass_serves_them() {
    let picture = drawn(&["s[lane * 2]"]);
    assert_eq!(lane(&picture, 1), format!("   1  ··1{}", "·".repeat(29)));
    assert_eq!(lane(&picture, 17), format!("  17  ··2{}", "·".repeat(29)));
    assert!(picture.ends_with("2 transactions for 1 request (1 would be ideal); worst 2-way\n"));
    // 16 bytes per lane: eight lanes in a pass, four banks for each lane.
    let picture = drawn(&["s[lane]", "--array", "float4[32]"]);
    assert_eq!(
        lane(&picture, 9),
        format!("   9  ····2222{}", "·".repeat(24))
    );
    has(&picture, "4 transactions for 1 request (4 would be ideal)");
    // Each pass in a separate grid.
    let picture = drawn(&["s[lane * 16]", "--passes"]);
    has(&picture, "pass 1 of 16");
    has(&picture, "pass 16 of 16");
}

#[test]
fn members_bytes_macros_and_blocks_are_understood() {
    let cases: &[(&[&str], &str)] = &[
        (&["s[lane].x", "--array", "float4[64]"], "worst 4-way"),
        (
            &[
                "s[lane].c",
                "--array",
                "struct { float x, y; int a[2]; char c; }[32]",
            ],
            "load, 1 byte a lane",
        ),
        (
            &[
                "s[lane].a[1]",
                "--array",
                "struct { float x, y; int a[2]; char c; }[32]",
            ],
            "   3  3 (0)\n",
        ),
        (&["lane * 12"], "worst 1-way"),
        (
            &["lane * 8", "--bytes", "8"],
            "2 transactions for 1 request (2 would be ideal)",
        ),
        (&["s[lane * N]", "-D", "N=8"], "worst 8-way"),
        (
            &[
                "t[threadIdx.x][threadIdx.y]",
                "--array",
                "int[16][16]",
                "--block",
                "16x16",
            ],
            "worst 8-way",
        ),
        (
            &[
                "s[lane]",
                "--array",
                "double[32]",
                "--arch",
                "sm_35",
                "--bank-width",
                "8",
            ],
            "1 transaction for 1 request",
        ),
        (&["s[threadIdx.x / 32 * lane]", "--block", "128"], "warp 2"),
        (
            &[
                "s[threadIdx.x / 32 * lane]",
                "--block",
                "128",
                "--warp",
                "3",
            ],
            "warp 3",
        ),
        (&["s[lane * 4]", "--store"], "store, 4 bytes a lane"),
    ];
    for (args, said) in cases {
        let picture = drawn(args);
        assert!(picture.contains(said), "{args:?}: {said}\n{picture}");
    }
}

#[test]
fn two_expressions_stand_side_by_side_where_there_is_room() {
    let args = ["banks", "s[lane * 2]", "s[lane * 2 + lane / 16]"];
    let wide = dslc_wide(&args, 80).stdout;
    let narrow = dslc_wide(&args, 60).stdout;
    let heads = |picture: &str| {
        picture
            .lines()
            .map(|line| line.matches("lane  0 ").count())
            .max()
    };
    assert_eq!((heads(&wide), heads(&narrow)), (Some(2), Some(1)));
    for picture in [&wide, &narrow] {
        has(picture, "worst 2-way");
        has(picture, "worst 1-way");
    }
    assert!(
        wide.lines().all(|line| line.chars().count() <= 80),
        "{wide}"
    );
    assert!(
        narrow.lines().all(|line| line.chars().count() <= 60),
        "{narrow}"
    );
    // Each with its array.
    let both = [
        "t[lane][0]",
        "t[lane][0]",
        "--array",
        "int[32][32]",
        "--array",
        "int[32][33]",
    ];
    assert!(drawn(&both).contains("t[lane][0]  in int t[32][33]"));
}

#[test]
fn colour_is_asked_for() {
    assert!(!drawn(&["s[lane]"]).contains('\x1b'));
    let picture = drawn(&["s[lane * 2]", "--color", "always"]);
    // One colour escape for a run of cells.
    let row = picture
        .lines()
        .find(|line| line.starts_with("   0  "))
        .expect("lane 0");
    assert_eq!(row.matches("\x1b[0m").count(), 2, "{row:?}");
}

#[test]
fn what_cannot_be_drawn_is_said() {
    refused(&["s[lane"], 1, "missing `]`");
    refused(&["unknown * 4"], 1, "unknown");
    refused(&["s[lane * 100000]"], 2, "out of bounds");
    refused(&["lane * 3"], 2, "misaligned");
    refused(&["lane * 8", "--bytes", "3"], 2, "--bytes 3");
    refused(
        &["s[lane]", "--block", "32x"],
        2,
        "expected the threads of a block",
    );
    refused(&["s[lane]", "--warp", "1"], 2, "--warp 1");
    refused(&["s[lane]", "-D", "1x=3"], 2, "not a macro name");
    refused(
        &["s[lane]", "--array", "int[4]", "--array", "int[8]"],
        2,
        "--array",
    );
}

#[test]
fn pictures_are_files_of_their_own() {
    let folder = root().join("target/tmp/banks");
    fs::create_dir_all(&folder).expect("a folder for the test");
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (page, svg) = (path("a.html"), path("a.svg"));
    drawn(&["s[lane < 4 ? 0 : lane]", "--html", &page, "--svg", &svg]);
    let read = |path: &str| fs::read_to_string(path).expect("it is written");
    for picture in [read(&page), read(&svg)] {
        assert!(
            picture.contains("s[lane &lt; 4 ? 0 : lane]"),
            "what is markup is written out"
        );
        assert!(!picture.contains("lane < 4"));
    }
    let svg = read(&svg);
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
}

#[test]
fn rules_of_a_file_count() {
    let toy = ["--rules", "examples/rules/four_banks.toml"];
    let picture = drawn(&[&["s[lane * 2]"], &toy[..]].concat());
    // Four threads at a time: two conflict in each of two banks.
    assert!(
        picture.ends_with("16 transactions for 1 request (8 would be ideal); worst 2-way\n"),
        "{picture}"
    );
    assert_eq!(lane(&picture, 3), "   3  ··2·");
    assert_eq!(lane(&picture, 4), "   4  3···");
    let wide = ["--rules", "examples/rules/sixty_four_banks.toml"];
    let picture = drawn(&[&["s[lane * 64]", "--array", "int[2048]"], &wide[..]].concat());
    has(&picture, "worst 32-way");
    let picture = drawn(&[&["s[lane * 32]"], &wide[..]].concat());
    has(&picture, "worst 16-way");
    assert_eq!(
        lane(&picture, 1)
            .trim_end()
            .chars()
            .skip(6)
            .position(|c| c != '·'),
        Some(32)
    );
}

#[test]
fn a_file_of_rules_counts_as_the_architecture_it_describes() {
    let counts = |args: &[&str]| {
        let all = [&["run", "examples/transpose.k", "--format", "json"], args].concat();
        let report: serde_json::Value = dslc(&all).json();
        (report["launches"].clone(), report["rules"].clone())
    };
    let (by_arch, none) = counts(&["--arch", "sm_20"]);
    let (by_file, name) = counts(&["--rules", "examples/rules/fermi.toml"]);
    assert_eq!(by_arch, by_file);
    assert_eq!(none, serde_json::Value::Null);
    assert_eq!(name, "examples/rules/fermi.toml");
}

#[test]
fn a_file_of_rules_that_is_none_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("rules.toml");
    for (content, why) in [
        ("banks = 4\n", "unknown field `banks`"),
        (
            "[shared]\nbanks = 3\n",
            "`banks` is a power of two from 1 to 64, not 3",
        ),
        ("[shared]\nbanks = \"many\"\n", "invalid type"),
        ("arch = \"sm_1\"\n", "sm_1"),
        ("[shared\n", "TOML parse error"),
    ] {
        fs::write(&path, content).expect("a file");
        let path = path.to_str().expect("a path");
        refused(&["s[lane]", "--rules", path], 2, why);
    }
    refused(
        &["s[lane]", "--rules", "no/such.toml"],
        2,
        "there is no such file",
    );
}
