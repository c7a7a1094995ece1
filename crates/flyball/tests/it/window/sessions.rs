//! Sessions of the built-in agent on the first page.

use flyball_testkit::model::Step;

use super::browser::Window;
use crate::session::Talk;

#[test]
fn a_session_outside_of_runs_is_on_the_first_page() {
    let talk = Talk::new(vec![Step::text("All done.")]);
    let window = Window::open(&talk.scenario, &[]);
    assert!(!window.get("/").contains("<h2>Sessions</h2>"));
    // The window is at work all the while.
    let ran = talk.scenario.flyball(&["session", "mend it"]);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let name = ran.stderr.split([' ', ':']).nth(1).unwrap();
    let page = window.get("/");
    assert!(page.contains("<h2>Sessions</h2>") && page.contains(name), "{page}");
    assert!(page.contains("claude-sonnet-4-5"), "{page}");
}
