//! The token of a server: who can read the file may ask.

use std::fs::DirBuilder;
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::error::CliError;
use crate::{files, platform};

/// The largest file a token is read from, and the shortest token that is taken.
const FILE_MAX: u64 = 4096;
const SHORTEST: usize = 16;

/// What a client has to know.
#[derive(Clone, Debug)]
pub(crate) struct Token {
    /// Its digest: two digests are compared in the same time wherever they differ.
    digest: blake3::Hash,
    path: PathBuf,
}

impl Token {
    /// The token in a file of the user's, which nobody else may read.
    pub(crate) fn given(path: &Path) -> Result<Self, CliError> {
        let shown = path.display();
        let refused = |error| CliError::io(format!("`{shown}` cannot be read")).cause(error);
        let file = files::open(path).map_err(refused)?;
        let mode = file.metadata().map_err(refused)?.permissions().mode();
        if mode & 0o077 != 0 {
            return Err(CliError::config(format!("others may read the token in `{shown}`"))
                .hint(format!("chmod 600 {shown}")));
        }
        let text = files::read_text(path, FILE_MAX).map_err(refused)?;
        let token = text.trim();
        if token.len() < SHORTEST {
            return Err(CliError::config(format!("the token in `{shown}` is too short to be one"))
                .hint(format!("write at least {SHORTEST} random characters into it")));
        }
        Ok(Self { digest: blake3::hash(token.as_bytes()), path: path.to_path_buf() })
    }

    /// The token of this machine's servers, made when there is none yet.
    pub(crate) fn own(state_dir: &Path) -> Result<Self, CliError> {
        let folder = state_dir.join("secrets");
        let path = folder.join("http-token");
        let refused = |error: std::io::Error| {
            CliError::io(format!("the token `{}` cannot be made", path.display())).cause(error)
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder).map_err(refused)?;
        if path.symlink_metadata().is_err() {
            let token = blake3::hash(&platform::random_bytes().map_err(refused)?).to_hex();
            let mut file = files::beside(&path, 0o600).map_err(refused)?;
            writeln!(file, "{token}").map_err(refused)?;
            // Another start may have been first: its token stands.
            file.persist_noclobber(&path)
                .map(drop)
                .or_else(|error| if path.exists() { Ok(()) } else { Err(refused(error.error)) })?;
        }
        Self::given(&path)
    }

    /// The file it stands in.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Whether this is it.
    pub(crate) fn is(&self, offered: &str) -> bool {
        blake3::hash(offered.as_bytes()) == self.digest
    }

    #[cfg(test)]
    pub(crate) fn of(token: &str) -> Self {
        Self { digest: blake3::hash(token.as_bytes()), path: PathBuf::new() }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_own_token_is_made_once_and_only_for_the_user() {
        let state = tempfile::tempdir().unwrap();
        let first = Token::own(state.path()).unwrap();
        let second = Token::own(state.path()).unwrap();
        assert_eq!(first.digest, second.digest);
        let mode = fs::metadata(first.path()).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o600);
        let text = fs::read_to_string(first.path()).unwrap();
        assert!(first.is(text.trim()) && !first.is("") && !first.is("x"));
        assert!(text.trim().len() == 64);
    }

    #[test]
    fn a_token_others_can_read_or_guess_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("token");
        fs::write(&path, "0123456789abcdef\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        assert!(Token::given(&path).unwrap_err().message.contains("others may read"));
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(Token::given(&path).unwrap().is("0123456789abcdef"));
        fs::write(&path, "short").unwrap();
        assert!(Token::given(&path).unwrap_err().message.contains("too short"));
        assert!(Token::given(&dir.path().join("none")).is_err());
    }
}
