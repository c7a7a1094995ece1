//! What those print who could not run or gave up, in as few lines as show it.

use super::shapes::{all, parse};
use crate::FindingKind;

#[test]
fn who_could_not_run_says_where() {
    for (command, output, want) in [
        (
            "make -f bad.mk",
            "bad.mk:2: *** missing separator.  Stop.\n",
            "|bad.mk:2|bad.mk:2: *** missing separator.  Stop.",
        ),
        (
            "make lint",
            "Makefile:4: *** missing separator.  Stop.\n",
            "|Makefile:4|Makefile:4: *** missing separator.  Stop.",
        ),
        (
            "turbo run test",
            "turbo_json_parse_error\n\n  x Failed to parse turbo.json.\n  `->   x Found an unknown key `dependOn`.\n\
             \u{20}        ,-[turbo.json:3:15]\n       2 |   \"tasks\": {\n",
            "|turbo.json:3:15|`->   x Found an unknown key `dependOn`.",
        ),
        (
            "make lint",
            "ruff check .\nruff failed\n  Cause: Failed to parse /p/ruff.toml\n  Cause: TOML parse error at line 1, \
             column 15\n  |\n1 | line-length = \"long\"\n\nmake: *** [Makefile:2: lint] Error 2\n",
            "||ruff failed: Failed to parse /p/ruff.toml: TOML parse error at line 1, column 15",
        ),
        (
            "go test ./...",
            "x.go:3:8: missing go.sum entry for module providing package example.com/u; to add:\n\tgo get example.com/x\n",
            "|x.go:3:8|x.go:3:8: missing go.sum entry for module providing package example.com/u; to add: go get example.com/x",
        ),
        (
            "just test",
            "error: expected '*', ':', or '+', but found end of line\n \u{2014}\u{2014}\u{25b6} justfile:4:10\n  \u{2502}\n\
             4 \u{2502} lint args\n  \u{2502}          ^\n",
            "|justfile:4:10|error: expected '*', ':', or '+', but found end of line",
        ),
        (
            "make vet",
            "go vet ./...\ngo: errors parsing go.mod:\n/p/go.mod:3: unknown directive: goo\n",
            "|/p/go.mod:3|go: errors parsing go.mod: /p/go.mod:3: unknown directive: goo",
        ),
        (
            "python tools/gen.py",
            "Traceback (most recent call last):\n  File \"/p/gen.py\", line 3, in <module>\n    import zz\n\
             ModuleNotFoundError: No module named 'zz'\n",
            "|/p/gen.py:3|ModuleNotFoundError: No module named 'zz'",
        ),
        (
            "pnpm test",
            "Error: ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND\n\n  \u{d7} No package.json was found in \"/p\"\n",
            "||Error: ERR_PNPM_NO_IMPORTER_MANIFEST_FOUND: No package.json was found in \"/p\"",
        ),
        (
            "behave specs",
            "USING RUNNER: x\nConfigError: No steps directory in '/p/specs'\n",
            "||ConfigError: No steps directory in '/p/specs'",
        ),
    ] {
        let parsed = parse(command, output);
        assert!(parsed.findings.iter().all(|f| f.kind == FindingKind::CouldNotRun), "{command}");
        assert_eq!(all(command, output), [want], "{command}");
    }
}

#[test]
fn a_script_that_python_cannot_read_checks_nothing() {
    let output = "  File \"run_tests.py\", line 3\n    if (n := 1) > 1:\n          ^\nSyntaxError: invalid syntax\n";
    let parsed = parse("python3.6 run_tests.py", output);
    assert_eq!(
        all("python3.6 run_tests.py", output),
        ["|run_tests.py:3|SyntaxError: invalid syntax"]
    );
    assert_eq!(parsed.findings[0].kind, FindingKind::Compile);
}

#[test]
fn an_error_nobody_caught_is_of_the_test_that_tape_began_last() {
    let tape = "TAP version 13\n# adds\nok 1 should be equal\n# nested\n/p/index.js:32\n\tvar space = (opts || \
                opts.space);\n\t                          ^\n\nTypeError: no space\n    at stringify \
                (/p/index.js:32:28)\n    at Test.<anonymous> (/p/test/nested.js:9:10)\n\nNode.js v20.20.2\n";
    assert_eq!(all("tape test/*.js", tape), ["nested|/p/index.js:32:28|TypeError: no space"]);
}

#[test]
fn who_gave_up_is_told_with_its_last_words() {
    let go = "2026/11/18 21:17:49 DSN is not set\nFAIL\texample.org/store\t0.002s\nFAIL\n";
    let want = "||the test program ended with exit status 1 and no test failed: 2026/11/18 21:17:49 DSN is not set";
    assert_eq!(all("go test ./store", go), [want]);
    let prove = "stack is empty\n# Looks like your test exited with 255 just after 1.\nt/die.t .... \n\
                 Dubious, test returned 255 (wstat 65280, 0xff00)\nFailed 2/3 subtests \n\nTest Summary Report\n\
                 -------------------\nt/die.t   (Wstat: 65280 (exited 255) Tests: 1 Failed: 0)\n  \
                 Non-zero exit status: 255\nFiles=1, Tests=1,  0 wallclock secs\nResult: FAIL\n";
    assert_eq!(all("prove", prove), ["t/die.t|t/die.t|stack is empty\nNon-zero exit status: 255"]);
}
