//! Files a client needs in the worktree for one session: written before it, gone after it, and never
//! seen by git. What the user has there is left alone.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::client::{Launch, Place};
use crate::files::{self, remove};

/// How the ignore file beside such files begins. One found before a session was left by a death.
const MARK: &str = "# flyball: for one session only\n";

/// The largest ignore file that is looked into.
const IGNORE_MAX: u64 = 64 * 1024;

/// Files of one session; dropping removes them.
#[derive(Debug, Default)]
pub(super) struct SessionFiles {
    files: Vec<PathBuf>,
    /// Folders made for them, innermost last.
    folders: Vec<PathBuf>,
}

impl SessionFiles {
    /// Writes the files of a launch.
    pub(super) fn write(launch: &Launch, root: &Path) -> io::Result<Self> {
        let mut placed = Self::default();
        for file in &launch.files {
            if file.place == Place::Private {
                if let Some(folder) = file.path.parent() {
                    fs::create_dir_all(folder)?;
                }
                files::write_whole(&file.path, &file.text)?;
            } else {
                placed.put(&file.path, &file.text, root)?;
            }
        }
        Ok(placed)
    }

    fn put(&mut self, path: &Path, text: &str, root: &Path) -> io::Result<()> {
        let Some(folder) = path.parent() else { return Ok(()) };
        let ignore = folder.join(".gitignore");
        let is_left_over =
            files::read(&ignore, IGNORE_MAX).is_ok_and(|text| text.starts_with(MARK.as_bytes()));
        if path.exists() && !is_left_over {
            return Ok(());
        }
        self.make(folder, root)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_left_over || !ignore.exists() {
            files::write_whole(&ignore, format!("{MARK}/.gitignore\n/{name}\n"))?;
            self.files.push(ignore);
        }
        self.files.push(path.to_path_buf());
        files::write_whole(path, text)
    }

    fn make(&mut self, folder: &Path, root: &Path) -> io::Result<()> {
        let missing: Vec<&Path> =
            folder.ancestors().take_while(|one| *one != root && !one.exists()).collect();
        for one in missing.into_iter().rev() {
            fs::create_dir(one)?;
            self.folders.push(one.to_path_buf());
        }
        Ok(())
    }
}

impl Drop for SessionFiles {
    fn drop(&mut self) {
        for file in &self.files {
            // Gone already when the agent removed it.
            remove(file).ok();
        }
        for folder in self.folders.iter().rev() {
            // Stays when the agent put something of its own there.
            fs::remove_dir(folder).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::RunFile;

    fn launch(root: &Path, names: &[&str]) -> Launch {
        let file = |name: &&str| RunFile {
            place: Place::Worktree,
            path: root.join(name),
            text: "ours".to_owned(),
        };
        Launch { files: names.iter().map(file).collect(), ..Launch::default() }
    }

    #[test]
    fn files_of_a_session_are_ignored_while_it_lasts_and_gone_afterwards() {
        let root = tempfile::tempdir().unwrap();
        let names = [".a/b/plugin.json", ".a/b/hooks/hooks.json"];
        let placed = SessionFiles::write(&launch(root.path(), &names), root.path()).unwrap();
        for (name, beside) in names.iter().zip(["plugin.json", "hooks.json"]) {
            let path = root.path().join(name);
            assert_eq!(fs::read_to_string(&path).unwrap(), "ours");
            let ignore = fs::read_to_string(path.with_file_name(".gitignore")).unwrap();
            assert!(ignore.ends_with(&format!("/.gitignore\n/{beside}\n")), "{ignore}");
        }
        drop(placed);
        assert!(!root.path().join(".a").exists());
    }

    #[test]
    fn what_the_user_has_is_left_alone_and_what_a_death_left_is_taken_over() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join(".g/hooks/flyball.json");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "the user's").unwrap();
        let given = launch(root.path(), &[".g/hooks/flyball.json"]);
        drop(SessionFiles::write(&given, root.path()).unwrap());
        assert_eq!(fs::read_to_string(&path).unwrap(), "the user's");

        fs::write(path.with_file_name(".gitignore"), format!("{MARK}/flyball.json\n")).unwrap();
        drop(SessionFiles::write(&given, root.path()).unwrap());
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
    }
}
