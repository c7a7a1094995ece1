//! A folder below a worktree, walked to step by step and held open: no link on the way, planted before
//! or in the middle of it, leads flyball elsewhere.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, fchmod, mkdirat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::Errno;

use super::{CAREFUL, bits, expect_own_file, whole};
use crate::clock;

/// How many names are tried for a new file.
const NAMES_MAX: u32 = 16;
const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// A folder held open.
#[derive(Debug)]
pub struct Folder {
    folder: OwnedFd,
    path: PathBuf,
}

/// What becomes of a folder that is not there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Made,
    Error,
}

impl Folder {
    /// The folder `below` a root, which must be there.
    pub fn open(root: &Path, below: &Path) -> io::Result<Self> {
        Self::walk(root, below, Missing::Error)
    }

    /// The folder `below` a root, made when it is not there.
    pub fn make(root: &Path, below: &Path) -> io::Result<Self> {
        Self::walk(root, below, Missing::Made)
    }

    fn walk(root: &Path, below: &Path, missing: Missing) -> io::Result<Self> {
        let own = |part: &Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
        if !below.components().all(|part| own(&part)) {
            // Named by the user as a place outside of the root: theirs to answer for.
            let path = root.join(below);
            if missing == Missing::Made {
                std::fs::create_dir_all(&path)?;
            }
            let folder = rustix::fs::open(&path, FOLDER, Mode::empty())?;
            return Ok(Self { folder, path });
        }
        let folder = rustix::fs::open(root, FOLDER, Mode::empty())?;
        let mut this = Self { folder, path: root.to_path_buf() };
        for part in below.components() {
            if let Component::Normal(name) = part {
                this = this.enter(Path::new(name), missing)?;
            }
        }
        Ok(this)
    }

    fn enter(&self, name: &Path, missing: Missing) -> io::Result<Self> {
        let path = self.path.join(name);
        let open = || openat(&self.folder, name, FOLDER.union(OFlags::NOFOLLOW), Mode::empty());
        let found = match open() {
            Err(Errno::NOENT) if missing == Missing::Made => {
                match mkdirat(&self.folder, name, Mode::from_raw_mode(0o777)) {
                    Ok(()) | Err(Errno::EXIST) => open(),
                    Err(error) => Err(error),
                }
            }
            found => found,
        };
        match found {
            Ok(folder) => Ok(Self { folder, path }),
            Err(Errno::LOOP | Errno::NOTDIR) => {
                let shown = path.display();
                let message = format!("`{shown}` is a link or a file, and a folder is needed");
                Err(io::Error::new(io::ErrorKind::NotADirectory, message))
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Where it was when it was opened; for people.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whether something of this name is in it, a dead link too.
    pub fn has(&self, name: &str) -> bool {
        statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// The whole file; one that is larger than this, or no regular file, is refused.
    pub fn read(&self, name: &str, max: u64) -> io::Result<Vec<u8>> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOFOLLOW | CAREFUL;
        let file = File::from(openat(&self.folder, name, flags, Mode::empty())?);
        super::expect_file(file.metadata()?.file_type())?;
        whole(file, max)
    }

    /// Writes a file whole or not at all, in place of whatever stands there.
    pub fn write(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let (beside, mut file) = self.new_file(name, 0o666)?;
        let written = file
            .write_all(bytes.as_ref())
            .and_then(|()| Ok(renameat(&self.folder, &beside, &self.folder, name)?));
        if written.is_err() {
            unlinkat(&self.folder, &beside, AtFlags::empty()).ok();
        }
        written
    }

    /// Writes a file whole or not at all, with the rights of the one that stands there.
    pub fn replace(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let rights = match statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Some(Mode::from_raw_mode(found.st_mode & 0o7777)),
            Err(Errno::NOENT) => None,
            Err(error) => return Err(error.into()),
        };
        let (beside, mut file) = self.new_file(name, 0o666)?;
        let written = file
            .write_all(bytes.as_ref())
            .and_then(|()| rights.map_or(Ok(()), |rights| Ok(fchmod(&file, rights)?)))
            .and_then(|()| Ok(renameat(&self.folder, &beside, &self.folder, name)?));
        if written.is_err() {
            unlinkat(&self.folder, &beside, AtFlags::empty()).ok();
        }
        written
    }

    /// Whether a folder of this name is in it, and no link to one.
    pub fn has_folder(&self, name: &str) -> bool {
        statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .is_ok_and(|found| FileType::from_raw_mode(found.st_mode).is_dir())
    }

    /// Writes a file where it stands, made when it is not there: nothing is made or removed, which
    /// costs most of all. Whoever reads it meanwhile may find a half. What is no file of its own is
    /// refused.
    pub fn overwrite(&self, name: &str, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::CLOEXEC | OFlags::NOFOLLOW | CAREFUL;
        let file = openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?;
        super::fill(&File::from(file), bytes.as_ref())
    }

    /// Puts a file in the place of another, at one stroke, which comes here for it. Where there is no
    /// file it is only moved.
    pub fn trade(&self, name: &str, other: &Self, theirs: &str) -> io::Result<()> {
        let found = statat(&other.folder, theirs, AtFlags::SYMLINK_NOFOLLOW);
        let is_file = found.is_ok_and(|it| FileType::from_raw_mode(it.st_mode).is_file());
        let (from, to) = (&self.folder, &other.folder);
        // Not every file system can.
        if is_file && renameat_with(from, name, to, theirs, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
        Ok(renameat(from, name, to, theirs)?)
    }

    fn new_file(&self, name: &str, mode: u32) -> io::Result<(String, File)> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        for attempt in 0..NAMES_MAX {
            let seed = (clock::unique_nanos(), std::process::id(), attempt, bits(flags));
            let salt = blake3::hash(format!("{seed:?}").as_bytes()).to_hex();
            let beside = format!("{name}.{}.tmp", salt.get(..12).unwrap_or_default());
            match openat(&self.folder, &beside, flags, Mode::from_raw_mode(mode)) {
                Ok(file) => return Ok((beside, File::from(file))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(io::Error::other("no free name"))
    }

    /// A file to add to, made when it is not there; a link, a pipe or a file with a second name is
    /// refused.
    pub fn append(&self, name: &str) -> io::Result<File> {
        let flags = OFlags::RDWR
            | OFlags::APPEND
            | OFlags::CREATE
            | OFlags::CLOEXEC
            | OFlags::NOFOLLOW
            | CAREFUL;
        let file = File::from(openat(&self.folder, name, flags, Mode::from_raw_mode(0o666))?);
        expect_own_file(&file)?;
        Ok(file)
    }

    /// Removes a file; one that is not there is no error.
    pub fn remove(&self, name: &str) -> io::Result<()> {
        match unlinkat(&self.folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }

    /// The names of everything in it.
    pub fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.folder)? {
            let name = OsString::from_vec(entry?.file_name().to_bytes().to_vec());
            if name != "." && name != ".." {
                names.extend(name.into_string());
            }
        }
        Ok(names)
    }

    /// Moves a file to another folder.
    pub fn move_to(&self, name: &str, other: &Self) -> io::Result<()> {
        Ok(renameat(&self.folder, name, &other.folder, name)?)
    }

    /// When an entry was last changed, in seconds since 1970.
    pub fn changed_secs(&self, name: &str) -> io::Result<i64> {
        Ok(statat(&self.folder, name, AtFlags::SYMLINK_NOFOLLOW)?.st_mtime)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_is_written_where_it_stands_and_trades_places() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("root"), dir.path().join("kept"));
        fs::write(&elsewhere, "theirs").unwrap();
        fs::create_dir(&root).unwrap();
        let folder = Folder::open(&root, Path::new("")).unwrap();
        let logs = Folder::make(&root, Path::new("logs")).unwrap();
        for (text, before) in [("one", None), ("three", Some("one")), ("", Some("three"))] {
            logs.overwrite("spare", text).unwrap();
            logs.trade("spare", &folder, "now").unwrap();
            assert_eq!(folder.read("now", 10).unwrap(), text.as_bytes());
            assert_eq!(logs.read("spare", 10).ok().as_deref(), before.map(str::as_bytes));
        }
        fs::remove_file(root.join("now")).unwrap();
        symlink(&elsewhere, root.join("now")).unwrap();
        assert!(folder.overwrite("now", "ours").is_err());
        logs.trade("spare", &folder, "now").unwrap();
        assert_eq!(folder.read("now", 10).unwrap(), b"three");
        assert_eq!(fs::read(&elsewhere).unwrap(), b"theirs");
        fs::hard_link(&elsewhere, root.join("second")).unwrap();
        assert!(folder.overwrite("second", "ours").is_err());
        assert_eq!(fs::read(&elsewhere).unwrap(), b"theirs");
    }

    #[test]
    fn a_link_on_the_way_is_refused_and_one_in_place_of_a_file_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let (root, elsewhere) = (dir.path().join("root"), dir.path().join("elsewhere"));
        fs::create_dir_all(&root).unwrap();
        fs::create_dir_all(&elsewhere).unwrap();
        fs::write(elsewhere.join("kept"), "theirs").unwrap();
        symlink(&elsewhere, root.join("loop")).unwrap();
        let error = Folder::make(&root, Path::new("loop/logs")).unwrap_err();
        assert!(error.to_string().contains("is a link"), "{error}");
        let folder = Folder::make(&root, Path::new("./a/b")).unwrap();
        symlink(elsewhere.join("kept"), folder.path().join("f")).unwrap();
        assert!(folder.append("f").is_err());
        assert!(folder.read("f", 10).is_err());
        folder.write("f", "ours").unwrap();
        assert_eq!(folder.read("f", 10).unwrap(), b"ours");
        assert_eq!(fs::read_to_string(elsewhere.join("kept")).unwrap(), "theirs");
        assert_eq!(folder.names().unwrap(), ["f"]);
        folder.append("f").unwrap().write_all(b"!").unwrap();
        fs::hard_link(folder.path().join("f"), elsewhere.join("g")).unwrap();
        assert!(folder.append("f").unwrap_err().to_string().contains("hard link"));
        assert_eq!(folder.read("f", 10).unwrap(), b"ours!");
        folder.remove("f").unwrap();
        folder.remove("f").unwrap();
        assert!(!folder.has("f"));
    }

    #[test]
    fn a_folder_that_is_swapped_afterwards_is_still_the_one_that_was_opened() {
        let dir = tempfile::tempdir().unwrap();
        let folder = Folder::make(dir.path(), Path::new("logs")).unwrap();
        fs::rename(dir.path().join("logs"), dir.path().join("old")).unwrap();
        symlink("/nowhere", dir.path().join("logs")).unwrap();
        folder.write("a", "x").unwrap();
        assert!(dir.path().join("old/a").exists());
        assert_eq!(
            Folder::open(dir.path(), Path::new("none")).unwrap_err().kind(),
            io::ErrorKind::NotFound
        );
    }

    #[test]
    fn a_place_the_user_names_outside_is_theirs() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("root")).unwrap();
        let folder = Folder::make(&dir.path().join("root"), Path::new("../beside")).unwrap();
        folder.write("a", "x").unwrap();
        assert!(dir.path().join("beside/a").exists());
    }
}
