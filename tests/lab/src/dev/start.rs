//! Starts the servers, the fleet and the casino of one run of `./scripts/dev`.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use seven::onboard;
use seven_domain::CasinoConfig;
use seven_settings::{Worker, dev_dir};
use seven_testkit::{Options, Servers};

use super::options::Dev;
use crate::stack::{Plan, Ports, Stack};

/// Fixed ports, for a run that keeps its data. With them, open pages in a browser connect again
/// after a restart.
const PORTS: Ports = Ports {
    handset: 7711,
    webhooks: 7712,
    metrics: 7713,
};

/// Everything that runs. Fields drop in this order: the fleet before its servers.
pub(crate) struct House {
    pub(crate) stack: Stack,
    pub(crate) servers: Servers,
    pub(crate) config: CasinoConfig,
    pub(crate) dir: PathBuf,
    scratch: bool,
}

/// Starts servers and fleet. With `scratch` the data is in a folder that is deleted at the end of
/// the run. Otherwise the run continues with the data of the previous run.
pub(crate) async fn house(dev: &Dev, workers: &[Worker], scratch: bool) -> Result<House> {
    let dir = if scratch {
        dev_dir().join(format!("run-{}", std::process::id()))
    } else {
        dev_dir()
    };
    std::fs::create_dir_all(&dir).with_context(|| format!("creating {}", dir.display()))?;
    let dir = dir.canonicalize()?;
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&dir.join("seven.log")),
        seven_telemetry::FILTER,
    )?;
    let (file, text) = document(
        dev.casino_file.as_deref(),
        "demo/casino.json",
        seven_packs::demo::CASINO,
    )?;
    let config = onboard::read_casino(&file, &text)?;
    let servers = Servers::start(
        &dir,
        Options {
            fast_postgres: scratch && dev.r#break.is_none(),
            ..Options::default()
        },
    )
    .await?;
    if !servers.postgres.has_database("seven").await? {
        servers.postgres.create_database("seven", None).await?;
    }
    let plan = Plan {
        nats_url: servers.nats.url(),
        redis_url: servers.redis.url(),
        postgres_url: servers.postgres.url_of("seven"),
        dir: dir.clone(),
        scale: dev.time_scale,
        at: dev.at,
        workers: workers.to_vec(),
        casino_name: config.prompts.casino_name_display.clone(),
        casino_number: config.operational.telnyx_phone_number.as_str().to_owned(),
        // The `[model]` table comes last, because in TOML all keys after a table's heading belong
        // to that table.
        extra: console_settings(workers).to_owned()
            + &web_settings(workers, &config)
            + &dev.otlp.as_ref().map(traced).unwrap_or_default()
            + &dev
                .model
                .as_deref()
                .map(model_table)
                .transpose()?
                .unwrap_or_default(),
        // A run that keeps its data also keeps the handset's history.
        ledger_file: (!scratch).then(|| dir.join("carrier.jsonl")),
    };
    let stack = Stack::start_at(plan, if scratch { Ports::default() } else { PORTS }).await?;
    onboard::add_casino(&stack.fleet, &config, "seven dev").await?;
    let (file, text) = match (&dev.content_file, &dev.casino_file) {
        (None, Some(_)) => {
            anyhow::bail!(
                "--casino-file without --content-file: this casino would have nothing to say; name \
                 its content too"
            )
        }
        (content, _) => document(
            content.as_deref(),
            "demo/content.json",
            seven_packs::demo::CONTENT,
        )?,
    };
    onboard::load_content(&stack.fleet, &config.casino_id, &file, &text, "seven dev").await?;
    // Stores an empty list of self-excluded guests, because without a list every guest would count
    // as not checked for self-exclusion.
    let mut tx = stack.fleet.store.bind(&config.casino_id).await?;
    tx.replace_exclusions(&[], "seven dev").await?;
    tx.commit().await?;
    Ok(House {
        stack,
        servers,
        config,
        dir,
        scratch,
    })
}

impl House {
    pub(crate) async fn close(self) -> Result<()> {
        let Self {
            stack,
            servers,
            dir,
            scratch,
            ..
        } = self;
        let stopped = stack.stop().await;
        servers.stop().await?;
        if scratch {
            std::fs::remove_dir_all(&dir).with_context(|| format!("removing {}", dir.display()))?;
        }
        stopped
    }
}

/// Returns the web gateway's settings: its port, and the casino that its page shows. Empty if the
/// gateway does not run.
fn web_settings(workers: &[Worker], config: &CasinoConfig) -> String {
    if workers.contains(&Worker::WebGateway) {
        let casino = &config.casino_id;
        format!("web.listen = \"127.0.0.1:7715\"\nweb.casino = \"{casino}\"\n")
    } else {
        String::new()
    }
}

fn console_settings(workers: &[Worker]) -> &'static str {
    if workers.contains(&Worker::Console) {
        super::console::SETTINGS
    } else {
        ""
    }
}

/// Returns settings that trace every text, as is useful on a developer's machine.
fn traced(collector: &url::Url) -> String {
    format!("telemetry.otlp_endpoint = \"{collector}\"\ntelemetry.sample = 1.0\n")
}

/// Returns the `[model]` table of a settings file, as TOML.
fn model_table(file: &Path) -> Result<String> {
    let named = || format!("--model {}", file.display());
    let text = std::fs::read_to_string(file).with_context(named)?;
    let table: toml::Table = toml::from_str(&text).with_context(named)?;
    let model = table.get("model").with_context(|| {
        format!(
            "{}: there is no [model] table; docs/models.md shows one",
            named()
        )
    })?;
    let model = toml::Table::from_iter([("model".to_owned(), model.clone())]);
    toml::to_string(&model).with_context(named)
}

fn document(file: Option<&Path>, demo_name: &str, demo_text: &str) -> Result<(String, String)> {
    Ok(match file {
        Some(path) => (
            path.display().to_string(),
            std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?,
        ),
        None => (demo_name.to_owned(), demo_text.to_owned()),
    })
}
