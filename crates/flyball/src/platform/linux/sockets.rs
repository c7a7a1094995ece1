//! Sockets at paths. A path that is too long for a socket is gone to from its folder.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

/// The longest path that is used as it is; the system takes 107 bytes.
const PATH_MAX: usize = 100;

/// Listens at this path, for its owner alone.
pub fn listen(path: &Path) -> io::Result<UnixListener> {
    let way = Way::to(path)?;
    let listener = UnixListener::bind(&way.path)?;
    fs::set_permissions(path, Permissions::from_mode(0o600))?;
    Ok(listener)
}

/// Connects to who listens at this path.
pub fn connect(path: &Path) -> io::Result<UnixStream> {
    UnixStream::connect(&Way::to(path)?.path)
}

/// A way to a socket that is short enough.
struct Way {
    path: PathBuf,
    /// The folder the way leads through; open as long as the way is used.
    _folder: Option<File>,
}

impl Way {
    fn to(path: &Path) -> io::Result<Self> {
        let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        if path.as_os_str().len() <= PATH_MAX {
            return Ok(Self { path: path.to_path_buf(), _folder: None });
        }
        let folder = File::open(folder)?;
        let through = Path::new("/proc/self/fd").join(folder.as_raw_fd().to_string());
        Ok(Self { path: through.join(name), _folder: Some(folder) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{Read, Write};

    #[test]
    fn a_path_of_any_length_leads_to_its_socket() {
        let dir = tempfile::tempdir().unwrap();
        for folder in [dir.path().to_path_buf(), dir.path().join("long/".repeat(60))] {
            fs::create_dir_all(&folder).unwrap();
            let path = folder.join("s.sock");
            let listener = listen(&path).unwrap();
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
            connect(&path).unwrap().write_all(b"hello").unwrap();
            let mut said = String::new();
            listener.accept().unwrap().0.read_to_string(&mut said).unwrap();
            assert_eq!(said, "hello");
        }
    }
}
