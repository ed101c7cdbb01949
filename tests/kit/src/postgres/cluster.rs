//! The data of a Postgres server: finds and creates it, and builds the command that serves it.

use std::{
    fs,
    os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt, chown},
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use super::account::Account;
use crate::{binaries, process::Log};

#[derive(Debug)]
pub(crate) struct Cluster {
    bin: PathBuf,
    account: Account,
    /// Folder of the log and the pid file.
    dir: PathBuf,
    /// Folder that holds only `data` and the marker of a finished initdb.
    pub(crate) home: PathBuf,
    pub(crate) data: PathBuf,
    pub(crate) fast: bool,
    /// Whether the server loads `pg_stat_statements`, so that benchmarks can read statement counts.
    pub(crate) count_statements: bool,
}

impl Cluster {
    pub(crate) fn at(dir: PathBuf, fast: bool) -> Result<Self> {
        let account = Account::find()?;
        let home = match account {
            Account::Ours => dir.join("postgres"),
            // The user `postgres` cannot enter root's home folder, in which the clone of this
            // repository may lie.
            Account::Postgres { .. } => {
                std::env::temp_dir().join(format!("hey-seven-postgres-{:016x}", fingerprint(&dir)))
            }
        };
        let data = home.join("data");
        Ok(Self {
            bin: binaries::postgres_bin()?,
            account,
            dir,
            home,
            data,
            fast,
            count_statements: false,
        })
    }

    pub(crate) fn log_file(&self) -> PathBuf {
        self.dir.join("postgres.log")
    }

    pub(crate) fn pid_file(&self) -> PathBuf {
        self.dir.join("postgres.pid")
    }

    fn mark(&self) -> PathBuf {
        self.home.join("initialised")
    }

    /// Removes Postgres's own pid file after we ended its server `pid`. If another process got this
    /// pid, Postgres would refuse to start because of the file.
    pub(crate) fn forget_postmaster(&self, pid: u32) {
        let path = self.data.join("postmaster.pid");
        let recorded = fs::read_to_string(&path)
            .ok()
            .and_then(|text| text.lines().next()?.trim().parse().ok());
        if recorded == Some(pid) {
            fs::remove_file(path).ok();
        }
    }

    /// Creates the data unless it exists.
    pub(crate) fn prepare(&self) -> Result<()> {
        if self.mark().exists() {
            self.check_owner()?;
            return self.check_version();
        }
        self.make_home()?;
        let (log, output) = Log::open(self.log_file())?;
        let mut initdb = self.account.command(&self.bin.join("initdb"));
        initdb.arg("--pgdata").arg(&self.data);
        initdb.args([
            "--username=postgres",
            "--encoding=UTF8",
            "--auth=trust",
            "--no-instructions",
        ]);
        // Uses C.UTF-8 where it exists, because it knows the case of non-ASCII letters. Both glibc
        // and musl have it; older macOS versions do not.
        initdb.arg(if cfg!(target_os = "linux") {
            "--locale=C.UTF-8"
        } else {
            "--locale=C"
        });
        if self.fast {
            initdb.arg("--no-sync");
        }
        let status = initdb
            .stdout(output.try_clone().context("sharing the log file")?)
            .stderr(output)
            .status()
            .context("running initdb")?;
        if !status.success() {
            bail!("initdb failed ({status}):\n{}", log.tail());
        }
        let rules = self.data.join("pg_hba.conf");
        fs::write(&rules, "host all all 127.0.0.1/32 trust\n")
            .with_context(|| format!("writing {}", rules.display()))?;
        fs::write(self.mark(), "").context("marking the finished initdb")
    }

    /// Builds the command that starts the server on this data.
    pub(crate) fn server(&self, port: u16) -> Command {
        let mut server = self.account.command(&self.bin.join("postgres"));
        server
            .arg("-D")
            .arg(&self.data)
            .arg("-p")
            .arg(port.to_string());
        let mut settings = vec![
            "listen_addresses=127.0.0.1",
            "unix_socket_directories=",
            "max_connections=300",
            "shared_buffers=64MB",
            "timezone=UTC",
            "log_timezone=UTC",
            "lc_messages=C",
            "logging_collector=off",
            // Also logs the statement that caused a warning. A warning, such as one about a COMMIT
            // outside of a transaction, shows a fault in our code.
            "log_min_error_statement=warning",
        ];
        if self.fast {
            // Tests simulate crashes of the fleet, not of the machine, so this data needs no flush
            // to disk.
            settings.extend([
                "fsync=off",
                "synchronous_commit=off",
                "full_page_writes=off",
            ]);
        }
        if self.count_statements {
            settings.push("shared_preload_libraries=pg_stat_statements");
        }
        for setting in settings {
            server.args(["-c", setting]);
        }
        server
    }

    /// Creates the folder `home`, with an empty data folder that the server's account owns.
    fn make_home(&self) -> Result<()> {
        if self.home.symlink_metadata().is_ok() {
            self.check_owner()?;
            fs::remove_dir_all(&self.home)
                .with_context(|| format!("emptying {}", self.home.display()))?;
        }
        let home = self.home.display();
        // Fails when another process has just created this folder in the shared temporary area.
        fs::DirBuilder::new()
            .mode(0o711)
            .create(&self.home)
            .with_context(|| format!("creating {home}"))?;
        // The umask may have removed the right to enter the folder.
        fs::set_permissions(&self.home, fs::Permissions::from_mode(0o711))
            .with_context(|| format!("opening {home}"))?;
        fs::DirBuilder::new()
            .mode(0o700)
            .create(&self.data)
            .with_context(|| format!("creating data in {home}"))?;
        if let Account::Postgres { uid, gid } = self.account {
            chown(&self.data, Some(uid), Some(gid))
                .with_context(|| format!("giving {home} to postgres"))?;
        }
        Ok(())
    }

    /// Checks the owner, because anybody may create a folder of this name in the shared temporary
    /// area.
    fn check_owner(&self) -> Result<()> {
        let meta = self
            .home
            .symlink_metadata()
            .with_context(|| format!("looking at {}", self.home.display()))?;
        let foreign = matches!(self.account, Account::Postgres { .. }) && meta.uid() != 0;
        if foreign || !meta.is_dir() {
            bail!(
                "{} belongs to somebody else: remove it",
                self.home.display()
            );
        }
        Ok(())
    }

    fn check_version(&self) -> Result<()> {
        let has = fs::read_to_string(self.data.join("PG_VERSION"))
            .context("reading the version of the data")?;
        let output = Command::new(self.bin.join("postgres"))
            .arg("--version")
            .output()
            .context("running postgres")?;
        let text = String::from_utf8_lossy(&output.stdout);
        let runs = text
            .split_whitespace()
            .nth(2)
            .and_then(|version| version.split('.').next())
            .unwrap_or_default();
        if has.trim() != runs {
            let home = self.home.display();
            bail!(
                "the data is Postgres {}'s and the server is {runs}: remove {home} to start anew",
                has.trim()
            );
        }
        Ok(())
    }
}

/// Returns the FNV-1a hash of the path. The folder's name must stay the same across compilers,
/// which the hashers of std do not promise.
fn fingerprint(dir: &Path) -> u64 {
    dir.as_os_str()
        .as_encoded_bytes()
        .iter()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
        })
}
