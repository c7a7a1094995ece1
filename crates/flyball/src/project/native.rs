//! `CMake` and Meson: configured, built and tested in `build/`.

use super::{Look, Proposal};

pub(super) fn detect_cmake(look: &Look<'_>) -> Option<Vec<Proposal>> {
    let text = look.read("CMakeLists.txt")?;
    // A list without a project is a part of another.
    let said = text.to_lowercase().replace(' ', "");
    if !said.contains("project(") {
        return None;
    }
    let build = "cmake -S . -B build && cmake --build build";
    let has_tests = ["enable_testing()", "include(ctest)"].iter().any(|word| said.contains(word));
    // One gate for both: the tests are built in the same folder.
    let mut proposal = if has_tests {
        let line = format!("{build} && ctest --test-dir build --output-on-failure");
        Proposal::new("tests", &line, "CMakeLists.txt with tests")
    } else {
        Proposal::new("build", build, "CMakeLists.txt")
    };
    if !ignores_build(look) {
        proposal.unready = Some("git would take what is built in `build/` for work".to_owned());
        proposal.remedy = Some("echo /build/ >> .gitignore".to_owned());
    }
    Some(vec![proposal])
}

pub(super) fn detect_meson(look: &Look<'_>) -> Option<Vec<Proposal>> {
    const LEVELS: usize = 3;
    let text = look.read("meson.build")?;
    if !text.contains("project(") {
        return None;
    }
    // Meson itself tells git to ignore the folder.
    let setup = "{ test -d build || meson setup build; }";
    let lists = look.files_within(LEVELS, |name| name == "meson.build");
    let tests = |text: String| text.lines().any(|line| line.trim_start().starts_with("test("));
    let has_tests = lists.iter().filter_map(|name| look.read(name)).any(tests);
    let proposal = if has_tests {
        let line = format!("{setup} && meson test -C build --print-errorlogs");
        Proposal::new("tests", &line, "meson.build with tests")
    } else {
        Proposal::new("build", &format!("{setup} && meson compile -C build"), "meson.build")
    };
    Some(vec![proposal.with_program("meson")])
}

/// Whether git ignores `build/`, as far as the files say that are usual.
fn ignores_build(look: &Look<'_>) -> bool {
    let names =
        ["build", "/build", "build*", "/build*", "*build*", "build/*", "/build/*", "[Bb]uild"];
    look.upwards().any(|(_, above)| {
        let text = above.read(".gitignore").unwrap_or_default();
        text.lines().any(|line| names.contains(&line.trim().trim_end_matches('/')))
    }) || look.read("build/.gitignore").is_some()
}
