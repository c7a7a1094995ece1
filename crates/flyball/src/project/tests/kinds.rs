//! Kinds that go by a few files: each with its tool's commands, and what brings what is missing.

use super::{Machine, check};

#[test]
fn each_kind_has_the_gates_its_files_speak_for() {
    check(&[
        (
            &["dotnet"],
            &[
                ("App.sln", ""),
                ("src/App/App.csproj", "<Project/>"),
                ("tests/App.Tests/App.Tests.csproj", "Microsoft.NET.Test.Sdk"),
            ],
            &["tests: dotnet test App.sln", "build: dotnet build App.sln"],
        ),
        (&["dotnet"], &[("My App.csproj", "")], &["build: dotnet build 'My App.csproj'"]),
        (
            &["composer"],
            &[
                ("composer.json", r#"{"scripts":{"test":["phpunit","@stan"]}}"#),
                ("phpunit.xml", ""),
            ],
            &["tests: composer run test"],
        ),
        (
            &["bundle"],
            &[("Gemfile", ""), (".rspec", ""), (".rubocop.yml", "")],
            &["tests: bundle exec rspec", "lint: bundle exec rubocop"],
        ),
        (&["rake"], &[("Rakefile", "Rake::TestTask.new")], &["tests: rake test"]),
        (&["bundle"], &[("Gemfile", "gem 'jekyll'")], &[]),
        (
            &["mix"],
            &[("mix.exs", ""), ("test/a_test.exs", ""), (".formatter.exs", "")],
            &[
                "tests: mix test",
                "build: mix compile --warnings-as-errors",
                "format: mix format --check-formatted",
            ],
        ),
        (
            &["swift"],
            &[("Package.swift", ""), ("Tests/A/a.swift", "")],
            &["tests: swift test", "build: swift build"],
        ),
    ]);
}

#[test]
fn what_is_built_in_a_folder_is_tested_there() {
    check(&[
        (
            &["cmake"],
            &[("CMakeLists.txt", "project(a)\nenable_testing()"), (".gitignore", "build/\n")],
            &[
                "tests: cmake -S . -B build && cmake --build build && ctest --test-dir build --output-on-failure",
            ],
        ),
        (
            &["cmake"],
            &[("CMakeLists.txt", "PROJECT (a)"), (".gitignore", "/build\n")],
            &["build: cmake -S . -B build && cmake --build build"],
        ),
        (&["cmake"], &[("CMakeLists.txt", "add_library(a a.c)")], &[]),
        (
            &["meson"],
            &[("meson.build", "project('a')\nsubdir('t')"), ("t/meson.build", "test('x', x)")],
            &[
                "tests: { test -d build || meson setup build; } && meson test -C build --print-errorlogs",
            ],
        ),
    ]);
}

#[test]
fn tasks_of_deno_and_task_are_called_by_their_names() {
    check(&[
        (
            &["deno"],
            &[
                ("deno.jsonc", "{ // ours\n \"tasks\": {\"check\": \"deno check .\"} }"),
                ("a_test.ts", ""),
            ],
            &["typecheck: deno task check", "tests: deno test", "lint: deno lint"],
        ),
        (
            &["task"],
            &[(
                "Taskfile.yml",
                "tasks:\n  test:\n    cmds:\n      - go test ./...\n  lint: golangci-lint run\n  deploy:\n",
            )],
            &["tests: task test", "lint: task lint"],
        ),
        // Below a root of another kind, too.
        (
            &["cargo", "mix"],
            &[("Cargo.toml", ""), ("web/mix.exs", "")],
            &[
                "tests: cargo test",
                "build: cargo build",
                "build-web: cd web && mix compile --warnings-as-errors",
            ],
        ),
    ]);
}

#[test]
fn what_stands_in_the_way_is_told_with_the_line_that_removes_it() {
    let php = r#"{"require-dev":{"phpunit/phpunit":"^10","ext-json":"*"}}"#;
    let files = [("composer.json", php), ("phpunit.xml.dist", "")];
    let machine = Machine::new(&["composer"], &files);
    let missing = "vendor/bin/phpunit: `vendor/bin/phpunit` is not there -> composer install";
    assert_eq!(machine.hindrances(), [missing]);
    assert_eq!(machine.remedies(), ["composer install"]);
    let mix = [("mix.exs", "defp deps do\n  [\n    {:jason, \"1\"}\n"), ("test/a_test.exs", "")];
    assert_eq!(Machine::new(&["mix"], &mix).remedies(), ["mix deps.get"]);
    let cmake = Machine::new(&["cmake"], &[("native/CMakeLists.txt", "project(a)")]).hindrances();
    assert!(cmake[0].ends_with("-> (cd native && echo /build/ >> .gitignore)"), "{cmake:?}");
    let wrapper = Machine::new(&["mvn"], &[("api/pom.xml", ""), ("api/mvnw", "")]).hindrances();
    let remedy = "(cd api && chmod +x mvnw && git add --chmod=+x mvnw)";
    assert!(
        wrapper[0].ends_with(&format!("`./mvnw` is not executable -> {remedy}")),
        "{wrapper:?}"
    );
}
