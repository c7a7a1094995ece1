//! What a run has started cannot act on a run through the page, whatever it got hold of.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use super::browser::Window;
use crate::scenario::Scenario;

const TOKEN: &str = "0123456789abcdef0123456789abcdef";

/// Asks the window to stop a run, with a token that is right.
const ASKS: &str = r#"
import os, sys, urllib.request, urllib.error
url, = open(os.environ["OUT"] + "/address").read().split()
request = urllib.request.Request(url, data=b"{}", method="POST", headers={
    "authorization": "Bearer 0123456789abcdef0123456789abcdef", "content-type": "application/json"})
try:
    print(urllib.request.urlopen(request).status)
except urllib.error.HTTPError as error:
    print(error.status, error.read().decode())
"#;

#[test]
fn an_agent_that_has_the_token_is_refused_and_the_attempt_is_written_down() {
    let inside = "echo up > $OUT/up; while ! test -e $OUT/address; do sleep 0.05; done\n\
                  python3 $OUT/asks.py > $OUT/plain 2>&1\n\
                  (setsid env -u FLYBALL_RUN python3 $OUT/asks.py > $OUT/hidden 2>&1)\n\
                  work; pass a; pass b; say '<promise>COMPLETE</promise>'";
    let scenario = Scenario::new().committed().agent(inside);
    let file = scenario.outside("token");
    fs::write(&file, TOKEN).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
    fs::write(scenario.outside("asks.py"), ASKS).unwrap();
    let file = file.to_string_lossy().into_owned();
    let window = Window::open(&scenario, &["--token-file", &file, "--token-writes"]);
    let running = scenario.spawn();
    scenario.until_told("up", "up");
    let run = scenario.last_run().run.to_string();
    let address = format!("http://127.0.0.1:{}/api/runs/{run}/stop", window.port);
    fs::write(scenario.outside("address.new"), &address).unwrap();
    fs::rename(scenario.outside("address.new"), scenario.outside("address")).unwrap();
    assert_eq!(running.wait().code, 0, "nobody stopped it");
    for name in ["plain", "hidden"] {
        let said = scenario.told(name);
        assert!(said.starts_with("403 ") && said.contains("does not act here"), "{name}: {said}");
    }
    let acts = window.json(&format!("/api/runs/{run}/acts"));
    let attempts = acts["acts"].as_array().unwrap();
    assert_eq!(attempts.len(), 2, "{acts}");
    for attempt in attempts {
        assert_eq!((&attempt["act"], &attempt["result"]), (&"attempt".into(), &"refused".into()));
    }
    // The same from outside is an act like any other: it comes too late.
    let asked = scenario.program("python3").arg(scenario.outside("asks.py")).output().unwrap();
    let said = String::from_utf8_lossy(&asked.stdout).into_owned();
    assert!(said.starts_with("409 "), "{said}");
}
