//! A lock on a directory, so that only one `./scripts/dev` runs per clone of the repository.

use std::{
    fs::{self, File, TryLockError},
    io::{Read, Seek, Write},
    path::Path,
};

use anyhow::{Context, Result, bail};

/// A lock on a directory. The kernel releases it when the process ends, however it ends.
#[derive(Debug)]
pub struct DirLock {
    _file: File,
}

impl DirLock {
    /// Takes the lock; the error names the process that holds it.
    pub fn acquire(dir: &Path) -> Result<Self> {
        fs::create_dir_all(dir).with_context(|| format!("creating {}", dir.display()))?;
        let path = dir.join("lock");
        let mut file = File::options()
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .with_context(|| format!("opening {}", path.display()))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut owner = String::new();
                file.read_to_string(&mut owner).ok();
                bail!(
                    "{} is in use by process {}: end that one first",
                    dir.display(),
                    owner.trim()
                );
            }
            Err(TryLockError::Error(error)) => {
                return Err(error).with_context(|| format!("locking {}", path.display()));
            }
        }
        file.set_len(0)
            .and_then(|()| file.rewind())
            .context("clearing the lock file")?;
        writeln!(file, "{}", std::process::id()).context("writing the lock file")?;
        Ok(Self { _file: file })
    }
}
