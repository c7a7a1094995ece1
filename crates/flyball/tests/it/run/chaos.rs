//! flyball killed at random moments; `cargo xtask chaos --kills 500` is the long form.

use std::path::Path;

use flyball_testkit::chaos;

#[test]
fn whenever_it_is_killed_nothing_is_left_and_a_resume_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_flyball"));
    let done = chaos::run(program, folder.path(), 7, 10).unwrap_or_else(|why| panic!("{why}"));
    assert!(done.kills + done.keeper_kills >= 10 && done.runs >= 1, "{done:?}");
}
