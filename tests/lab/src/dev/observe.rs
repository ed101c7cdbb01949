//! Runs Prometheus with our rules on this machine, for the fleet of `./scripts/dev`. Prometheus
//! keeps its data in the fleet's data folder.

use std::{
    path::{Path, PathBuf},
    process::Stdio,
};

use anyhow::{Context, Result, ensure};
use seven_testkit::Watchdog;
use tokio::process::{Child, Command};

/// A running Prometheus. It ends when this value is dropped or our process dies.
#[derive(Debug)]
pub(super) struct Prometheus {
    pub(super) url: String,
    _child: Child,
    // Declared last, because fields drop in order and the watchdog must guard the process to its
    // end.
    _watchdog: Watchdog,
}

/// Starts Prometheus with the rules in the folder `rules`. Prometheus reads the fleet's metrics at
/// `ops_url`.
pub(super) async fn start(rules: &Path, dir: &Path, ops_url: &str) -> Result<Prometheus> {
    let rules = rules
        .canonicalize()
        .with_context(|| format!("finding the rules in {}", rules.display()))?;
    ensure!(rules.is_dir(), "{} is no folder of rules", rules.display());
    let data = dir.join("prometheus");
    std::fs::create_dir_all(&data).with_context(|| format!("creating {}", data.display()))?;
    let config = write_config(&data, &rules, ops_url)?;
    // Chooses a free port. If another process takes it before Prometheus binds it, Prometheus logs
    // the error and ends.
    let listen = tokio::net::TcpListener::bind("127.0.0.1:0")
        .await?
        .local_addr()?;
    let log = std::fs::File::create(data.join("prometheus.log"))
        .context("opening the log of Prometheus")?;
    let child = Command::new("prometheus")
        .arg(format!("--config.file={}", config.display()))
        .arg(format!(
            "--storage.tsdb.path={}",
            data.join("data").display()
        ))
        .arg(format!("--web.listen-address={listen}"))
        .arg("--storage.tsdb.retention.time=7d")
        // Keeps the trace ids that metrics carry as exemplars.
        .arg("--enable-feature=exemplar-storage")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(log))
        .kill_on_drop(true)
        .process_group(0)
        .spawn()
        .context(
            "starting prometheus (Debian: apt-get install prometheus; ./scripts/dev --observe does \
             it)",
        )?;
    let leader = child.id().context("prometheus ended at its start")?;
    let watchdog = Watchdog::over_group(leader).context("starting a watchdog")?;
    Ok(Prometheus {
        url: format!("http://{listen}"),
        _child: child,
        _watchdog: watchdog,
    })
}

fn write_config(data: &Path, rules: &Path, ops_url: &str) -> Result<PathBuf> {
    let target = ops_url.trim_start_matches("http://");
    let text = format!(
        "# Written by seven dev.\nglobal:\n  scrape_interval: 5s\n  evaluation_interval: 15s\nrule_files:\n  - {}/*.yml\n\
         scrape_configs:\n  - job_name: seven\n    static_configs:\n      - targets: ['{target}']\n",
        rules.display()
    );
    let path = data.join("prometheus.yml");
    std::fs::write(&path, text).with_context(|| format!("writing {}", path.display()))?;
    Ok(path)
}
