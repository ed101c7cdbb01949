//! Checks the values for problems that their types cannot express. Pure.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use seven_settings::Worker;

use super::{CasinoValues, FleetValues, Peer, Problem, SecretRef, Size};
use crate::{names, settings};

/// Length limit of Kubernetes names, which are DNS labels.
const LONGEST_NAME: usize = 63;

struct Findings<'a> {
    file: &'a Path,
    problems: Vec<Problem>,
}

impl Findings<'_> {
    fn need(
        &mut self,
        ok: bool,
        key: &str,
        problem: impl Into<String>,
        expected: impl Into<String>,
    ) {
        if !ok {
            self.problems.push(Problem {
                file: self.file.display().to_string(),
                key: key.to_owned(),
                problem: problem.into(),
                expected: expected.into(),
            });
        }
    }
}

/// Returns all problems, not only the first.
pub(crate) fn problems(
    file: &Path,
    fleet: &FleetValues,
    casinos: &[(PathBuf, CasinoValues)],
) -> Vec<Problem> {
    let mut found = Findings {
        file,
        problems: Vec::new(),
    };
    names_and_images(&mut found, fleet);
    sizes(&mut found, fleet);
    secrets(&mut found, &fleet.secrets, &settings::REQUIRED_SECRETS);
    if let Some(console) = &fleet.console {
        found.need(
            console.domain != fleet.public.domain && console.domain.contains('.'),
            "console.domain",
            format!("`{}`", console.domain),
            "a host name of its own, such as console.example.com",
        );
        found.need(
            fleet.secrets.contains_key("console.postgres_url"),
            "secrets.console.postgres_url",
            "missing",
            "name and key of a Kubernetes secret with the login seven_console",
        );
    }
    if let Some(web) = &fleet.web {
        let console = fleet.console.as_ref().map(|console| &console.domain);
        let own = web.domain != fleet.public.domain && Some(&web.domain) != console;
        found.need(
            own && web.domain.contains('.'),
            "web.domain",
            format!("`{}`", web.domain),
            "a host name of its own, such as chat.example.com",
        );
        found.need(
            fleet.secrets.contains_key("web.token_key"),
            "secrets.web.token_key",
            "missing",
            "name and key of a Kubernetes secret with 32 random characters or more",
        );
    }
    let network = &fleet.network;
    let others = [
        ("network.collector", &network.collector),
        ("network.models", &network.models),
    ];
    let others = others
        .into_iter()
        .filter_map(|(key, peer)| Some((key, peer.as_ref()?)));
    for (key, peer) in [
        ("network.postgres", &network.postgres),
        ("network.redis", &network.redis),
    ]
    .into_iter()
    .chain(others)
    {
        peer_is_one(&mut found, key, peer);
    }
    match settings::of(fleet) {
        Err(error) => {
            found.need(
                false,
                "settings",
                error.to_string(),
                "settings as in settings.default.toml, no secrets",
            );
        }
        Ok(settings) => {
            thresholds(&mut found, fleet, &settings);
            let senders = most_senders(fleet, casinos);
            found.need(
                settings.sending.senders >= senders,
                "settings.sending.senders",
                settings.sending.senders.to_string(),
                format!(
                    "at least {senders}, the most sender processes there may be: without Redis \
                     each keeps to its part of every limit"
                ),
            );
        }
    }
    let mut problems = found.problems;
    problems.extend(of_casinos(fleet, casinos));
    problems
}

fn names_and_images(found: &mut Findings<'_>, fleet: &FleetValues) {
    let backup = fleet
        .backup
        .iter()
        .map(|backup| ("backup.image", &backup.image));
    for (key, image) in [("image", &fleet.image), ("nats.image", &fleet.nats.image)]
        .into_iter()
        .chain(backup)
    {
        let pinned = image.split_once("@sha256:").is_some_and(|(name, digest)| {
            !name.is_empty() && digest.len() == 64 && digest.bytes().all(|b| b.is_ascii_hexdigit())
        });
        found.need(
            pinned,
            key,
            format!("`{image}`"),
            "an image by digest, name@sha256:<64 hex>; a tag such as latest may change under a running fleet",
        );
    }
    let label = |text: &str| {
        (1..=LONGEST_NAME).contains(&text.len())
            && text
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
            && !text.starts_with('-')
            && !text.ends_with('-')
    };
    for (key, name) in [
        ("namespace", &fleet.namespace),
        ("environment", &fleet.environment),
    ] {
        found.need(
            label(name),
            key,
            format!("`{name}`"),
            "a DNS label: a-z, 0-9 and hyphens",
        );
    }
    found.need(
        fleet.public.domain.split('.').count() > 1 && fleet.public.domain.split('.').all(label),
        "public.domain",
        format!("`{}`", fleet.public.domain),
        "a host name such as sms.example.com",
    );
    found.need(
        matches!(fleet.nats.replicas, 1 | 3),
        "nats.replicas",
        fleet.nats.replicas.to_string(),
        "1 or 3",
    );
    let backup = fleet.backup.iter();
    let backup = backup.map(|job| ("backup.schedule", &job.schedule));
    let exports = fleet.exports.iter();
    let exports = exports.map(|job| ("exports.schedule", &job.schedule));
    for (key, schedule) in backup.chain(exports) {
        found.need(
            schedule.split_whitespace().count() == 5,
            key,
            format!("`{schedule}`"),
            "five fields of cron, such as 0 3 * * *",
        );
    }
}

fn sizes(found: &mut Findings<'_>, fleet: &FleetValues) {
    let mut check = |key: &str, size: &Size| {
        found.need(
            size.min >= 1 && size.min <= size.max,
            key,
            format!("min {}, max {}", size.min, size.max),
            "1 <= min <= max: a STOP must not wait for a process to start",
        );
        let fallback = size.fallback();
        found.need(
            (size.min..=size.max).contains(&fallback),
            &format!("{key}.fallback"),
            fallback.to_string(),
            "between min and max",
        );
    };
    check("own_workers", &fleet.own_workers);
    fleet
        .workers
        .iter()
        .for_each(|(name, size)| check(&format!("workers.{name}"), size));
    let known: Vec<&str> = Worker::ALL.into_iter().map(Worker::name).collect();
    for name in fleet
        .workers
        .keys()
        .filter(|name| !known.contains(&name.as_str()))
    {
        found.need(
            false,
            &format!("workers.{name}"),
            "no such worker",
            known.join(", "),
        );
    }
    for name in known
        .iter()
        .filter(|name| !fleet.workers.contains_key(**name))
    {
        found.need(
            false,
            &format!("workers.{name}"),
            "missing",
            "min, max, cpu, memory, memory_limit",
        );
    }
}

/// Refuses a threshold that one process could reach alone, with the messages that it has in
/// progress. The fleet would then never shrink.
fn thresholds(found: &mut Findings<'_>, fleet: &FleetValues, settings: &seven_settings::Settings) {
    for worker in Worker::ALL
        .into_iter()
        .filter(|worker| !worker.stages().is_empty())
    {
        for (own, key, size) in [
            (
                false,
                format!("workers.{}", worker.name()),
                fleet.size(worker),
            ),
            (true, "own_workers".to_owned(), &fleet.own_workers),
        ] {
            let in_work = worker.loops(settings, own).permits(None);
            if let Some(threshold) = size.lag_threshold {
                found.need(
                    threshold > in_work,
                    &format!("{key}.lag_threshold"),
                    threshold.to_string(),
                    format!(
                        "more than {in_work}, which one {} has in work",
                        worker.name()
                    ),
                );
            }
        }
    }
}

fn most_senders(fleet: &FleetValues, casinos: &[(PathBuf, CasinoValues)]) -> u32 {
    let own = casinos
        .iter()
        .filter(|(_, casino)| casino.owns(Worker::OutboundSender));
    fleet.size(Worker::OutboundSender).max
        + own
            .map(|(_, casino)| casino.max.unwrap_or(fleet.own_workers.max))
            .sum::<u32>()
}

fn secrets(found: &mut Findings<'_>, given: &BTreeMap<String, SecretRef>, required: &[&str]) {
    for key in required.iter().filter(|key| !given.contains_key(**key)) {
        found.need(
            false,
            &format!("secrets.{key}"),
            "missing",
            "name and key of a Kubernetes secret",
        );
    }
    for key in given
        .keys()
        .filter(|key| !settings::SECRETS.iter().any(|(name, _)| name == key))
    {
        let known = settings::SECRETS
            .iter()
            .map(|(name, _)| *name)
            .collect::<Vec<_>>()
            .join(", ");
        found.need(false, &format!("secrets.{key}"), "no secret setting", known);
    }
}

fn peer_is_one(found: &mut Findings<'_>, key: &str, peer: &Peer) {
    found.need(
        peer.cidr.is_some() != peer.namespace.is_some(),
        key,
        "cidr and namespace are both set or both missing",
        "one of them: addresses outside the cluster, or the namespace of the pods",
    );
}

fn of_casinos(fleet: &FleetValues, casinos: &[(PathBuf, CasinoValues)]) -> Vec<Problem> {
    let mut problems = Vec::new();
    let (mut slugs, mut numbers) = (BTreeSet::new(), BTreeSet::new());
    for (file, casino) in casinos {
        let mut found = Findings {
            file,
            problems: Vec::new(),
        };
        let slug = casino.casino_id.slug();
        let dns = !slug.ends_with('-');
        found.need(
            dns,
            "casino_id",
            format!("`{}` becomes `{slug}`", casino.casino_id),
            "no _ at the end: host names cannot end in a hyphen",
        );
        found.need(
            slugs.insert(slug.clone()),
            "casino_id",
            format!("`{slug}` is taken"),
            "a slug no other casino has",
        );
        found.need(
            file.file_stem().is_some_and(|stem| stem == slug.as_str()),
            "casino_id",
            format!("`{}`", casino.casino_id),
            format!("the casino this file is named after ({slug}.yaml)"),
        );
        found.need(
            numbers.insert(casino.number.as_str().to_owned()),
            "number",
            "another casino has it",
            "a number of its own",
        );
        for name in &casino.own_workers {
            let worker = Worker::ALL
                .into_iter()
                .find(|worker| worker.name() == name && *worker != Worker::Scheduler);
            let known = Worker::ALL
                .into_iter()
                .filter(|w| *w != Worker::Scheduler)
                .map(Worker::name)
                .collect::<Vec<_>>()
                .join(", ");
            found.need(
                worker.is_some(),
                "own_workers",
                format!("`{name}`"),
                format!("of {known}; the scheduler serves the whole fleet"),
            );
            if let Some(worker) = worker {
                let longest = names::workload(worker, Some(&casino.casino_id)).len();
                found.need(
                    longest <= LONGEST_NAME,
                    "casino_id",
                    format!("its workloads' names have {longest} characters"),
                    "63 at most",
                );
            }
        }
        let once: BTreeSet<&String> = casino.own_workers.iter().collect();
        found.need(
            once.len() == casino.own_workers.len(),
            "own_workers",
            "a worker twice",
            "each once",
        );
        found.need(
            casino.max.is_none_or(|max| max >= fleet.own_workers.min),
            "max",
            format!("{:?}", casino.max),
            format!(
                "at least own_workers.min of the fleet, {}",
                fleet.own_workers.min
            ),
        );
        secrets(&mut found, &casino.secrets, &[]);
        problems.extend(found.problems);
    }
    problems
}
