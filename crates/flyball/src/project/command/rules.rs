//! The tools that watch or mend, and how they are called to check once: a table.

use super::Fault::{self, Edits, Watches};
use super::tools::Edit::{
    AfterSubcommand, AfterTool, Append, ChecksTypes, Drop, PrintsNothing, Subcommand, Swap, Tool,
    Whole,
};
use super::tools::When::{Always, Has, HasNoArguments, Lacks};
use super::tools::{Edit, Rule, When};

const fn rule(
    (tools, subcommands): (&'static [&'static str], &'static [&'static str]),
    when: When,
    fault: Fault,
    edits: &'static [Edit],
) -> Rule {
    Rule { tools, subcommands, when, fault, edits }
}

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
pub(super) const RULES: [Rule; 69] = [
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
        &[
            Drop(&["--write", "-w", "--check", "-c", "--list-different", "-l"]),
            AfterTool("--check"),
        ],
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
