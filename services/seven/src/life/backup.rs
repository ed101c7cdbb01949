//! `seven backup`: dumps everything in Postgres, consent and audit log included, as of one moment.

use std::{
    fs::File,
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::Path,
};

use anyhow::{Context, Result, ensure};
use secrecy::SecretString;
use seven_domain::{Clock, HashKeys};
use seven_settings::Settings;
use seven_store::{backup::Snapshot, logins};

use super::{
    clients,
    manifest::{DUMP, Dump, Key, Manifest},
};

/// Writes a dump and a manifest of the same moment to `dir`. The fleet goes on working meanwhile.
///
/// # Errors
/// When the folder is in use, the database cannot be read in full, or `pg_dump` fails. The folder
/// then has no manifest.
pub async fn backup(settings: &Settings, dir: &Path) -> Result<Manifest> {
    let owner = owner(settings)?;
    let keys = HashKeys::new(settings.hash_key()?);
    let dir = fresh(dir)?;
    let pg_dump = clients::find("pg_dump")?;
    let mut snapshot = Snapshot::take(owner)
        .await
        .with_context(|| format!("reading {}", clients::place(owner)))?;
    let file = dir.join(DUMP);
    let (id, path) = (
        format!("--snapshot={}", snapshot.id),
        format!("--file={}", file.display()),
    );
    let encrypt = &settings.backup.encrypt;
    // The custom format is compressed, and pg_restore can restore it in one transaction.
    if encrypt.is_empty() {
        clients::run(&pg_dump, owner, &["--format=custom", &id, &path]).await?;
    } else {
        let file = File::create(&file).context("creating the dump")?;
        clients::run_into(&pg_dump, owner, &["--format=custom", &id], encrypt, file).await?;
    }
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))
        .context("keeping others from the dump")?;
    let contents = snapshot
        .contents()
        .await
        .context("counting what was dumped")?;
    let manifest = Manifest {
        format: Manifest::FORMAT,
        made_at: Clock::default().now(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        server: snapshot.server,
        dump: Dump {
            encrypted: !encrypt.is_empty(),
            ..Dump::of(&file)?
        },
        guest_hash: Key::of(settings.guest_hash.id, &keys),
        logins: logins::logins(owner).await?,
        contents,
    };
    manifest.write(&dir)?;
    Ok(manifest)
}

pub fn owner(settings: &Settings) -> Result<&SecretString> {
    settings.postgres.owner_url.as_ref().context(
        "setting postgres.owner_url is missing; backup and restore need the owner's connection, \
         which sees every casino",
    )
}

/// Creates the folder. No other account can read it, because it will hold the phones of all guests.
/// An existing folder must be empty.
fn fresh(dir: &Path) -> Result<std::path::PathBuf> {
    if dir.exists() {
        let empty = std::fs::read_dir(dir)
            .with_context(|| format!("reading {}", dir.display()))?
            .next()
            .is_none();
        ensure!(
            empty,
            "{} is not empty; a backup is a folder of its own, such as backups/2026-11-23",
            dir.display()
        );
    } else {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(dir)
            .with_context(|| format!("creating {}", dir.display()))?;
    }
    dir.canonicalize()
        .with_context(|| format!("reading {}", dir.display()))
}
