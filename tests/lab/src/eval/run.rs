//! `./scripts/eval`: plays scripted guests against the whole fleet on this machine, with private
//! servers.

use std::{
    path::{Path, PathBuf},
    process::ExitCode,
    time::{Duration, Instant},
};

use anyhow::{Context, Result};
use clap::ValueEnum;
use seven::{
    commands::{model::answered, table},
    out,
};
use seven_agent_swarm::Models;
use seven_settings::{Settings, dev_dir};
use seven_testkit::{Options, Servers};

use crate::eval::{
    self, Class, Dialogue, Ground, Host, Property, Report, Share, Theatre, Written, owed,
};

#[derive(Debug, clap::Args)]
pub struct Eval {
    /// Folder of dialogues (*.yaml); tests/conversations/README.md describes them.
    #[arg(long, value_name = "DIR", default_value = "tests/conversations")]
    dir: PathBuf,
    /// Casino's document (JSON); without it the demo's.
    #[arg(long, value_name = "FILE")]
    casino: Option<PathBuf>,
    /// Casino's content (JSON); without it the demo's.
    #[arg(long, value_name = "FILE")]
    content: Option<PathBuf>,
    /// Only dialogues whose file name contains one of these.
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Model that answers as the host.
    #[arg(long, value_enum, default_value_t = Who::Offline)]
    model: Who,
    /// Dialogues played at the same time; 1 for a model that runs on this machine.
    #[arg(long, value_name = "N", default_value_t = eval::AT_ONCE)]
    at_once: usize,
    /// Write the whole report as JSON.
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write the whole report as one HTML page.
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Least share of the checks of facts that must pass.
    #[arg(long, value_name = "0..1", default_value_t = owed::FACTS)]
    min_facts: f64,
    /// Least share of the checks of the guests' profiles that must pass.
    #[arg(long, value_name = "0..1", default_value_t = owed::EXTRACTION)]
    min_extraction: f64,
    /// Least share of the turns tagged follow-up that must pass.
    #[arg(long, value_name = "0..1", default_value_t = owed::FOLLOW_UPS)]
    min_follow_ups: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Who {
    /// The offline host, which calls no server.
    Offline,
    /// The offline host without the finder of facts: it reads words alone.
    Words,
    /// Always the fallback; good dialogues must give it a low score.
    Null,
    /// Always the first content row that the retrieval finds; good dialogues give it a low score.
    TopRow,
    /// The model that the settings file names.
    Settings,
}

impl Who {
    fn host(
        self,
        theatre: &Theatre,
        config: Option<&Path>,
        at_once: usize,
        dialogues: &[Dialogue],
    ) -> Result<Host> {
        let packs = theatre.packs();
        let offline =
            || -> Result<Models> { Ok(Models::offline(packs, Some(&theatre.facts(dialogues)?))?) };
        Ok(match self {
            Self::Offline => offline()?.into(),
            Self::Words => Models::offline(packs, None)?.into(),
            Self::Null => eval::null(packs).into(),
            Self::TopRow => eval::top_row(packs).into(),
            Self::Settings => {
                let settings = Settings::load(config)?;
                let hosted = seven::model::hosted(&settings.model, theatre.cache())?;
                let hosted = hosted.context(
                    "--model settings: the settings name no hosted model; set provider, name and \
                     base_url in [model]",
                )?;
                let deadline = settings.worker.model_deadline_seconds;
                Host {
                    hosted: Some(hosted),
                    deadline: Some(Duration::from_secs(deadline)),
                    at_once,
                    ..offline()?.into()
                }
            }
        })
    }
}

pub async fn run(config: Option<&Path>, command: &Eval) -> Result<ExitCode> {
    let Eval {
        dir,
        casino,
        content,
        only,
        model,
        at_once,
        json,
        html,
        min_facts,
        min_extraction,
        min_follow_ups,
    } = command;
    let dialogues = eval::read_dir(dir, only)?;
    let property = Property::read(casino.as_deref(), content.as_deref())?;
    // Reports a wrong row before the servers start; otherwise every dialogue would fail because of
    // it.
    if let Some(first) = dialogues.first() {
        property.items(first.at)?;
    }
    let started = Instant::now();
    let scratch = dev_dir().join(format!("eval-{}", std::process::id()));
    std::fs::create_dir_all(&scratch).with_context(|| format!("creating {}", scratch.display()))?;
    seven_telemetry::init(
        seven_telemetry::LogTarget::File(&scratch.join("seven.log")),
        "info,sqlx=warn,async_nats=warn",
    )?;
    let servers = Servers::start(
        &scratch,
        Options {
            fast_postgres: true,
            ..Options::default()
        },
    )
    .await?;
    let postgres_url = servers.postgres.create_database("seven", None).await?;
    let ground = Ground {
        nats_url: servers.nats.url(),
        redis_url: servers.redis.url(),
        postgres_url,
        dir: scratch.clone(),
    };
    let mut theatre = Theatre::open(ground, property).await?;
    let host = model.host(&theatre, config, *at_once, &dialogues)?;
    let played = theatre.play(&dialogues, &host).await;
    let closed = theatre.close().await;
    servers.stop().await?;
    let name = model
        .to_possible_value()
        .map_or_else(String::new, |value| value.get_name().to_owned());
    let took_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let report = Report::of(&name, played?, took_ms);
    closed?;
    std::fs::remove_dir_all(&scratch).with_context(|| format!("removing {}", scratch.display()))?;
    write(json.as_deref(), || {
        Ok(serde_json::to_string_pretty(&report)?)
    })?;
    write(html.as_deref(), || Ok(eval::html(&report)))?;
    print(&report);
    let enough = report.ratio(Class::Compliance) >= owed::COMPLIANCE
        && report.ratio(Class::Facts) >= *min_facts
        && report.ratio(Class::Extraction) >= *min_extraction
        && report.follow_ups.ratio() >= *min_follow_ups
        // If the hosted model answered nothing, it was not measured: the figures are those of the
        // offline host.
        && (*model != Who::Settings || report.by_model() > 0);
    Ok(if enough {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn write(file: Option<&Path>, text: impl FnOnce() -> Result<String>) -> Result<()> {
    let Some(file) = file else { return Ok(()) };
    std::fs::write(file, text()?).with_context(|| format!("writing {}", file.display()))
}

fn print(report: &Report) {
    for failure in report.failures() {
        let (guest, reply) = (
            failure.played.guest.join(" / "),
            failure.played.reply.join(" / "),
        );
        let (check, file, turn) = (failure.check, &failure.dialogue.file, failure.turn);
        out!(
            "{file} turn {turn}: {} {}: expected {}; {}",
            check.class.as_str(),
            check.check,
            check.expected,
            check.why
        );
        out!("    guest  {guest}");
        out!("    host   {reply}");
    }
    let mut table = table(["checks", "passed", "made", "share"]);
    let mut add = |name: &str, share: Share| {
        table.add_row([
            name.to_owned(),
            share.passed.to_string(),
            share.made.to_string(),
            share.percent(),
        ]);
    };
    report
        .classes
        .iter()
        .for_each(|(class, share)| add(class.as_str(), *share));
    for (when, share) in &report.written {
        add(
            if *when == Written::Before {
                "written before the code"
            } else {
                "written after the code"
            },
            *share,
        );
    }
    add("all", report.score);
    add("follow-up turns", report.follow_ups);
    out!("{table}");
    out!(
        "{} dialogues with `{}` in {:.1} s.",
        report.dialogues.len(),
        report.model,
        report.took_ms as f64 / 1000.0
    );
    let turns: Vec<(String, i64)> = report.answered_by.clone().into_iter().collect();
    if let Some(told) = answered(&turns) {
        out!("The hosted model {told}.");
    }
}
