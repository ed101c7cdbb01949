//! `seven completion` prints completion scripts for shells, `seven man` writes man pages.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context as _, Result};
use clap::Args;
use clap_complete::Shell;

use super::context::{Context, Operate};
use crate::out;

#[derive(Debug, Args)]
pub struct Completion {
    /// Name of the shell.
    shell: Shell,
}

#[derive(Debug, Args)]
pub struct Man {
    /// The folder in which the pages are written; it is created if it is missing.
    dir: PathBuf,
}

impl Operate for Completion {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut (ctx.grammar)(), "seven", &mut script);
        out!("{}", String::from_utf8(script)?.trim_end());
        Ok(ExitCode::SUCCESS)
    }
}

impl Operate for Man {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        std::fs::create_dir_all(&self.dir)
            .with_context(|| format!("creating {}", self.dir.display()))?;
        let pages = write((ctx.grammar)(), &self.dir)
            .with_context(|| format!("writing into {}", self.dir.display()))?;
        out!(
            "Wrote {pages} pages; read one with: man {}",
            self.dir.join("seven.1").display()
        );
        Ok(ExitCode::SUCCESS)
    }
}

/// Writes the man pages and returns their number.
fn write(command: clap::Command, dir: &Path) -> std::io::Result<usize> {
    clap_mangen::generate_to(command, dir)?;
    Ok(std::fs::read_dir(dir)?
        .filter_map(Result::ok)
        .filter(|entry| entry.file_name().to_string_lossy().ends_with(".1"))
        .count())
}
