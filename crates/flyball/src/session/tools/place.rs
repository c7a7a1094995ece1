//! Where files are: inside of the top folder, however a path is written and whatever a link says; and,
//! for reading, where large results were put.

use std::io;
use std::path::{Component, Path, PathBuf};

use crate::files::Folder;

/// The folders a session knows.
pub(super) struct Places {
    root: PathBuf,
    responses: PathBuf,
}

/// Something in a folder that is held open.
pub(super) struct Found {
    pub(super) folder: Folder,
    pub(super) name: String,
    /// Its path for people.
    pub(super) shown: String,
}

/// What a file is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    Read,
    Write,
}

impl Places {
    pub(super) fn new(root: &Path, responses: &Path) -> Self {
        Self { root: root.to_path_buf(), responses: real(responses) }
    }

    /// A file of the project.
    pub(super) fn file(&self, path: &Path, want: Want) -> Result<Found, String> {
        let (root, inside) = self.resolve(path, want)?;
        let shown = inside.display().to_string();
        let name = inside.file_name().and_then(|name| name.to_str());
        let Some(name) = name.map(str::to_owned) else {
            return Err(format!("`{}` is no file", path.display()));
        };
        let above = inside.parent().unwrap_or(Path::new(""));
        let folder = match want {
            Want::Read => Folder::open(root, above),
            Want::Write => Folder::make(root, above),
        };
        let folder = folder.map_err(|error| words(path, &error))?;
        Ok(Found { folder, name, shown })
    }

    /// A folder of the project.
    pub(super) fn folder(&self, path: &Path) -> Result<Folder, String> {
        let (root, inside) = self.resolve(path, Want::Read)?;
        Folder::open(root, &inside).map_err(|error| words(path, &error))
    }

    /// A folder of the project, to which no link leads.
    pub(super) fn unlinked_folder(&self, path: &Path) -> io::Result<Folder> {
        Folder::open(&self.root, path)
    }

    /// The path below the top folder: for a search.
    pub(super) fn inside(&self, path: &Path) -> Result<PathBuf, String> {
        self.resolve(path, Want::Read).map(|(_, inside)| inside)
    }

    /// The folder a path is in, and the way from there, without links and steps back.
    fn resolve(&self, path: &Path, want: Want) -> Result<(&Path, PathBuf), String> {
        let outside =
            || format!("`{}` is outside of the project, where nothing can be done", path.display());
        let whole = plain(&self.root.join(path)).ok_or_else(outside)?;
        // A link inside that leads inside is followed; whoever swaps it afterwards meets the walk.
        let real = real(&whole);
        let root = [&self.root, &self.responses]
            .into_iter()
            .find(|root| real.starts_with(root) && (want == Want::Read || **root == self.root));
        let root = root.ok_or_else(outside)?;
        let inside = real.strip_prefix(root).map_err(|_| outside())?.to_path_buf();
        if want == Want::Write && inside.components().any(|part| part.as_os_str() == ".git") {
            return Err(format!("`{}` is git's own", path.display()));
        }
        Ok((root, inside))
    }
}

/// A path without `.` and `..`; none when it leads above the root of all.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                if !plain.pop() {
                    return None;
                }
            }
            Component::Normal(_) | Component::RootDir | Component::Prefix(_) => plain.push(part),
        }
    }
    Some(plain)
}

/// The path with the links of as much of it as is there followed.
fn real(path: &Path) -> PathBuf {
    for above in path.ancestors() {
        if let (Ok(real), Ok(rest)) = (above.canonicalize(), path.strip_prefix(above)) {
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path.to_path_buf()
}

/// What went wrong with a file, for the model.
pub(super) fn words(path: &Path, error: &io::Error) -> String {
    let shown = path.display();
    if error.kind() == io::ErrorKind::NotFound {
        return format!("there is no `{shown}`");
    }
    format!("`{shown}`: {error}")
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn no_path_and_no_link_leads_out_of_the_project() {
        let dir = tempfile::tempdir().unwrap();
        let top = dir.path().canonicalize().unwrap();
        let root = top.join("root");
        for folder in ["root/a", "root/.git", "outside", "large"] {
            fs::create_dir_all(top.join(folder)).unwrap();
        }
        for file in ["root/a/f", "outside/secret", "large/1.txt"] {
            fs::write(top.join(file), "x").unwrap();
        }
        symlink(top.join("outside"), root.join("out")).unwrap();
        symlink(top.join("outside/secret"), root.join("leak")).unwrap();
        symlink("a/f", root.join("near")).unwrap();
        symlink(top.join("nowhere"), root.join("dead")).unwrap();
        let places = Places::new(&root, &top.join("large"));
        let whole = |path: &str| top.join(path).display().to_string();
        let cases = [
            ("a/f", true, true),
            ("./a/../a/f", true, true),
            ("near", true, true),
            (whole("root/a/f").as_str(), true, true),
            ("new/deep/file", true, true),
            (whole("large/1.txt").as_str(), true, false),
            ("../outside/secret", false, false),
            ("a/../../outside/secret", false, false),
            ("out/secret", false, false),
            ("leak", false, false),
            // It leads nowhere yet; below, nobody follows it.
            ("dead", true, true),
            ("/etc/passwd", false, false),
            ("/../../etc/passwd", false, false),
            (".git/config", true, false),
        ]
        .map(|(path, read, write)| (path.to_owned(), read, write));
        for (path, read, write) in cases {
            let can = |want| places.resolve(Path::new(&path), want).is_ok();
            assert_eq!((can(Want::Read), can(Want::Write)), (read, write), "{path}");
        }
        let dead = |want| places.file(Path::new("dead"), want).unwrap();
        assert!(dead(Want::Read).folder.read("dead", 9).is_err());
        dead(Want::Write).folder.replace("dead", "x").unwrap();
        assert!(!top.join("nowhere").exists() && root.join("dead").is_file());
        let found = places.file(Path::new("near"), Want::Read).unwrap();
        assert_eq!((found.name.as_str(), found.shown.as_str()), ("f", "a/f"));
        assert_eq!(found.folder.read("f", 9).unwrap(), b"x");
    }
}
