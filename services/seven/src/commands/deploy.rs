//! `seven deploy render|values`: manifests from values, and a casino's values from its document. Neither needs a running fleet.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    sync::Arc,
};

use anyhow::{Context, Result, bail, ensure};
use clap::Subcommand;
use seven_deploy::{
    self, File,
    values::{CasinoValues, Values},
};
use seven_domain::{CasinoConfig, CasinoId, TimeScale};
use seven_runtime::Timing;
use seven_settings::Settings;
use seven_store::Store;

use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum Deploy {
    /// Render the fleet's Kubernetes manifests and the NATS servers' configuration. Secrets are names only; what is wrong with the values is
    /// listed, all of it.
    Render {
        /// The fleet's values.
        #[arg(long, value_name = "FILE", default_value = "deploy/values/fleet.yaml")]
        values: PathBuf,
        /// The folder with one file per casino.
        #[arg(long, value_name = "DIR", default_value = "deploy/values/casinos")]
        casinos: PathBuf,
        /// Where the files go; those that an earlier render left there and this one does not write are removed.
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Write nothing: compare with what is there, and fail where it differs.
        #[arg(long)]
        check: bool,
    },
    /// The values file of a casino, from its document in the database; with --out as a file. One that is there is compared, not replaced.
    Values {
        casino: CasinoId,
        /// Read this document (JSON or TOML) instead of the database.
        #[arg(long, value_name = "FILE")]
        document: Option<PathBuf>,
        /// Write <slug>.yaml into this folder instead of printing it.
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
    },
}

pub async fn run(config: Option<&Path>, command: Deploy) -> Result<()> {
    match command {
        Deploy::Render { values, casinos, out, check } => render(&values, &casinos, &out, check),
        Deploy::Values { casino, document, out } => {
            let document = match document {
                Some(file) => {
                    let text = std::fs::read_to_string(&file).with_context(|| format!("reading {}", file.display()))?;
                    onboard::read_casino(&file.display().to_string(), &text)?
                }
                None => stored(config, &casino).await?,
            };
            ensure!(document.casino_id == casino, "the document is that of {}, not of {casino}", document.casino_id);
            of_casino(&document, out.as_deref())
        }
    }
}

fn render(fleet: &Path, casinos: &Path, folder: &Path, check: bool) -> Result<()> {
    let values = Values::load(fleet, casinos)?;
    let files = seven_deploy::render(&values)?;
    if check {
        let different = different(&files, folder)?;
        ensure!(
            different.is_empty(),
            "{} is not what the values and this code render; run without --check and look at the difference:\n{}",
            folder.display(),
            different.join("\n")
        );
        out!("{} file(s) are as they should be.", files.len());
        return Ok(());
    }
    write(&files, folder)?;
    for file in &files {
        out!("{}", folder.join(&file.path).display());
    }
    let users: Vec<String> =
        seven_deploy::nats::password_variables(&values).into_iter().map(|(_, user)| user).collect();
    let secrets = users.iter().map(|user| seven_deploy::password_secret(user)).collect::<Vec<_>>().join(" ");
    out!("");
    out!("Secrets the cluster needs besides those the values name, each with a key `password`: {secrets}");
    Ok(())
}

/// The paths below `folder` that an earlier render wrote.
fn present(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for part in ["kubernetes", "nats"] {
        let Ok(entries) = std::fs::read_dir(folder.join(part)) else { continue };
        for entry in entries {
            let name = entry.with_context(|| format!("reading {}", folder.display()))?.file_name();
            found.insert(format!("{part}/{}", name.to_string_lossy()));
        }
    }
    Ok(found)
}

fn different(files: &[File], folder: &Path) -> Result<Vec<String>> {
    let mut left = present(folder)?;
    let mut all = Vec::new();
    for file in files {
        match std::fs::read_to_string(folder.join(&file.path)) {
            Ok(text) if text == file.text => {}
            Ok(text) => {
                let line = text.lines().zip(file.text.lines()).take_while(|(a, b)| a == b).count() + 1;
                all.push(format!("{}: differs from line {line} on", file.path));
            }
            Err(_) => all.push(format!("{}: missing", file.path)),
        }
        left.remove(&file.path);
    }
    all.extend(left.into_iter().map(|path| format!("{path}: not rendered any more")));
    Ok(all)
}

fn write(files: &[File], folder: &Path) -> Result<()> {
    let mut left = present(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).with_context(|| format!("creating {}", parent.display()))?;
        }
        std::fs::write(&path, &file.text).with_context(|| format!("writing {}", path.display()))?;
        left.remove(&file.path);
    }
    for path in left {
        let path = folder.join(path);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // Only what is ours: the folder may hold an operator's own files.
        if text.starts_with(seven_deploy::HEAD) {
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

/// The document the database has.
async fn stored(config: Option<&Path>, casino: &CasinoId) -> Result<CasinoConfig> {
    let settings = Settings::load(config)?;
    let store = Store::new(&settings.postgres.url, 1, Timing::new(TimeScale::new(settings.time.scale)).sweep())?;
    let mut tx =
        store.bind(casino).await.context("reading the casino's document; --document FILE needs no database")?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let row = row.with_context(|| format!("no casino {casino}; `seven casino list` shows them"))?;
    Ok(Arc::unwrap_or_clone(row.config))
}

fn of_casino(document: &CasinoConfig, folder: Option<&Path>) -> Result<()> {
    let fresh = CasinoValues {
        casino_id: document.casino_id.clone(),
        number: document.operational.telnyx_phone_number.clone(),
        tier: document.limits.rate_limit_tier,
        own_workers: Vec::new(),
        max: None,
        secrets: std::collections::BTreeMap::new(),
    };
    let slug = fresh.casino_id.slug();
    ensure!(!slug.ends_with('-'), "{} becomes {slug}, which is no host name: ids must not end in _", fresh.casino_id);
    let text = format!(
        "# Written by `seven deploy values {}`; number and tier repeat the casino's document.\n{}",
        fresh.casino_id,
        serde_yaml_ng::to_string(&fresh)?
    );
    let Some(folder) = folder else {
        out!("{}", text.trim_end());
        return Ok(());
    };
    let file = folder.join(format!("{slug}.yaml"));
    if file.exists() {
        return compare(&file, &seven_deploy::load::casino(&file)?, &fresh);
    }
    std::fs::create_dir_all(folder).with_context(|| format!("creating {}", folder.display()))?;
    std::fs::write(&file, text).with_context(|| format!("writing {}", file.display()))?;
    out!("Wrote {}. Next: own_workers there if it is busy, then seven deploy render.", file.display());
    Ok(())
}

/// Checks that the values which repeat the document agree with it. The file is not written, so that
/// values an operator added stay.
fn compare(file: &Path, there: &CasinoValues, document: &CasinoValues) -> Result<()> {
    let mut problems = Vec::new();
    for (key, is, should) in [
        ("casino_id", there.casino_id.to_string(), document.casino_id.to_string()),
        ("number", there.number.as_str().to_owned(), document.number.as_str().to_owned()),
        ("tier", format!("{:?}", there.tier).to_lowercase(), format!("{:?}", document.tier).to_lowercase()),
    ] {
        if is != should {
            problems.push(format!("{key} is {is}, in the document {should}"));
        }
    }
    if !problems.is_empty() {
        bail!("{}: {}", file.display(), problems.join("; "));
    }
    out!("{} is there and agrees with the document.", file.display());
    Ok(())
}
