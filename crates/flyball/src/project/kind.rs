//! The kinds of projects, and the files that tell them.

use std::fmt;

/// A kind of project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProjectKind {
    /// `Cargo.toml`.
    Rust,
    /// `package.json`.
    Node,
    /// `deno.json`.
    Deno,
    /// `pyproject.toml` and its relatives.
    Python,
    /// `go.mod`.
    Go,
    /// `pom.xml`.
    Maven,
    /// `build.gradle`.
    Gradle,
    /// A solution or project of .NET.
    DotNet,
    /// `composer.json`.
    Php,
    /// `Gemfile`, `Rakefile`.
    Ruby,
    /// `mix.exs`.
    Elixir,
    /// `Package.swift`.
    Swift,
    /// `CMakeLists.txt`.
    CMake,
    /// `meson.build`.
    Meson,
    /// A makefile.
    Make,
    /// A justfile.
    Just,
    /// `Taskfile.yml`.
    Task,
}

impl ProjectKind {
    /// The word used in gate names.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Node => "node",
            Self::Deno => "deno",
            Self::Python => "python",
            Self::Go => "go",
            Self::Maven => "maven",
            Self::Gradle => "gradle",
            Self::DotNet => "dotnet",
            Self::Php => "php",
            Self::Ruby => "ruby",
            Self::Elixir => "elixir",
            Self::Swift => "swift",
            Self::CMake => "cmake",
            Self::Meson => "meson",
            Self::Make => "make",
            Self::Just => "just",
            Self::Task => "task",
        }
    }

    /// Whether it is a list of commands, as it stands beside projects of every other kind.
    pub(super) const fn lists_commands(self) -> bool {
        matches!(self, Self::Make | Self::Just | Self::Task)
    }
}

impl fmt::Display for ProjectKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Rust => "Rust",
            Self::Node => "Node",
            Self::Deno => "Deno",
            Self::Python => "Python",
            Self::Go => "Go",
            Self::Maven => "Maven",
            Self::Gradle => "Gradle",
            Self::DotNet => ".NET",
            Self::Php => "PHP",
            Self::Ruby => "Ruby",
            Self::Elixir => "Elixir",
            Self::Swift => "Swift",
            Self::CMake => "CMake",
            Self::Meson => "Meson",
            Self::Make => "Make",
            Self::Just => "just",
            Self::Task => "Task",
        })
    }
}
