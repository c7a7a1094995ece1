//! Texts of the shell's, and the programs they start.

use super::*;

fn shown(text: &str) -> Vec<String> {
    let show = |step: Step| {
        let dir = if step.dir.is_empty() { String::new() } else { format!("{}: ", step.dir) };
        let judged = if step.judged { " (judged)" } else { "" };
        let fed = if step.fed { " (fed)" } else { "" };
        let input = step.input.map(|file| format!(" < {file}")).unwrap_or_default();
        format!("{dir}{}{input}{judged}{fed}", step.words.join(" "))
    };
    steps(text, "").into_iter().map(show).collect()
}

#[test]
fn a_text_is_taken_apart_into_the_programs_it_starts() {
    let cases: [(&str, &[&str]); 22] = [
        ("make test", &["make test"]),
        ("sh -e check.sh && ./b.sh; c || d", &["sh -e check.sh", "./b.sh", "c", "d"]),
        ("cd web && npm test\ncd ../x/\nmake", &["web: npm test", "x: make"]),
        ("./greet.sh | grep -q hi", &["./greet.sh (judged)", "grep -q hi"]),
        ("[ \"$(./greet.sh a)\" = hi ]", &["./greet.sh a (judged)", "[ $(./greet.sh a) = hi ]"]),
        ("x=$(./a.sh); y=`./b.sh`", &["./a.sh (judged)", "./b.sh (judged)"]),
        ("cat a.sh | sh", &["cat a.sh (fed)", "sh"]),
        ("cat a.sh | sed s/x/y/ | bash -s", &["cat a.sh (fed)", "sed s/x/y/ (fed)", "bash -s"]),
        ("eval \"$(cat \"a.sh\")\"", &["cat a.sh (fed)", "$(cat \"a.sh\")"]),
        ("bash <(cat a.sh); sh < b.sh", &["cat a.sh (fed)", "bash $", "sh < b.sh"]),
        ("ls a/*.sh | xargs -n1 sh", &["ls a/*.sh (fed)", "xargs -n1 sh"]),
        (". \"$(dirname \"$0\")/a.sh\"", &["dirname $0 (fed)", ". $(dirname \"$0\")/a.sh"]),
        ("./a.sh | python3 check.py", &["./a.sh (judged)", "python3 check.py"]),
        ("./a.sh > out.txt; diff out.txt b", &["./a.sh (judged)", "diff out.txt b"]),
        ("./a.sh >/dev/null 2>&1", &["./a.sh"]),
        ("bash -ec './a.sh; ./b.sh'", &["bash -ec ./a.sh; ./b.sh", "./a.sh", "./b.sh"]),
        ("if ! ./a.sh; then exit 1; fi", &["./a.sh", "exit 1", "fi"]),
        ("FOO=1 env BAR=2 timeout 5 ./a.sh # why", &["./a.sh"]),
        ("npm exec -c './a.sh && b'", &["npm exec -c ./a.sh && b", "./a.sh", "b"]),
        ("uv run pytest -q", &["pytest -q"]),
        ("echo 'a | b' \\\n  c", &["echo a | b c"]),
        ("", &[]),
    ];
    for (text, expected) in cases {
        assert_eq!(shown(text), expected, "{text}");
    }
}

#[test]
fn odd_text_is_survived() {
    for text in ["'", "\"$(", "`", "$(((", "a\\", "((((", "é'ü", "$(a $(b $(c $(d $(e)))))"] {
        shown(text);
    }
    assert_eq!(tidy("./a/../b//c/."), "b/c");
    assert_eq!(tidy("/a/./b"), "/a/b");
}
