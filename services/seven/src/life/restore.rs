//! `seven restore`: restores a backup into an empty database. Workers cannot log in until the fleet
//! is paused, so no text in the backup is sent (D5).

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use seven_domain::{CasinoId, HashKeys, TimeScale};
use seven_runtime::Timing;
use seven_settings::Settings;
use seven_store::{
    Store,
    backup::{self as database, Halted, Snapshot},
    schema,
};

use super::{
    backup::owner,
    clients,
    manifest::{DUMP, Key, Manifest},
};

/// Result of a restore.
#[derive(Debug)]
pub struct Restored {
    pub manifest: Manifest,
    pub halted: Halted,
    /// The number of consent chains that were checked, and the broken ones; `None` if no check was
    /// asked for.
    pub chains: Option<(usize, Vec<String>)>,
}

/// Restores the backup in `dir` into an empty database; with `verify`, also checks every consent
/// chain.
///
/// # Errors
/// When the database is not empty, the guest hash key in the settings is not that of the backup, or
/// the restored data differs from the manifest. Workers then still cannot log in.
pub async fn restore(settings: &Settings, dir: &Path, verify: bool, by: &str) -> Result<Restored> {
    let owner = owner(settings)?;
    let manifest = Manifest::read(dir)?;
    let keys = HashKeys::new(settings.hash_key()?);
    ensure!(
        Key::of(settings.guest_hash.id, &keys) == manifest.guest_hash,
        "guest_hash is not that of the backup (id {}): no opt-out in it would be found with this \
         key; set the secret of then",
        manifest.guest_hash.id
    );
    ensure!(
        manifest.contents.schema <= schema::needed(),
        "the backup has schema {}, this build knows {}; restore with the build that made it ({}) \
         or a newer one",
        manifest.contents.schema,
        schema::needed(),
        manifest.version
    );
    ensure!(
        !manifest.dump.encrypted || !settings.backup.decrypt.is_empty(),
        "the dump is encrypted, and setting backup.decrypt is empty; set the command that decrypts \
         it, such as backup.decrypt = [\"age\", \"--decrypt\", \"--identity\", \"FILE\"]"
    );
    let place = clients::place(owner);
    let tables = database::tables_in(owner)
        .await
        .with_context(|| format!("asking {place}"))?;
    ensure!(
        tables == 0,
        "{place} is not empty ({tables} tables and sequences); restore goes into an empty \
         database: create one and point postgres.owner_url at it"
    );
    let pg_restore = clients::find("pg_restore")?;
    database::shut(owner)
        .await
        .context("keeping the workers out")?;
    let dump = dir
        .canonicalize()
        .context("reading the backup's folder")?
        .join(DUMP);
    let dump = dump
        .to_str()
        .context("the backup's folder has a name that is no text")?;
    let into = format!("--dbname={}", clients::database(owner)?);
    let arguments = [
        "--exit-on-error",
        "--single-transaction",
        "--no-owner",
        &into,
    ];
    if manifest.dump.encrypted {
        let file = std::fs::File::open(dump).context("opening the dump")?;
        clients::run_from(
            &pg_restore,
            owner,
            &arguments,
            &settings.backup.decrypt,
            file,
        )
        .await?;
    } else {
        clients::run(
            &pg_restore,
            owner,
            &[arguments.as_slice(), &[dump]].concat(),
        )
        .await?;
    }
    database::give_functions(owner).await?;
    let differences = manifest
        .contents
        .differences(&Snapshot::take(owner).await?.contents().await?);
    if !differences.is_empty() {
        bail!(
            "what was restored is not what the manifest says, and the workers stay out of {place}: \
             {}",
            differences.join("; ")
        );
    }
    let detail = serde_json::json!({
        "made_at": manifest.made_at,
        "version": manifest.version,
        "sha256": manifest.dump.sha256,
    });
    let halted = database::pause_and_open(owner, by, &detail)
        .await
        .context("pausing the fleet")?;
    let chains = if verify {
        Some(chains(settings, &keys).await?)
    } else {
        None
    };
    Ok(Restored {
        manifest,
        halted,
        chains,
    })
}

/// Checks every consent chain with a worker's database login.
async fn chains(settings: &Settings, keys: &HashKeys) -> Result<(usize, Vec<String>)> {
    let store = Store::new(
        &settings.postgres.url,
        2,
        Timing::new(TimeScale::new(settings.time.scale)).sweep(),
    )?;
    let (mut walked, mut broken) = (0, Vec::new());
    let ids: Vec<CasinoId> = store
        .roster()
        .await?
        .into_iter()
        .map(|entry| entry.casino)
        .collect();
    for casino in ids {
        let mut tx = store.bind(&casino).await?;
        for guest in tx.chains(None).await? {
            walked += 1;
            if !tx.verify_chain(&guest, keys).await?.valid {
                broken.push(format!("{} at {casino}", guest.tag()));
            }
        }
        tx.commit().await?;
    }
    Ok((walked, broken))
}
