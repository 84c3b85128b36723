//! Tests the page in Chromium, over the DevTools protocol: a pipe with JSON messages that end with a zero byte.
//!
//! Without a browser these tests say so and pass.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::Duration,
};

use serde_json::{Value, json};

use super::{folder, page};

const NAMES: [&str; 4] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
];
/// How long a busy machine may take for one answer.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// A browser with one page.
struct Browser {
    child: Child,
    to: ChildStdin,
    from: Receiver<Value>,
    session: String,
    last: u64,
    /// Events that it sent.
    events: Vec<Value>,
    profile: PathBuf,
}

/// The installed browser.
fn installed() -> Option<PathBuf> {
    let folders = env::var_os("PATH")?;
    let found = env::split_paths(&folders).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    found.into_iter().find(|path| path.is_file())
}

impl Browser {
    /// Starts the browser, if one is installed.
    fn start(name: &str) -> Option<Browser> {
        let Some(path) = installed() else {
            #[expect(clippy::print_stderr, reason = "a test that did nothing has to say so")]
            {
                eprintln!("SKIPPED: no Chromium in PATH ({})", NAMES.join(", "));
            }
            return None;
        };
        let profile = folder().join(format!("profile-{name}-{}", std::process::id()));
        // The pipe is on the descriptors 3 and 4.
        let mut command = Command::new("sh");
        command.args([
            "-c",
            "exec \"$@\" 3<&0 4>&1 </dev/null >/dev/null 2>&1",
            "sh",
        ]);
        command.arg(path).args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
            "--disable-background-networking",
            "--window-size=1200,900",
            "--remote-debugging-pipe",
        ]);
        command.arg(format!("--user-data-dir={}", profile.display()));
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("it is piped");
        let mut out = BufReader::new(child.stdout.take().expect("it is piped"));
        let (send, from) = mpsc::channel();
        thread::spawn(move || {
            let mut message = vec![];
            while out.read_until(0, &mut message).is_ok_and(|bytes| bytes > 0) {
                message.pop();
                let Ok(value) = serde_json::from_slice(&message) else {
                    return;
                };
                if send.send(value).is_err() {
                    return;
                }
                message.clear();
            }
        });
        let mut browser = Browser {
            child,
            to,
            from,
            session: String::new(),
            last: 0,
            events: vec![],
            profile,
        };
        let target = browser.call("Target.createTarget", json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = browser.call("Target.attachToTarget", attach);
        browser.session = session["sessionId"]
            .as_str()
            .expect("a session")
            .to_string();
        for domain in ["Page", "Runtime", "Log", "Network"] {
            browser.call(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a request and waits for the answer.
    fn call(&mut self, method: &str, params: Value) -> Value {
        self.last += 1;
        let mut message = json!({ "id": self.last, "method": method, "params": params });
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to.write_all(&bytes).expect("the browser listens");
        loop {
            let answer = self.next(method);
            if answer["id"] == json!(self.last) {
                assert!(answer.get("error").is_none(), "{method}: {answer}");
                return answer["result"].clone();
            }
        }
    }

    fn next(&mut self, what: &str) -> Value {
        let message = self.from.recv_timeout(TIME_LIMIT);
        let message =
            message.unwrap_or_else(|error| panic!("{what}: the browser says nothing: {error}"));
        if message.get("method").is_some() {
            self.events.push(message.clone());
        }
        message
    }

    /// Opens a page and waits until it is loaded.
    fn open(&mut self, path: &Path, part: &str) {
        let seen = self.events.len();
        // A link within the open page would load nothing.
        self.call("Page.navigate", json!({ "url": "about:blank" }));
        self.wait("Page.loadEventFired", seen);
        let seen = self.events.len();
        self.call(
            "Page.navigate",
            json!({ "url": format!("file://{}{part}", path.display()) }),
        );
        self.wait("Page.loadEventFired", seen);
    }

    fn wait(&mut self, event: &str, seen: usize) {
        while !self.events[seen..]
            .iter()
            .any(|known| known["method"] == event)
        {
            self.next(event);
        }
    }

    /// The value of an expression.
    fn eval(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "returnByValue": true });
        let result = self.call("Runtime.evaluate", params);
        assert!(
            result.get("exceptionDetails").is_none(),
            "{expression}: {result}"
        );
        result["result"]["value"].clone()
    }

    fn text(&mut self, expression: &str) -> String {
        self.eval(expression)
            .as_str()
            .unwrap_or_default()
            .to_string()
    }

    /// Waits until an expression holds.
    fn until(&mut self, expression: &str) {
        for _ in 0..2400 {
            if self.eval(expression) == json!(true) {
                return;
            }
            thread::sleep(Duration::from_millis(25));
        }
        let now = self.text("location.hash");
        panic!("{expression} is not so; at {now}");
    }

    /// Clicks the middle of an element.
    fn click(&mut self, selector: &str) {
        let at = self.eval(&format!(
            "(() => {{ const e = document.querySelector({selector:?}); e.scrollIntoView({{ block: 'center' }}); const r = e.getBoundingClientRect(); \
             return [r.x + r.width / 2, r.y + r.height / 2]; }})()"
        ));
        for kind in ["mousePressed", "mouseReleased"] {
            let params =
                json!({ "type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", params);
        }
    }

    fn key(&mut self, key: &str) {
        for kind in ["keyDown", "keyUp"] {
            let params = json!({ "type": kind, "key": key, "text": if kind == "keyDown" { key } else { "" } });
            self.call("Input.dispatchKeyEvent", params);
        }
    }

    /// Checks that there was no error, and that nothing but the page was requested.
    fn is_clean(&self) {
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Runtime.exceptionThrown" | "Log.entryAdded" | "Runtime.consoleAPICalled" => {
                    panic!("the console says: {params}")
                }
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    let is_own = url.starts_with("file://") && url.contains(".html");
                    assert!(
                        is_own || url.starts_with("data:") || url.starts_with("about:"),
                        "it asks for {url}"
                    );
                }
                _ => {}
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        // The process may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.profile);
    }
}

const BACKGROUND: &str = "getComputedStyle(document.body).backgroundColor";
const LIGHT: &str = "rgb(255, 255, 255)";
const DARK: &str = "rgb(20, 22, 26)";

#[test]
fn the_page_works_in_a_browser() {
    let Some(mut browser) = Browser::start("works") else {
        return;
    };
    page("driven.html", &["examples/transpose.k"]);
    let path = folder().join("driven.html");
    browser.open(&path, "");
    // One metric at a time.
    let shown = "[...document.querySelectorAll('#L48 .c')].filter((cell) => cell.checkVisibility()).map((cell) => cell.textContent).join()";
    assert_eq!(browser.text(shown), "3968");
    browser.click("label[for=actual]");
    assert_eq!(browser.text(shown), "4608");
    browser.click("label[for=ideal]");
    assert_eq!(browser.text(shown), "640");
    browser.click("label[for=excess]");
    // The lines that waste, one after the other, and from the last to the first.
    let hash = "location.hash";
    for (key, line) in [
        ("n", 21),
        ("n", 29),
        ("n", 48),
        ("p", 29),
        ("p", 21),
        ("p", 48),
        ("n", 21),
    ] {
        browser.key(key);
        browser.until(&format!("location.hash === '#L{line}'"));
    }
    browser.until("(() => { const r = document.querySelector('#L21').getBoundingClientRect(); return r.top > 40 && r.bottom < innerHeight; })()");
    // From a count to its access, which opens the launch.
    browser.click("#L48 .x a");
    browser.until("location.hash.startsWith('#site-3-')");
    browser.until("document.querySelector(location.hash).checkVisibility() && document.querySelector('#launch-3').open");
    // From a hot spot to its line.
    browser.click("#spot-2 h3 a");
    browser.until("location.hash === '#L48'");
    assert_eq!(browser.text(hash), "#L48");
    // In print there is nothing to click.
    let bar = "document.querySelector('.bar').checkVisibility()";
    assert_eq!(browser.eval(bar), json!(true));
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "print" }));
    assert_eq!(browser.eval(bar), json!(false));
    browser.call("Emulation.setEmulatedMedia", json!({ "media": "" }));
    // A link from outside.
    browser.open(&path, "#site-3-0");
    browser.until("document.querySelector('#site-3-0').checkVisibility()");
    browser.is_clean();
}

#[test]
fn light_and_dark_follow_the_system_and_the_reader() {
    let Some(mut browser) = Browser::start("dark") else {
        return;
    };
    page("dark.html", &["tests/screen/missing_barriers.k"]);
    browser.open(&folder().join("dark.html"), "");
    let prefer =
        |value: &str| json!({ "features": [{ "name": "prefers-color-scheme", "value": value }] });
    browser.call("Emulation.setEmulatedMedia", prefer("light"));
    assert_eq!(browser.text(BACKGROUND), LIGHT);
    browser.call("Emulation.setEmulatedMedia", prefer("dark"));
    assert_eq!(browser.text(BACKGROUND), DARK);
    browser.click("label[for=light]");
    assert_eq!(browser.text(BACKGROUND), LIGHT);
    browser.click("label[for=dark]");
    browser.call("Emulation.setEmulatedMedia", prefer("light"));
    assert_eq!(browser.text(BACKGROUND), DARK);
    browser.is_clean();
}

#[test]
fn nothing_is_cut_off_on_a_narrow_screen_and_without_javascript() {
    let Some(mut browser) = Browser::start("narrow") else {
        return;
    };
    page("narrow.html", &["tests/page/small.k"]);
    browser.call(
        "Emulation.setScriptExecutionDisabled",
        json!({ "value": true }),
    );
    let size = json!({ "width": 360, "height": 740, "deviceScaleFactor": 1, "mobile": true });
    browser.call("Emulation.setDeviceMetricsOverride", size);
    browser.open(&folder().join("narrow.html"), "");
    assert_eq!(
        browser.eval("document.documentElement.scrollWidth"),
        json!(360)
    );
    // The metrics can be selected without a script.
    let shown = "document.querySelector('#L7 .a').checkVisibility()";
    assert_eq!(browser.eval(shown), json!(false));
    browser.click("label[for=actual]");
    assert_eq!(browser.eval(shown), json!(true));
    browser.is_clean();
}

#[test]
fn what_a_program_says_runs_nothing() {
    let Some(mut browser) = Browser::start("safe") else {
        return;
    };
    let program = super::file(
        "y<img src=x onerror=alert(1)>.k",
        "// </td></table><script>document.title = 'broken'</script>\n#include <stdio.h>\nint main() { printf(\"</pre><script>document.title = 'broken'</script>\\n\"); }\n",
    );
    page("safe.html", &[&program]);
    browser.open(&folder().join("safe.html"), "");
    assert!(browser.text("document.title").ends_with(" – dslc"));
    assert_eq!(browser.eval("document.images.length"), json!(0));
    assert_eq!(browser.eval("document.scripts.length"), json!(1));
    assert!(
        browser
            .text("document.querySelector('pre.out').textContent")
            .contains("<script>document.title")
    );
    browser.is_clean();
}
