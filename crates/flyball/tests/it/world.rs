//! A folder of its own with a home of its own, and the program run in it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// A temporary place to run the program in; nothing of the user's is seen.
pub(crate) struct World {
    pub(crate) folder: TempDir,
}

/// What a run of the program gave.
#[derive(Debug)]
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl World {
    /// An empty folder that is no repository.
    pub(crate) fn empty() -> Self {
        let world = Self { folder: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.root()).unwrap();
        fs::create_dir_all(world.folder.path().join("bin")).unwrap();
        world
    }

    /// A folder that looks like a repository.
    pub(crate) fn repository() -> Self {
        let world = Self::empty();
        fs::create_dir(world.root().join(".git")).unwrap();
        world
    }

    /// The repository's root.
    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    /// Writes a file of the project.
    pub(crate) fn file(self, name: &str, text: &str) -> Self {
        write(&self.root().join(name), text);
        self
    }

    /// Writes the user's own config.
    pub(crate) fn user_config(self, text: &str) -> Self {
        write(&self.folder.path().join("home/.config/flyball/config.toml"), text);
        self
    }

    /// Puts a program on PATH that does nothing.
    pub(crate) fn program(self, name: &str) -> Self {
        self.script(name, "")
    }

    /// Puts a program on PATH that is this script.
    pub(crate) fn script(self, name: &str, text: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        let path = self.folder.path().join("bin").join(name);
        write(&path, text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        self
    }

    /// The text of a file of the project.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs the program in the project.
    pub(crate) fn run(&self, arguments: &[&str]) -> Said {
        self.run_with(&[], arguments)
    }

    /// Runs the program with these environment variables.
    pub(crate) fn run_with(&self, environment: &[(&str, &str)], arguments: &[&str]) -> Said {
        let output = Command::new(env!("CARGO_BIN_EXE_flyball"))
            .args(arguments)
            .current_dir(self.root())
            .env_clear()
            .env("HOME", self.folder.path().join("home"))
            .env("PATH", self.folder.path().join("bin"))
            .envs(environment.iter().copied())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Said {
            code: output.status.code().unwrap(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Said {
    /// What was asked for, when all went well.
    #[track_caller]
    pub(crate) fn ok(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{}", self.stdout);
        self.stdout
    }

    /// The error, when it was one with this code and nothing else was said.
    #[track_caller]
    pub(crate) fn failed(self, code: i32) -> String {
        assert_eq!((self.code, self.stdout.as_str()), (code, ""), "{}", self.stderr);
        self.stderr
    }
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}
