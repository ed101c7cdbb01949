//! The manifest: a file beside a dump that says what the dump must contain.

use std::{
    fs::File,
    io::Read,
    path::{Path, PathBuf},
};

use anyhow::{Context, Result, ensure};
use chrono::{DateTime, Utc};
use serde::{Deserialize, Serialize};
use seven_domain::HashKeys;
use seven_store::backup::Contents;
use sha2::{Digest, Sha256};

/// Version of the manifest's format.
const FORMAT: u32 = 1;
const FILE: &str = "manifest.json";
pub const DUMP: &str = "seven.dump";

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    pub format: u32,
    pub made_at: DateTime<Utc>,
    /// Version of the build that made the backup.
    pub version: String,
    /// `server_version_num` of the Postgres server.
    pub server: i32,
    pub dump: Dump,
    pub guest_hash: Key,
    /// Casinos with a database login of their own, which a restore must create again: a dump holds
    /// no logins.
    pub logins: Vec<String>,
    pub contents: Contents,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dump {
    pub bytes: u64,
    pub sha256: String,
    /// Whether the command `backup.encrypt` encrypted the dump; `sha256` is then the hash of the
    /// encrypted file.
    #[serde(default)]
    pub encrypted: bool,
}

/// Identifies the key with which guests are hashed. With another key, no opt-out in the backup
/// would be found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Key {
    pub id: i16,
    /// A value computed with the key. Equal values mean equal keys; the value does not reveal the
    /// key.
    pub check: String,
}

impl Key {
    pub fn of(id: i16, keys: &HashKeys) -> Self {
        Self {
            id,
            check: hex::encode(keys.seal("backup")),
        }
    }
}

impl Dump {
    /// Returns size and hash of the dump at `path`, with `encrypted` set to false.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of(path: &Path) -> Result<Self> {
        let mut file = File::open(path).with_context(|| format!("opening {}", path.display()))?;
        let (mut hash, mut bytes, mut buffer) = (Sha256::new(), 0, vec![0; 1 << 16]);
        loop {
            let read = file
                .read(&mut buffer)
                .with_context(|| format!("reading {}", path.display()))?;
            if read == 0 {
                return Ok(Self {
                    bytes,
                    sha256: hex::encode(hash.finalize()),
                    encrypted: false,
                });
            }
            hash.update(&buffer[..read]);
            bytes += read as u64;
        }
    }
}

impl Manifest {
    pub const FORMAT: u32 = FORMAT;

    /// Writes the manifest by a rename, as the last file. A folder with a manifest therefore holds
    /// a finished backup.
    ///
    /// # Errors
    /// When the folder cannot be written.
    pub fn write(&self, dir: &Path) -> Result<PathBuf> {
        let (draft, path) = (dir.join("manifest.part"), dir.join(FILE));
        let text = serde_json::to_string_pretty(self).context("writing the manifest")?;
        std::fs::write(&draft, text).with_context(|| format!("writing {}", draft.display()))?;
        std::fs::rename(&draft, &path).with_context(|| format!("writing {}", path.display()))?;
        Ok(path)
    }

    /// Returns whether the folder is a finished backup.
    pub fn is_in(dir: &Path) -> bool {
        dir.join(FILE).is_file()
    }

    /// Reads the manifest and compares the dump with it.
    ///
    /// # Errors
    /// When the folder is not a finished backup, has another format, or its dump does not match the
    /// manifest.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let text = std::fs::read_to_string(&path).with_context(|| {
            format!(
                "{} is no finished backup: reading {}",
                dir.display(),
                path.display()
            )
        })?;
        let format: serde_json::Value =
            serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        ensure!(
            format["format"] == FORMAT,
            "{} is of format {}; this build reads {FORMAT}: restore with the build that made it",
            path.display(),
            format["format"]
        );
        let manifest: Self =
            serde_json::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
        let dump = dir.join(DUMP);
        ensure!(
            Dump::of(&dump)?.sha256 == manifest.dump.sha256,
            "{} is not the dump of this manifest: its SHA-256 differs; take another copy of the \
             backup",
            dump.display()
        );
        Ok(manifest)
    }
}
