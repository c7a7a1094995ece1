//! What of a makefile reaches a check, and what does not.

use super::*;

fn compare(before: &[(&str, &str)], after: &[(&str, &str)]) -> Vec<String> {
    let read = |files: &[(&str, &str)]| {
        let file = |path: &str| {
            files.iter().find(|(name, _)| *name == path).map(|(_, text)| (*text).to_owned())
        };
        Makefile::read(Maker::Make, "", None, &file).unwrap()
    };
    let (before, after) = (read(before), read(after));
    let found = differences(&before, &after, &["test".to_owned()]);
    found.into_iter().map(|one| format!("`{}` {}", one.name, one.how)).collect()
}

#[test]
fn what_reaches_the_check_is_found_and_the_rest_is_free() {
    let test = "test:\n\t$(RUN) tests\n";
    let of = |head: &str| format!("{head}{test}");
    let run = of("RUN = pytest\n");
    let cases = [
        (run.clone(), of("RUN = true\n"), 1),
        (run.clone(), of("RUN = pytest\nOTHER = 1\n"), 0),
        (run.clone(), of("RUN = pytest\nSHELL = /bin/true\n"), 1),
        (run.clone(), of("RUN = pytest\nexport PYTEST_ADDOPTS := -k x\n"), 1),
        (run.clone(), of("RUN = pytest\n.IGNORE:\n"), 1),
        (run.clone(), of("RUN = pytest\ntest: RUN = true\n"), 1),
        (run.clone(), of("RUN = pytest\nifdef CI\nendif\n"), 1),
        (run.clone(), format!("{run}deploy:\n\tscp a b\n"), 0),
        (run.clone(), format!("{run}test:\n\ttrue\n"), 1),
        (run, of("RUN = pytest -k none\n"), 1),
        (of("A = pytest\nRUN = $(A)\n"), of("A = true\nRUN = $(A)\n"), 1),
        (of(".PHONY: test\n"), of(".PHONY: all\n"), 1),
        (
            "S = a.c\ntest: b\n\t./b\nb:\n\tcc $(S)\n".into(),
            "S = b.c\ntest: b\n\t./b\nb:\n\tcc $(S)\n".into(),
            0,
        ),
        (
            "T = a.bats\ntest:\n\tbats $(T)\n".into(),
            "T = a.bats b.bats\ntest:\n\tbats $(T)\n".into(),
            0,
        ),
        (
            "T = a.bats b.bats\ntest:\n\tbats $(T)\n".into(),
            "T = a.bats\ntest:\n\tbats $(T)\n".into(),
            1,
        ),
    ];
    for (before, after, expected) in cases {
        let found = compare(&[("Makefile", &before)], &[("Makefile", &after)]);
        assert_eq!(found.len(), expected, "{before} → {after}: {found:?}");
    }
}

#[test]
fn includes_are_read_and_the_right_file_counts() {
    let main = "include ci/vars.mk\ntest:\n\t$(RUN)\n";
    let found = compare(
        &[("Makefile", main), ("ci/vars.mk", "RUN = pytest\n")],
        &[("Makefile", main), ("ci/vars.mk", "RUN = true\n")],
    );
    assert_eq!(found, ["`RUN` was changed from `pytest` to `true`"]);
    let found = compare(
        &[("Makefile", "test:\n\tpytest\n")],
        &[("Makefile", "test:\n\tpytest\n"), ("GNUmakefile", "test:\n\ttrue\n")],
    );
    assert_eq!(found, ["`test` was changed from `pytest` to `true`"]);
    let circle = compare(
        &[("Makefile", "include Makefile\ntest:\n\ta\n")],
        &[("Makefile", "include x.mk\ntest:\n\ta\n"), ("x.mk", "test:\n\ttrue\n")],
    );
    assert_eq!(circle.len(), 0, "the later rule counts");
}
