//! Finds and runs Postgres' own client programs. They get the database's address through the
//! environment, so that no password appears in a process list.

use std::{
    fs::File,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use secrecy::{ExposeSecret, SecretString};
use tokio::process::{Child, Command};
use url::Url;

/// Folders that contain one folder per Postgres version, each with a `bin`.
const VERSIONED: [&str; 4] = [
    "/usr/lib/postgresql",
    "/opt/homebrew/opt",
    "/usr/local/opt",
    "/Library/PostgreSQL",
];

/// Returns the path of a program. The folders on the PATH come first, then the newest version below
/// `VERSIONED`.
pub fn find(name: &str) -> Result<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).map(|dir| dir.join(name));
    let versioned = VERSIONED
        .iter()
        .flat_map(|root| versions(Path::new(root)))
        .map(|bin| bin.join(name));
    on_path
        .chain(versioned)
        .find(|program| is_program(program))
        .with_context(|| {
            format!(
                "found no {name}; install Postgres' client programs of the server's version or \
                 newer (Debian: postgresql-client, macOS: brew install libpq)"
            )
        })
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Returns `bin` of every version in `root`, the newest first: a client may be newer than its
/// server, but not older.
fn versions(root: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else {
        return Vec::new();
    };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name
                .strip_prefix("postgresql")
                .unwrap_or(&name)
                .trim_start_matches('@')
                .to_owned();
            Some((
                version.split('.').next()?.parse().ok()?,
                entry.path().join("bin"),
            ))
        })
        .collect();
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    found.into_iter().map(|(_, bin)| bin).collect()
}

/// Runs a client against the database at `url`. If it fails, the error has the last lines of its
/// stderr.
pub async fn run(program: &Path, url: &SecretString, arguments: &[&str]) -> Result<()> {
    let client = client(program, url, arguments)?
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .spawn();
    finish(program, client).await
}

/// Runs a client and writes its output to `file` through the command `encrypt`. No unencrypted byte
/// reaches the disk.
pub async fn run_into(
    program: &Path,
    url: &SecretString,
    arguments: &[&str],
    encrypt: &[String],
    file: File,
) -> Result<()> {
    let mut client = client(program, url, arguments)?;
    let mut client = client
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context(starting(program))?;
    let plain: Stdio = client
        .stdout
        .take()
        .context("reading the client's output")?
        .try_into()?;
    let (name, filter) = filter(encrypt, plain, file.into())?;
    let (encrypted, dumped) = tokio::join!(finish(name, filter), finish(program, Ok(client)));
    // If the filter ends early, the client fails too. The filter's error is the cause, so it comes
    // first.
    encrypted.and(dumped)
}

/// Runs a client that reads `file` through the command `decrypt`.
pub async fn run_from(
    program: &Path,
    url: &SecretString,
    arguments: &[&str],
    decrypt: &[String],
    file: File,
) -> Result<()> {
    let (name, filter) = filter(decrypt, file.into(), Stdio::piped())?;
    let mut filter = filter.with_context(|| starting(name))?;
    let plain: Stdio = filter
        .stdout
        .take()
        .context("reading what was decrypted")?
        .try_into()?;
    let client = client(program, url, arguments)?
        .stdin(plain)
        .stdout(Stdio::null())
        .spawn();
    let (decrypted, restored) = tokio::join!(finish(name, Ok(filter)), finish(program, client));
    decrypted.and(restored)
}

fn client(program: &Path, url: &SecretString, arguments: &[&str]) -> Result<Command> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .args(["--no-password"])
        .envs(environment(url)?);
    // The client runs in `/`, because its account may have no right to read the current folder.
    command
        .current_dir("/")
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Ok(command)
}

/// Starts a filter. Dropping its `Command` here closes our own end of `input`; only then does the
/// program that writes to `input` notice when the filter ends.
fn filter(
    command: &[String],
    input: Stdio,
    output: Stdio,
) -> Result<(&Path, std::io::Result<Child>)> {
    let (program, arguments) = command
        .split_first()
        .context("the command that encrypts or decrypts is empty")?;
    let mut filter = Command::new(program);
    filter
        .args(arguments)
        .stdin(input)
        .stdout(output)
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    Ok((Path::new(program), filter.spawn()))
}

fn starting(program: &Path) -> String {
    format!("starting {}", program.display())
}

async fn finish(program: &Path, child: std::io::Result<Child>) -> Result<()> {
    let output = child
        .context(starting(program))?
        .wait_with_output()
        .await
        .context(starting(program))?;
    let said = String::from_utf8_lossy(&output.stderr);
    let last: Vec<&str> = said
        .lines()
        .rev()
        .take(5)
        .collect::<Vec<_>>()
        .into_iter()
        .rev()
        .collect();
    ensure!(
        output.status.success(),
        "{} failed: {}",
        program.display(),
        last.join("; ")
    );
    Ok(())
}

/// Returns the URL's parts as environment variables for libpq. A URL on the command line would show
/// the password.
fn environment(url: &SecretString) -> Result<Vec<(&'static str, String)>> {
    let url = Url::parse(url.expose_secret()).context("reading postgres.owner_url")?;
    let plain = |text: &str| percent_decoded(text);
    let mut environment = vec![("PGAPPNAME", "seven backup".to_owned())];
    let mut put =
        |name, value: Option<String>| environment.extend(value.map(|value| (name, value)));
    put(
        "PGHOST",
        url.host_str()
            .map(|host| host.trim_matches(['[', ']']).to_owned()),
    );
    put("PGPORT", url.port().map(|port| port.to_string()));
    put(
        "PGUSER",
        (!url.username().is_empty()).then(|| plain(url.username())),
    );
    put("PGPASSWORD", url.password().map(plain));
    put(
        "PGDATABASE",
        Some(plain(url.path().trim_start_matches('/'))),
    );
    for (key, value) in url.query_pairs() {
        let name = match &*key {
            "sslmode" => "PGSSLMODE",
            "sslrootcert" => "PGSSLROOTCERT",
            "sslcert" => "PGSSLCERT",
            "sslkey" => "PGSSLKEY",
            "host" => "PGHOST",
            _ => continue,
        };
        put(name, Some(value.into_owned()));
    }
    Ok(environment)
}

fn percent_decoded(text: &str) -> String {
    // The text is decoded like a form value, except for `+`, which a URL's user may contain.
    let escaped = text.replace('+', "%2B");
    let pair = format!("x={escaped}");
    url::form_urlencoded::parse(pair.as_bytes())
        .next()
        .map(|(_, value)| value.into_owned())
        .unwrap_or_default()
}

/// Returns the name of the database in a URL.
pub fn database(url: &SecretString) -> Result<String> {
    let url = Url::parse(url.expose_secret()).context("reading postgres.owner_url")?;
    Ok(percent_decoded(url.path().trim_start_matches('/')))
}

/// Returns name, host and port of the database of a URL, without the password.
pub fn place(url: &SecretString) -> String {
    let Ok(url) = Url::parse(url.expose_secret()) else {
        return "the database".to_owned();
    };
    format!(
        "{} at {}:{}",
        url.path().trim_start_matches('/'),
        url.host_str().unwrap_or("?"),
        url.port().unwrap_or(5432)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_becomes_what_libpq_reads() {
        let url = SecretString::from(
            "postgres://own%40er:p%2Fq+r@db.example:6432/seven?sslmode=verify-full&x=1".to_owned(),
        );
        let environment = environment(&url).unwrap();
        let value = |name| {
            environment
                .iter()
                .find(|(n, _)| *n == name)
                .map(|(_, v)| v.as_str())
        };
        assert_eq!(value("PGHOST"), Some("db.example"));
        assert_eq!(value("PGPORT"), Some("6432"));
        assert_eq!(value("PGUSER"), Some("own@er"));
        assert_eq!(value("PGPASSWORD"), Some("p/q+r"));
        assert_eq!(value("PGDATABASE"), Some("seven"));
        assert_eq!(value("PGSSLMODE"), Some("verify-full"));
        assert_eq!(place(&url), "seven at db.example:6432");
    }
}
