//! The packs of this fleet: those compiled in, and those in `packs.directory`, one folder each. An
//! invalid pack prevents the start.

use std::path::Path;

use anyhow::{Context, Result};
use seven_offline_host::HostPack;
use seven_packs::{Files, Pack, Packs};

/// Reads each folder of `directory` as a pack with the folder's name; an empty path adds none.
pub fn load(directory: &Path) -> Result<Packs> {
    let mut packs = Vec::new();
    if !directory.as_os_str().is_empty() {
        let entries = std::fs::read_dir(directory).with_context(|| {
            format!(
                "setting packs.directory names {}, which cannot be read",
                directory.display()
            )
        })?;
        for entry in entries {
            let folder = entry?.path();
            if folder.is_dir() {
                packs.push(read(&folder)?);
            }
        }
    }
    Ok(Packs::shipped().with(packs)?)
}

fn read(folder: &Path) -> Result<Pack> {
    let name = folder.file_name().and_then(|name| name.to_str());
    let name = name.with_context(|| {
        format!(
            "{}: a pack's folder is named in plain text",
            folder.display()
        )
    })?;
    let files = Files::read(|file| {
        let path = folder.join(file);
        std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))
    })?;
    let pack =
        Pack::parse(name, &files).with_context(|| format!("reading {}", folder.display()))?;
    seven_tools::check(&pack.agents)
        .with_context(|| format!("reading {}", folder.join("agents.toml").display()))?;
    HostPack::from_toml(&pack.files.host)
        .with_context(|| format!("reading {}", folder.join("host.toml").display()))?;
    Ok(pack)
}
