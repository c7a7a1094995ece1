//! Tools that watch or mend as they are called, and how they are called to check once.

use super::Fault::{self, Edits, Watches};
use super::line::Word;

/// What one tool does with some arguments, and what makes a check of it.
struct Rule {
    /// Names of programs; none for every program.
    tools: &'static [&'static str],
    /// Its first argument that is no option; none for whatever there is.
    subcommands: &'static [&'static str],
    when: When,
    fault: Fault,
    /// How it is called instead; nothing where no such way is known.
    edits: &'static [Edit],
}

/// The arguments a rule is about.
#[derive(Clone, Copy)]
enum When {
    Always,
    Has(&'static [&'static str]),
    Lacks(&'static [&'static str]),
    HasNoArguments,
}

/// A change of a command.
#[derive(Clone, Copy)]
enum Edit {
    /// Without these.
    Drop(&'static [&'static str]),
    /// This at its end.
    Append(&'static str),
    /// This right behind the program.
    AfterTool(&'static str),
    /// This right behind the subcommand.
    AfterSubcommand(&'static str),
    /// Another subcommand; none when it is empty.
    Subcommand(&'static str),
    /// Another program.
    Tool(&'static str),
    /// Another word in the place of this one.
    Swap(&'static str, &'static str),
    /// Something else altogether.
    Whole(&'static str),
    /// `--noEmit`, unless the compiler is called to write something.
    ChecksTypes,
    /// What it prints must be empty.
    PrintsNothing,
}

use Edit::{
    AfterSubcommand, AfterTool, Append, ChecksTypes, Drop, PrintsNothing, Subcommand, Swap, Tool,
    Whole,
};
use When::{Always, Has, HasNoArguments, Lacks};

const fn rule(
    (tools, subcommands): (&'static [&'static str], &'static [&'static str]),
    when: When,
    fault: Fault,
    edits: &'static [Edit],
) -> Rule {
    Rule { tools, subcommands, when, fault, edits }
}

/// Programs that only say something: what they are given are words.
const SPEAKERS: [&str; 6] = ["echo", "printf", "grep", "git", "test", "["];

const WATCH: &[&str] = &["--watch", "-w", "--ui"];
const WATCH_ANY: &[&str] =
    &["--watch", "--watchAll", "--watch-all", "--watch-path=", "--looponfail"];
const FIX: &[&str] = &["--fix", "--autofix", "--auto-fix", "--fix-only", "--unsafe-fixes"];
const SNAPSHOTS: &[&str] =
    &["--updateSnapshot", "--update-snapshots", "--update-snapshot", "--snapshot-update"];
const BIOME: &[&str] = &["--write", "--apply", "--apply-unsafe", "--unsafe", "--fix"];
const CARGO_FIX: &[&str] = &["--fix", "--allow-dirty", "--allow-staged", "--allow-no-vcs"];
const RUBOCOP: &[&str] =
    &["-a", "-A", "--autocorrect", "--autocorrect-all", "--auto-correct", "--auto-correct-all"];
const IN_PLACE: &[&str] = &["-i", "--in-place"];

/// All of them; the first that fits counts, and then those that fit what it made.
const RULES: [Rule; 69] = [
    rule((&["vitest"], &["watch", "dev"]), Always, Watches, &[Subcommand("run")]),
    rule(
        (&["vitest"], &[]),
        Lacks(&["run", "related", "list", "bench", "init", "--run", "--watch=false", "--no-watch"]),
        Watches,
        &[Drop(WATCH), AfterTool("run")],
    ),
    rule((&["vitest"], &[]), Has(&["-u", "--update"]), Edits, &[Drop(&["-u", "--update"])]),
    rule((&["jest", "ava", "playwright"], &[]), Has(&["-u"]), Edits, &[Drop(&["-u"])]),
    rule((&["tsc", "vue-tsc"], &[]), Has(&["--watch", "-w"]), Watches, &[Drop(WATCH), ChecksTypes]),
    rule((&["webpack"], &["serve", "s"]), Always, Watches, &[]),
    rule(
        (
            &[
                "rollup",
                "webpack",
                "tsup",
                "sass",
                "mocha",
                "ava",
                "swc",
                "tap",
                "playwright",
                "tailwindcss",
                "vite",
            ],
            &[],
        ),
        Has(&["-w", "--ui"]),
        Watches,
        &[Drop(WATCH)],
    ),
    rule((&["node"], &[]), Has(&["--watch-path="]), Watches, &[]),
    rule(
        (&["ng"], &["test"]),
        Lacks(&["--watch=false", "--no-watch"]),
        Watches,
        &[Drop(WATCH), Append("--watch=false")],
    ),
    rule((&["karma"], &["start"]), Lacks(&["--single-run"]), Watches, &[Append("--single-run")]),
    rule((&["cypress"], &["open"]), Always, Watches, &[Subcommand("run")]),
    rule(
        (
            &[
                "nodemon",
                "tsc-watch",
                "ts-node-dev",
                "watchexec",
                "entr",
                "chokidar",
                "onchange",
                "ptw",
                "pytest-watch",
                "pytest_watch",
                "webpack-dev-server",
                "live-server",
                "watch",
                "fswatch",
                "cargo-watch",
                "bacon",
                "guard",
            ],
            &[],
        ),
        Always,
        Watches,
        &[],
    ),
    rule((&["vite", "parcel"], &[]), HasNoArguments, Watches, &[]),
    rule(
        (
            &[
                "vite",
                "next",
                "astro",
                "nuxt",
                "remix",
                "svelte-kit",
                "parcel",
                "gulp",
                "grunt",
                "nx",
                "ng",
                "cargo",
                "tsx",
                "vue-cli-service",
            ],
            &["dev", "serve", "watch", "preview"],
        ),
        Always,
        Watches,
        &[],
    ),
    rule((&["turbo"], &["watch"]), Always, Watches, &[Subcommand("run")]),
    rule((&["dotnet"], &["watch"]), Always, Watches, &[Subcommand("")]),
    rule((&["mix"], &["test.watch"]), Always, Watches, &[Subcommand("test")]),
    rule(
        (&["gradle", "gradlew"], &[]),
        Has(&["--continuous", "-t"]),
        Watches,
        &[Drop(&["--continuous", "-t"])],
    ),
    rule(
        (&["sbt"], &[]),
        Has(&["~test", "~testQuick", "~compile"]),
        Watches,
        &[Swap("~test", "test"), Swap("~testQuick", "test"), Swap("~compile", "compile")],
    ),
    rule((&["pytest"], &[]), Has(&["-f"]), Watches, &[Drop(&["-f"])]),
    rule((&["tail"], &[]), Has(&["-f", "-F", "--follow"]), Watches, &[]),
    rule((&["inotifywait"], &[]), Has(&["-m", "--monitor"]), Watches, &[]),
    rule((&["cargo"], &["fix"]), Always, Edits, &[]),
    rule((&["cargo"], &["fmt"]), Lacks(&["--check"]), Edits, &[AfterSubcommand("--check")]),
    rule((&["cargo"], &["clippy"]), Has(&["--fix"]), Edits, &[Drop(CARGO_FIX)]),
    rule((&["biome"], &[]), Has(BIOME), Edits, &[Drop(BIOME)]),
    rule(
        (&["prettier"], &[]),
        Has(&["--write", "-w"]),
        Edits,
        &[Drop(&["--write", "-w", "--check", "-c"]), AfterTool("--check")],
    ),
    rule((&["gts"], &["fix"]), Always, Edits, &[Subcommand("lint")]),
    rule(
        (&["vue-cli-service"], &["lint"]),
        Lacks(&["--no-fix"]),
        Edits,
        &[Drop(FIX), Append("--no-fix")],
    ),
    rule(
        (&["ruff"], &["format"]),
        Lacks(&["--check", "--diff"]),
        Edits,
        &[AfterSubcommand("--check")],
    ),
    rule(
        (&["black"], &[]),
        Lacks(&["--check", "--diff", "--version"]),
        Edits,
        &[AfterTool("--check")],
    ),
    rule(
        (&["isort"], &[]),
        Lacks(&["--check", "--check-only", "-c", "--diff"]),
        Edits,
        &[AfterTool("--check-only")],
    ),
    rule((&["yapf"], &[]), Has(IN_PLACE), Edits, &[Drop(IN_PLACE), Append("--diff")]),
    rule(
        (&["autopep8"], &[]),
        Has(IN_PLACE),
        Edits,
        &[Drop(IN_PLACE), Append("--exit-code --diff")],
    ),
    rule(
        (&["autoflake", "docformatter"], &[]),
        Has(IN_PLACE),
        Edits,
        &[Drop(IN_PLACE), Append("--check")],
    ),
    rule((&["pyupgrade"], &[]), Always, Edits, &[]),
    rule(
        (&["djlint"], &[]),
        Has(&["--reformat"]),
        Edits,
        &[Drop(&["--reformat"]), Append("--check")],
    ),
    rule(
        (&["mdformat", "stylua", "gersemi", "nixfmt"], &[]),
        Lacks(&["--check"]),
        Edits,
        &[Append("--check")],
    ),
    rule((&["taplo"], &["fmt", "format"]), Lacks(&["--check"]), Edits, &[Append("--check")]),
    rule((&["rubocop", "standardrb"], &[]), Has(RUBOCOP), Edits, &[Drop(RUBOCOP)]),
    rule((&["shfmt"], &[]), Has(&["-w"]), Edits, &[Drop(&["-w", "-d"]), AfterTool("-d")]),
    rule((&["dprint"], &["fmt"]), Always, Edits, &[Subcommand("check")]),
    rule(
        (&["terraform", "tofu"], &["fmt"]),
        Lacks(&["-check"]),
        Edits,
        &[AfterSubcommand("-check")],
    ),
    rule(
        (&["mix"], &["format"]),
        Lacks(&["--check-formatted"]),
        Edits,
        &[Append("--check-formatted")],
    ),
    rule(
        (&["dotnet"], &["format"]),
        Lacks(&["--verify-no-changes"]),
        Edits,
        &[Append("--verify-no-changes")],
    ),
    rule((&["deno", "zig"], &["fmt"]), Lacks(&["--check"]), Edits, &[AfterSubcommand("--check")]),
    rule(
        (&["dart"], &["format"]),
        Lacks(&["--set-exit-if-changed"]),
        Edits,
        &[AfterSubcommand("--output=none --set-exit-if-changed")],
    ),
    rule((&["dart"], &["fix"]), Has(&["--apply"]), Edits, &[]),
    rule((&["go"], &["fmt"]), Always, Edits, &[Whole("test -z \"$(gofmt -l .)\"")]),
    rule((&["go"], &["fix"]), Always, Edits, &[]),
    rule(
        (&["gofmt", "goimports", "gofumpt"], &[]),
        Has(&["-w"]),
        Edits,
        &[Drop(&["-w", "-l"]), AfterTool("-l"), PrintsNothing],
    ),
    rule((&["rustfmt"], &[]), Lacks(&["--check"]), Edits, &[AfterTool("--check")]),
    rule(
        (&["clang-format"], &[]),
        Has(&["-i"]),
        Edits,
        &[Drop(&["-i"]), AfterTool("--dry-run -Werror")],
    ),
    rule(
        (&["swift-format"], &[]),
        Has(IN_PLACE),
        Edits,
        &[Drop(IN_PLACE), AfterTool("lint --strict")],
    ),
    rule((&["swiftformat"], &[]), Lacks(&["--lint"]), Edits, &[Append("--lint")]),
    rule((&["ktlint"], &[]), Has(&["-F", "--format"]), Edits, &[Drop(&["-F", "--format"])]),
    rule((&["scalafmt"], &[]), Lacks(&["--test", "--check", "--list"]), Edits, &[Append("--test")]),
    rule(
        (&["gradle", "gradlew"], &[]),
        Has(&["spotlessApply"]),
        Edits,
        &[Swap("spotlessApply", "spotlessCheck")],
    ),
    rule(
        (&["mvn", "mvnw"], &[]),
        Has(&["spotless:apply"]),
        Edits,
        &[Swap("spotless:apply", "spotless:check")],
    ),
    rule((&["detekt"], &[]), Has(&["--auto-correct"]), Edits, &[Drop(&["--auto-correct"])]),
    rule((&["php-cs-fixer"], &["fix"]), Lacks(&["--dry-run"]), Edits, &[Append("--dry-run")]),
    rule((&["phpcbf"], &[]), Always, Edits, &[Tool("phpcs")]),
    rule((&["pint"], &[]), Lacks(&["--test"]), Edits, &[Append("--test")]),
    rule((&["rector"], &["process"]), Lacks(&["--dry-run", "-n"]), Edits, &[Append("--dry-run")]),
    rule((&["sqlfluff"], &["fix", "format"]), Always, Edits, &[Subcommand("lint")]),
    rule(
        (&["buf"], &["format"]),
        Has(&["-w"]),
        Edits,
        &[Drop(&["-w"]), Append("--diff --exit-code")],
    ),
    // A program nobody knows says by its options what it does.
    rule((&[], &[]), Has(WATCH_ANY), Watches, &[Drop(WATCH_ANY)]),
    rule((&[], &[]), Has(FIX), Edits, &[Drop(FIX)]),
    rule((&[], &[]), Has(SNAPSHOTS), Edits, &[Drop(SNAPSHOTS)]),
];

/// The most rules that are applied to one command.
const APPLIED_MAX: usize = 8;

/// The name a program goes by: without its folder, and without the version of an interpreter.
pub(super) fn name_of(program: &str) -> &str {
    let name = program.rsplit('/').next().unwrap_or(program);
    let is_version = |rest: &str| rest.chars().all(|c| c.is_ascii_digit() || c == '.');
    match name.strip_prefix("python") {
        Some(rest) if is_version(rest) => "python",
        _ => name,
    }
}

/// The fault of a command, and how it checks once. Nothing: it is fine as it is.
pub(super) fn checking(command: &[Word], builds: bool) -> Option<(Fault, Option<String>)> {
    let mut words = command.to_vec();
    let mut fault = None;
    for _ in 0..APPLIED_MAX {
        let Some(rule) = RULES.iter().find(|rule| rule.fits(&words)) else { break };
        let found = *fault.get_or_insert(rule.fault);
        if rule.edits.is_empty() {
            return Some((found, None));
        }
        for edit in rule.edits {
            match edit {
                Whole(text) => return Some((found, Some((*text).to_owned()))),
                PrintsNothing => {
                    return Some((found, Some(format!("test -z \"$({})\"", written(&words)))));
                }
                ChecksTypes if builds => {}
                edit => edit.apply(&mut words),
            }
        }
    }
    // What was there to separate arguments that are gone.
    words.pop_if(|word| word.value == "--");
    fault.map(|fault| (fault, Some(written(&words))))
}

/// Words as they are written in a line.
pub(super) fn written(words: &[Word]) -> String {
    words.iter().map(|word| word.raw.as_str()).collect::<Vec<_>>().join(" ")
}

/// Where the first argument is that is no option.
fn subcommand(words: &[Word]) -> Option<usize> {
    words
        .iter()
        .skip(1)
        .position(|word| !word.value.starts_with(['-', '+']))
        .map(|at| at.saturating_add(1))
}

impl Rule {
    fn fits(&self, words: &[Word]) -> bool {
        let Some(name) = words.first().map(|word| name_of(&word.value)) else { return false };
        let is_tool = if self.tools.is_empty() {
            !SPEAKERS.contains(&name)
        } else {
            self.tools.contains(&name)
        };
        let has = |flags: &[&str]| {
            words.iter().skip(1).any(|word| flags.iter().any(|flag| is_flag(&word.value, flag)))
        };
        let is_asked = || {
            let asked = subcommand(words).and_then(|at| words.get(at));
            asked.is_some_and(|word| self.subcommands.contains(&word.value.as_str()))
        };
        is_tool
            && (self.subcommands.is_empty() || is_asked())
            && match self.when {
                Always => true,
                Has(flags) => has(flags),
                Lacks(flags) => !has(flags),
                HasNoArguments => words.len() == 1,
            }
    }
}

/// Whether a word switches this on; a flag that ends with `=` takes a value.
fn is_flag(word: &str, flag: &str) -> bool {
    match flag.strip_suffix('=') {
        Some(name) => word == name || word.starts_with(flag),
        None => {
            word == flag || (flag.starts_with("--") && word.strip_prefix(flag) == Some("=true"))
        }
    }
}

impl Edit {
    fn apply(self, words: &mut Vec<Word>) {
        let at = subcommand(words);
        match self {
            Drop(flags) => {
                let is_value = |before: &Word| {
                    flags.iter().any(|flag| flag.strip_suffix('=') == Some(&*before.value))
                };
                let mut before: Option<Word> = None;
                words.retain(|word| {
                    let goes = flags.iter().any(|flag| is_flag(&word.value, flag))
                        || before.as_ref().is_some_and(is_value);
                    before = Some(word.clone());
                    !goes
                });
            }
            Append(text) => {
                let end = words.iter().position(|word| word.value == ">").unwrap_or(words.len());
                words.insert(end, Word::plain(text));
            }
            AfterTool(text) => words.insert(1.min(words.len()), Word::plain(text)),
            AfterSubcommand(text) => {
                let at = at.map_or(words.len(), |at| at.saturating_add(1));
                words.insert(at, Word::plain(text));
            }
            Subcommand("") => drop(at.map(|at| words.remove(at))),
            Subcommand(text) => put(at.and_then(|at| words.get_mut(at)), text),
            Tool(text) => {
                let program = words.first_mut();
                let path = program.as_ref().map_or("", |word| &word.raw);
                let folder = path.rsplit_once('/').map(|(folder, _)| format!("{folder}/"));
                put(program, &format!("{}{text}", folder.unwrap_or_default()));
            }
            Swap(old, new) => put(words.iter_mut().find(|word| word.value == old), new),
            ChecksTypes => {
                let writes = ["--noEmit", "-b", "--build", "--emitDeclarationOnly"];
                if !words.iter().any(|word| writes.contains(&word.value.as_str())) {
                    words.push(Word::plain("--noEmit"));
                }
            }
            Whole(_) | PrintsNothing => {}
        }
    }
}

fn put(word: Option<&mut Word>, text: &str) {
    if let Some(word) = word {
        *word = Word::plain(text);
    }
}
