//! Finds the server programs; an error says what to install.

use std::{
    cmp::Reverse,
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::OnceLock,
};

use anyhow::{Context, Result, bail};

/// The oldest NATS version that we run; older servers have lost data (D16).
const NATS_MINIMUM: (u32, u32, u32) = (2, 12, 3);

/// Returns `nats-server` from the PATH if it is new enough, else the one that `scripts/dev` fetched
/// into the cache.
pub(crate) fn nats_server() -> Result<PathBuf> {
    // Looks once per process, because asking for the version costs as much as starting the server.
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    if let Some(path) = FOUND.get() {
        return Ok(path.clone());
    }
    let mut seen = Vec::new();
    for path in on_path("nats-server").into_iter().chain(cached_nats()) {
        match nats_version(&path) {
            Some(version) if version >= NATS_MINIMUM => {
                return Ok(FOUND.get_or_init(|| path).clone());
            }
            Some((major, minor, patch)) => {
                seen.push(format!("{} is {major}.{minor}.{patch}", path.display()));
            }
            None => seen.push(format!("{} does not run", path.display())),
        }
    }
    let (major, minor, patch) = NATS_MINIMUM;
    let seen = if seen.is_empty() {
        String::new()
    } else {
        format!(" ({})", seen.join("; "))
    };
    bail!(
        "found no nats-server {major}.{minor}.{patch} or newer{seen}: run ./scripts/dev, which \
         fetches one"
    )
}

/// Returns `redis-server` from the PATH.
pub(crate) fn redis_server() -> Result<PathBuf> {
    on_path("redis-server").context(
        "found no redis-server: run ./scripts/dev, or install it (Debian: redis-server, macOS: \
         brew install redis)",
    )
}

/// Returns the folder that holds `postgres`, `initdb` and `psql`.
pub(crate) fn postgres_bin() -> Result<PathBuf> {
    let complete = |dir: &PathBuf| {
        ["postgres", "initdb", "psql"]
            .iter()
            .all(|name| is_program(&dir.join(name)))
    };
    let configured = on_path("pg_config")
        .and_then(|tool| printed(&tool, "--bindir"))
        .map(PathBuf::from);
    configured
        .into_iter()
        // On Debian, `pg_config` may be installed without a server, and the server's programs are
        // not on the PATH.
        .chain(newest(Path::new("/usr/lib/postgresql"), ""))
        .chain(newest(Path::new("/opt/homebrew/opt"), "postgresql"))
        .chain(newest(Path::new("/usr/local/opt"), "postgresql"))
        .chain(newest(Path::new("/Library/PostgreSQL"), ""))
        .chain(on_path("postgres").and_then(|path| path.parent().map(Path::to_owned)))
        .find(complete)
        .context(
            "found no Postgres server: run ./scripts/dev, or install it (Debian: postgresql, \
             macOS: brew install postgresql)",
        )
}

/// Returns the first program of this name on the PATH.
pub(crate) fn on_path(name: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|dir| dir.join(name))
        .find(|path| is_program(path))
}

fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn cached_nats() -> Option<PathBuf> {
    let cache = match std::env::var_os("HEY_SEVEN_CACHE") {
        Some(dir) => PathBuf::from(dir),
        None => PathBuf::from(std::env::var_os("HOME")?).join(".cache/hey-seven"),
    };
    find_below(&cache.join("nats"), "nats-server", 4)
}

/// Searches a folder and the folders below it, down to `depth` levels. The program's place in the
/// downloaded package differs between versions.
fn find_below(dir: &Path, name: &str, depth: u32) -> Option<PathBuf> {
    let here = dir.join(name);
    if is_program(&here) {
        return Some(here);
    }
    let below = fs::read_dir(dir)
        .ok()?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.is_dir());
    if depth == 0 {
        None
    } else {
        below
            .into_iter()
            .find_map(|dir| find_below(&dir, name, depth - 1))
    }
}

/// Returns the `bin` folder of every version in `root` whose name starts with `prefix`, newest
/// first.
fn newest(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(root) else {
        return Vec::new();
    };
    let mut versions: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('@');
            Some((
                version.split('.').next()?.parse().unwrap_or_default(),
                entry.path().join("bin"),
            ))
        })
        .collect();
    versions.sort_by_key(|(version, _)| Reverse(*version));
    versions.into_iter().map(|(_, dir)| dir).collect()
}

fn nats_version(path: &Path) -> Option<(u32, u32, u32)> {
    parse_version(&printed(path, "--version")?)
}

/// Parses a version as the server prints it: `nats-server: v2.15.1`.
fn parse_version(text: &str) -> Option<(u32, u32, u32)> {
    let number = |text: &str| {
        text.split(|c: char| !c.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    let mut parts = text.rsplit_once('v')?.1.splitn(3, '.').map(number);
    Some((parts.next()??, parts.next()??, parts.next()??))
}

fn printed(program: &Path, flag: &str) -> Option<String> {
    let output = Command::new(program)
        .arg(flag)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?.trim().to_owned();
    (output.status.success() && !text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_versions_as_nats_prints_them() {
        assert_eq!(parse_version("nats-server: v2.15.1"), Some((2, 15, 1)));
        assert_eq!(parse_version("nats-server: v2.12.3-RC.1"), Some((2, 12, 3)));
        assert!(parse_version("nats-server: v2.9.10").unwrap() < NATS_MINIMUM);
        assert_eq!(parse_version("something else"), None);
    }

    #[test]
    fn version_folders_are_sorted_as_numbers() {
        let root = std::env::temp_dir().join(format!("seven-newest-{}", std::process::id()));
        for version in ["9", "15", "14"] {
            fs::create_dir_all(root.join(version).join("bin")).unwrap();
        }
        let found = newest(&root, "");
        assert_eq!(found[0], root.join("15/bin"));
        assert_eq!(found[2], root.join("9/bin"));
        fs::remove_dir_all(&root).unwrap();
    }
}
