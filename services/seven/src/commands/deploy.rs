//! `seven deploy render|values`: manifests from values, and a casino's values from its document.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    process::ExitCode,
    sync::Arc,
};

use anyhow::{Context as _, Result, bail, ensure};
use clap::{Args, Subcommand};
use seven_deploy::{
    self, File,
    values::{CasinoValues, Values},
};
use seven_domain::{CasinoConfig, CasinoId, TimeScale};
use seven_runtime::Timing;
use seven_store::Store;

use super::context::{Context, Operate};
use crate::{onboard, out};

#[derive(Debug, Subcommand)]
pub enum Deploy {
    /// Render the Kubernetes manifests and the NATS servers' configuration from values.
    ///
    /// The files hold only the names of secrets. All faults of the values are listed at once.
    Render(Render),
    /// Print or write a casino's values file, from its document in the database.
    ///
    /// An existing file is compared with the document and not replaced.
    Values(ValuesOf),
}

#[derive(Debug, Args)]
pub struct Render {
    /// The fleet's values.
    #[arg(long, value_name = "FILE", default_value = "deploy/values/fleet.yaml")]
    values: PathBuf,
    /// The folder with one values file per casino.
    #[arg(long, value_name = "DIR", default_value = "deploy/values/casinos")]
    casinos: PathBuf,
    /// The folder to write. Files of an earlier render that are no longer rendered are removed.
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Compare with the files in the folder, write nothing, and fail where they differ.
    #[arg(long)]
    check: bool,
}

#[derive(Debug, Args)]
pub struct ValuesOf {
    /// The casino's id.
    casino: CasinoId,
    /// The casino document to read (JSON or TOML) instead of the database.
    #[arg(long, value_name = "FILE")]
    document: Option<PathBuf>,
    /// The folder in which <slug>.yaml is written. Without it: stdout.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Operate for Deploy {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        match self {
            Self::Render(Render {
                values,
                casinos,
                out,
                check,
            }) => render(&values, &casinos, &out, check)?,
            Self::Values(ValuesOf {
                casino,
                document,
                out,
            }) => {
                let document = match document {
                    Some(file) => {
                        onboard::read_casino(&file.display().to_string(), &super::read(&file)?)?
                    }
                    None => stored(ctx, &casino).await?,
                };
                let of = &document.casino_id;
                ensure!(
                    *of == casino,
                    "the document is that of {of}, not of {casino}"
                );
                of_casino(&document, out.as_deref())?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn render(fleet: &Path, casinos: &Path, folder: &Path, check: bool) -> Result<()> {
    let values = Values::load(fleet, casinos)?;
    let files = seven_deploy::render(&values)?;
    if check {
        let different = different(&files, folder)?;
        ensure!(
            different.is_empty(),
            "{} differs from what the values and this build render; run without --check and read the difference:\n{}",
            folder.display(),
            different.join("\n")
        );
        out!("{} file(s) are up to date.", files.len());
        return Ok(());
    }
    write(&files, folder)?;
    for file in &files {
        out!("{}", folder.join(&file.path).display());
    }
    let users: Vec<String> = seven_deploy::nats::password_variables(&values)
        .into_iter()
        .map(|(_, user)| user)
        .collect();
    let secrets = users
        .iter()
        .map(|user| seven_deploy::password_secret(user))
        .collect::<Vec<_>>()
        .join(" ");
    out!("");
    out!("The cluster needs these secrets too, each with a key `password`: {secrets}");
    Ok(())
}

/// Returns the paths of all files in the two subfolders of `folder` that a render writes.
fn present(folder: &Path) -> Result<BTreeSet<String>> {
    let mut found = BTreeSet::new();
    for part in ["kubernetes", "nats"] {
        let Ok(entries) = std::fs::read_dir(folder.join(part)) else {
            continue;
        };
        for entry in entries {
            let name = entry
                .with_context(|| format!("reading {}", folder.display()))?
                .file_name();
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
                let line = text
                    .lines()
                    .zip(file.text.lines())
                    .take_while(|(a, b)| a == b)
                    .count()
                    + 1;
                all.push(format!("{}: differs from line {line} on", file.path));
            }
            Err(_) => all.push(format!("{}: missing", file.path)),
        }
        left.remove(&file.path);
    }
    all.extend(
        left.into_iter()
            .map(|path| format!("{path}: not rendered any more")),
    );
    Ok(all)
}

fn write(files: &[File], folder: &Path) -> Result<()> {
    let mut left = present(folder)?;
    for file in files {
        let path = folder.join(&file.path);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)
                .with_context(|| format!("creating {}", parent.display()))?;
        }
        std::fs::write(&path, &file.text).with_context(|| format!("writing {}", path.display()))?;
        left.remove(&file.path);
    }
    for path in left {
        let path = folder.join(path);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        // The folder may hold an operator's own files, so only rendered ones are removed.
        if text.starts_with(seven_deploy::HEAD) {
            std::fs::remove_file(&path).with_context(|| format!("removing {}", path.display()))?;
        }
    }
    Ok(())
}

/// Reads the casino's document from the database.
async fn stored(ctx: &Context, casino: &CasinoId) -> Result<CasinoConfig> {
    let settings = ctx.settings()?;
    let store = Store::new(
        &settings.postgres.url,
        1,
        Timing::new(TimeScale::new(settings.time.scale)).sweep(),
    )?;
    let mut tx = store
        .bind(casino)
        .await
        .context("reading the casino's document; --document FILE needs no database")?;
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
    ensure!(
        !slug.ends_with('-'),
        "{} becomes {slug}, which is no host name: ids must not end in _",
        fresh.casino_id
    );
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
    out!(
        "Wrote {}. Next: own_workers there if it is busy, then seven deploy render.",
        file.display()
    );
    Ok(())
}

/// Checks that the file has the same casino id, number and tier as the document. The file is not
/// written, so that values that an operator added stay.
fn compare(file: &Path, there: &CasinoValues, document: &CasinoValues) -> Result<()> {
    let mut problems = Vec::new();
    for (key, is, should) in [
        (
            "casino_id",
            there.casino_id.to_string(),
            document.casino_id.to_string(),
        ),
        (
            "number",
            there.number.as_str().to_owned(),
            document.number.as_str().to_owned(),
        ),
        (
            "tier",
            format!("{:?}", there.tier).to_lowercase(),
            format!("{:?}", document.tier).to_lowercase(),
        ),
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
