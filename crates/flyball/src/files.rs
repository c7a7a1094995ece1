//! The one way to files that others can reach: an agent, a tool, whoever plants a pipe or a link where
//! flyball looks for a file.
//!
//! Reading never waits: only regular files are opened, and only so much of them is read as the caller
//! can use. Writing never follows a link: what is written whole goes to a new file with a name nobody
//! can know, which then takes the place of whatever stands there; what is added to is opened as the
//! file it must be. Below a worktree a [`Folder`] is walked to step by step, so that no link on the way
//! leads elsewhere. `cargo xtask tidy` sees to it that nobody else opens files.

mod folder;

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use rustix::fs::OFlags;
use tempfile::NamedTempFile;

pub use self::folder::Folder;

/// Opening never waits for a writer, and a terminal never becomes ours.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::NOCTTY);

/// Opens a regular file for reading.
pub fn open(path: &Path) -> io::Result<File> {
    // Looked at first: even opening a device can do something.
    expect_file(path.metadata()?.file_type())?;
    let file = OpenOptions::new().read(true).custom_flags(bits(CAREFUL)).open(path)?;
    expect_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// The whole file; one that is larger than this is refused.
pub fn read(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    whole(open(path)?, max)
}

/// The whole file as text; one that is larger than this, or no UTF-8, is refused.
pub fn read_text(path: &Path, max: u64) -> io::Result<String> {
    text(read(path, max)?)
}

/// The last bytes of a file.
pub fn read_end(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(max)))?;
    let mut bytes = Vec::new();
    file.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The first bytes of a file.
pub fn read_start(path: &Path, max: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?.take(max).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file for the user alone, made empty when it is not there, for reading and writing.
pub fn open_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true).truncate(false).mode(0o600);
    let file = options.custom_flags(bits(CAREFUL.union(OFlags::NOFOLLOW))).open(path)?;
    expect_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// A folder only its owner can read, made with those above it when it is not there.
pub fn private_folder(path: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// A file for the user alone to add to, made when it is not there.
pub fn append_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600);
    let file = options.custom_flags(bits(CAREFUL.union(OFlags::NOFOLLOW))).open(path)?;
    expect_file(file.metadata()?.file_type())?;
    Ok(file)
}

/// A new file for the user alone; one that is there is an error.
pub fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Writes a file for the user alone where it stands, for a reader that comes later: one that comes
/// meanwhile may find a half. What is no file of its own is replaced.
pub fn overwrite(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref();
    open_private(path).and_then(|file| fill(&file, bytes)).or_else(|_| write_whole(path, bytes))
}

/// Writes a file beside and renames it over: a reader sees the old or the new one, never a half, and
/// a link that stands there is replaced, not followed.
pub fn write_whole(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let mut beside = beside(path, 0o666)?;
    beside.write_all(bytes.as_ref())?;
    beside.persist(path)?;
    Ok(())
}

/// A new file beside another, with these rights as far as the user's mask allows; gone when it is
/// not kept.
pub fn beside(path: &Path, rights: u32) -> io::Result<NamedTempFile> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".");
    tempfile::Builder::new()
        .prefix(&name)
        .suffix(".tmp")
        .permissions(fs::Permissions::from_mode(rights))
        .tempfile_in(path.parent().unwrap_or(path))
}

/// Removes a file; one that is not there is no error.
pub fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// What an optional file holds: one that is not there is none.
pub fn optional<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// The flags as the standard library takes them.
fn bits(flags: OFlags) -> i32 {
    i32::try_from(flags.bits()).unwrap_or(0)
}

fn whole(file: File, max: u64) -> io::Result<Vec<u8>> {
    let refused = |size: u64| {
        let message = format!("it has {size} bytes, and at most {max} are read");
        io::Error::new(io::ErrorKind::FileTooLarge, message)
    };
    let size = file.metadata()?.len();
    if size > max {
        return Err(refused(size));
    }
    let mut bytes = Vec::new();
    // It may grow meanwhile.
    file.take(max.saturating_add(1)).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > max {
        return Err(refused(bytes.len() as u64));
    }
    Ok(bytes)
}

fn text(bytes: Vec<u8>) -> io::Result<String> {
    let refused = |_| io::Error::new(io::ErrorKind::InvalidData, "it is not UTF-8 text");
    String::from_utf8(bytes).map_err(refused)
}

/// Makes these bytes what is in a file. It is never empty on the way: a file that was emptied some file
/// systems write to the disk at once.
fn fill(mut file: &File, bytes: &[u8]) -> io::Result<()> {
    expect_own_file(file)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}

/// Refuses to add to what is no file of its own.
fn expect_own_file(file: &File) -> io::Result<()> {
    let meta = file.metadata()?;
    expect_file(meta.file_type())?;
    if meta.nlink() > 1 {
        return Err(io::Error::other("it has another name elsewhere (a hard link)"));
    }
    Ok(())
}

fn expect_file(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let found = if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a named pipe"
    } else if kind.is_socket() {
        "a socket"
    } else if kind.is_symlink() {
        "a link"
    } else {
        "a device"
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, format!("it is {found} and no file")))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use rustix::fs::{FileType as Kind, Mode, mknodat};

    use super::*;

    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        mknodat(rustix::fs::CWD, at("pipe"), Kind::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        symlink("/dev/zero", at("zero")).unwrap();
        symlink(at("pipe"), at("to-pipe")).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(at("socket")).unwrap();
        for (name, word) in [
            ("pipe", "a named pipe"),
            ("to-pipe", "a named pipe"),
            ("zero", "a device"),
            ("socket", "a socket"),
            (".", "a folder"),
        ] {
            let error = read(&at(name), 10).unwrap_err().to_string();
            assert!(error.contains(word), "{name}: {error}");
            assert!(read_start(&at(name), 10).is_err() && read_end(&at(name), 10).is_err());
            assert!(open_private(&at(name)).is_err(), "{name}");
        }
        assert_eq!(optional(read(&at("nothing"), 1)).unwrap(), None);
    }

    #[test]
    fn more_than_is_wanted_is_refused_and_the_ends_can_be_had() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        write_whole(&path, "0123456789").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"0123456789");
        let error = read(&path, 9).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("10 bytes"), "{error}");
        assert_eq!(read_start(&path, 3).unwrap(), b"012");
        assert_eq!(read_end(&path, 3).unwrap(), b"789");
        write_whole(&path, b"\xff").unwrap();
        assert!(read_text(&path, 9).unwrap_err().to_string().contains("UTF-8"));
    }

    #[test]
    fn what_is_written_replaces_a_link_and_never_follows_it() {
        let dir = tempfile::tempdir().unwrap();
        let (path, other) = (dir.path().join("a"), dir.path().join("other"));
        write_whole(&other, "theirs").unwrap();
        symlink(&other, &path).unwrap();
        assert!(open_private(&path).is_err());
        write_whole(&path, "ours").unwrap();
        assert_eq!(read(&other, 10).unwrap(), b"theirs");
        assert!(path.symlink_metadata().unwrap().is_file());
        fs::remove_file(&path).unwrap();
        symlink(&other, &path).unwrap();
        for text in ["ours", "ours again", "so"] {
            overwrite(&path, text).unwrap();
            assert_eq!(read(&path, 10).unwrap(), text.as_bytes());
        }
        assert_eq!(read(&other, 10).unwrap(), b"theirs");
    }
}
