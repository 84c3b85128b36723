//! Reports on a schedule: its turns, the late accesses, the picture on a page, and counts that depend on the schedule. Whether the right
//! programs have such findings is tested in `tests/each/scheduling.rs`, effects of weak memory in `tests/each/litmus.rs`.

use std::fs;

use super::support::{dslc, has, root};

fn snapshot(name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(root().join("tests/snapshots/schedules"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, text));
}

#[test]
fn a_late_access_is_told_with_its_cure() {
    let path = "tests/schedules/message_passing.cu";
    let output = dslc(&["run", "--quiet", "--memory", "weak", path]);
    snapshot("message_passing", &output.stderr);
}

#[test]
fn a_load_that_is_done_later_is_told_with_what_came_before_it() {
    let path = "tests/schedules/load_buffering.cu";
    let output = dslc(&["run", "--quiet", "--memory", "weak", path]);
    snapshot("load_buffering", &output.stderr);
}

#[test]
fn two_accesses_of_one_line_are_told_apart() {
    let path = root().join("target/tmp/one_line.cu");
    fs::write(
        &path,
        "__global__ void pass(int *box, int *flag, int *got) {
            if (blockIdx.x == 0) { box[0] = 7; *(volatile int *)flag = 1; }
            else { while (*(volatile int *)flag == 0); *got = box[0]; }
        }
        int main() {
            int *m, h = -1;
            cudaMalloc(&m, 12);
            cudaMemset(m, 0, 12);
            pass<<<2, 1>>>(m, m + 1, m + 2);
            cudaMemcpy(&h, m + 2, 4, cudaMemcpyDeviceToHost);
            cudaFree(m);
            return h != 7;
        }",
    )
    .expect("a program");
    let path = path.to_string_lossy().into_owned();
    let told = dslc(&["run", "--quiet", "--memory", "weak", &path]).stderr;
    let words = told.split_whitespace().filter(|word| *word != "│");
    let told = words.collect::<Vec<_>>().join(" ");
    has(
        &told,
        "a `__threadfence()` between the two accesses of line 2; a `__threadfence()` between the two accesses of line 3",
    );
}

#[test]
fn the_seed_replays_what_is_late() {
    let path = "tests/schedules/message_passing.cu";
    let told = dslc(&["run", "--format", "json", "--memory", "weak", path]).json();
    let mut findings = told["findings"].as_array().expect("findings").iter();
    let found = findings.find(|finding| finding["schedule"].is_object());
    let schedule = &found.expect("it depends on the schedule")["schedule"];
    assert_eq!(schedule["memory"], "weak");
    assert_eq!(schedule["late"].as_array().map(Vec::len), Some(1));
    let name = schedule["name"].as_str().expect("a name");
    let again = || {
        dslc(&[
            "run",
            "--quiet",
            "--schedule",
            name,
            "--memory",
            "weak",
            path,
        ])
        .stdout
    };
    let first = again();
    has(&first, "WRONG");
    assert_eq!(first, again());
    let strong = dslc(&["run", "--quiet", "--schedule", name, path]).stdout;
    has(&strong, "OK");
}

#[test]
fn a_page_draws_the_turns() {
    let page = root().join("target/tmp/turns.html");
    let target = page.to_string_lossy().into_owned();
    let path = "tests/schedules/message_passing.cu";
    dslc(&[
        "run", "--quiet", "--memory", "weak", "--html", &target, path,
    ]);
    let page = fs::read_to_string(page).expect("the page");
    let from = page.find("<svg class=turns").expect("the picture");
    let until = from + page[from..].find("</ul>").expect("its end");
    snapshot("turns", &page[from..until].replace('>', ">\n"));
}

#[test]
fn counts_that_depend_are_told() {
    let path = "tests/schedules/queue_check_then_take.cu";
    let text = dslc(&["run", "--schedules", "20", path]).stdout;
    let from = text
        .find("counts that depend on the schedule")
        .expect("the counts");
    snapshot(
        "counts",
        text[from..].split("\n\n").next().unwrap_or_default(),
    );
}

#[test]
fn memory_is_a_size_or_an_order() {
    let path = "tests/schedules/message_passing_fenced.cu";
    let both = ["run", "--quiet", "--memory", "1G", "--memory", "weak", path];
    assert_eq!(dslc(&both).code, Some(0));
    let neither = dslc(&["run", "--memory", "lazy", path]);
    assert_eq!(neither.code, Some(2));
    has(&neither.stderr, "lazy");
}
