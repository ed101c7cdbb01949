//! Formats results as tables and as a plot.

use std::collections::BTreeMap;

use seven::{commands::table, out};

use super::{
    consoles::Consoles,
    growth::Growth,
    isolation::Isolation,
    measure::Shown,
    outages::Outages,
    pipeline::{Pipeline, Side},
    recovery::Recovery,
    results::Results,
    slow::Slow,
    start::Started,
    way::Step,
    web::Web,
};

pub(super) fn print(results: &Results) {
    out!(
        "\n{} on {} cores, servers, carrier and load included",
        results.commit,
        results.cores
    );
    if let Some(results) = &results.pipeline {
        pipeline(results);
    }
    if let Some(ingress) = &results.ingress {
        out!(
            "ingress alone: {:.0} webhooks/s, {:.2} of the {:.0}/s that a server takes which only \
             verifies and publishes",
            ingress.per_second,
            ingress.ratio,
            ingress.limit_per_second
        );
    }
    if let Some(found) = &results.slow {
        slow(found);
    }
    if let Some(start) = &results.start {
        started(start);
    }
    if let Some(growth) = &results.growth {
        grown(growth);
    }
    if let Some(isolation) = &results.isolation {
        isolated(isolation);
    }
    if let Some(results) = &results.traces {
        outages(&results.outages);
        way(&results.outages.way);
    }
    if let Some(found) = &results.consoles {
        consoles(found);
    }
    if let Some(found) = &results.web {
        web(found);
    }
    if let Some(results) = &results.recovery {
        recovered(results);
    }
}

fn consoles(found: &Consoles) {
    out!(
        "consoles: {} open pages at {:.0} texts/s: guests' p95 {:.1} ms, without pages {:.1} ms \
         ({:+.1} %); a text is on a page after {:.0} ms (p95 {:.0}); {:.2} fetches a second and \
         page; console {:.0} MB{}",
        found.pages,
        found.rate,
        found.watched_p95,
        found.quiet_p95,
        found.rise * 100.0,
        found.visible.p50,
        found.visible.p95,
        found.fetches_per_second,
        found.resident_mb,
        if found.goals_met { "" } else { ". NOT MET" }
    );
}

fn web(found: &Web) {
    let mut table = table(["web, ms from POST", "p50", "p95", "p99", "worst"]);
    let rate = found.asked.rate;
    for (name, p) in [
        (format!("first word at {rate:.0}/s"), found.asked.first),
        ("end of the answer".to_owned(), found.asked.done),
        ("helplines after a cry for help".to_owned(), found.cry),
        ("floor: publish, commit, write".to_owned(), found.floor),
        (
            format!("first word beside {} idle streams", found.idle_streams),
            found.beside_idle.first,
        ),
        (
            format!("first word beside {} who never read", found.never_readers),
            found.beside_unread.first,
        ),
    ] {
        let [p50, p95, p99, worst] = [p.p50, p.p95, p.p99, p.worst].map(|ms| format!("{ms:.1}"));
        table.add_row([name, p50, p95, p99, worst]);
    }
    out!("{table}");
    out!(
        "web: {:.0} answers/s at most; idle streams {:.0} MB; SIGTERM to end {:.1} s, {} told; \
         never read: {:.0} MB, cut after {:.0} s{}",
        found.throughput,
        found.idle_mb,
        found.end_seconds,
        found.told,
        found.unread_mb,
        found.cut_seconds,
        if found.goals_met { "" } else { ". NOT MET" }
    );
}

fn slow(found: &Slow) {
    let mut table = table([
        &*format!("{} STOPs", found.stops),
        "p50 ms",
        "p95",
        "p99",
        "worst",
    ]);
    for (name, p) in [
        ("alone", found.alone),
        ("beside slow senders", found.beside),
    ] {
        let [p50, p95, p99, worst] = [p.p50, p.p95, p.p99, p.worst].map(|ms| format!("{ms:.1}"));
        table.add_row([name.to_owned(), p50, p95, p99, worst]);
    }
    out!("{table}");
    out!(
        "slow: p99 {:.1} ms beside {} slow senders; goal: less than {:.0} ms{}",
        found.beside.p99,
        found.senders,
        found.p99_goal,
        if found.met() { "" } else { ". NOT MET" }
    );
}

fn isolated(found: &Isolation) {
    let mut table = table(["one casino at", "p50 ms", "p95", "p99", "worst"]);
    for (name, p) in [("quiet", found.quiet), ("the other flooded", found.flooded)] {
        let name = format!("{:.0} texts/s, {name}", found.rate);
        let [p50, p95, p99, worst] = [p.p50, p.p95, p.p99, p.worst].map(|ms| format!("{ms:.1}"));
        table.add_row([name, p50, p95, p99, worst]);
    }
    out!("{table}");
    out!(
        "isolation: p95 {:+.1} ms, p50 {:+.1} ms while the other casino has {} texts under way \
         ({:.0} answers/s); goal: p95 less than {:+.0} ms{}",
        found.p95_rise,
        found.p50_rise,
        found.flood_under_way,
        found.flood_per_second,
        found.p95_rise_goal,
        if found.p95_rise < found.p95_rise_goal {
            ""
        } else {
            ". NOT MET"
        }
    );
}

fn outages(found: &Outages) {
    let Some(up) = found.seen.first() else { return };
    let beside = |value: f64, up: f64| format!("{:+.1} %", (value / up - 1.0) * 100.0);
    let mut table = table([
        "collector",
        "texts",
        "p50 ms",
        "",
        "p95 ms",
        "",
        "MB of the workers",
        "",
        "spans dropped",
    ]);
    for seen in &found.seen {
        let megabytes = seen.resident_bytes as f64 / 1_048_576.0;
        table.add_row([
            seen.collector.to_owned(),
            seen.texts.to_string(),
            format!("{:.1}", seen.p50),
            beside(seen.p50, up.p50),
            format!("{:.1}", seen.p95),
            beside(seen.p95, up.p95),
            format!("{megabytes:.1}"),
            beside(seen.resident_bytes as f64, up.resident_bytes as f64),
            seen.dropped.to_string(),
        ]);
    }
    out!("{table}");
    out!(
        "at {:.0} texts/s, beside the collector being up in the same fleet; goal: within 5 %",
        found.rate
    );
}

fn way(steps: &[Step]) {
    let mut table = table(["span", "begins ms after the webhook", "takes ms", "texts"]);
    for step in steps {
        let [begins, takes] = [step.begins, step.takes].map(|ms| format!("{ms:.2}"));
        table.add_row([step.span.clone(), begins, takes, step.traces.to_string()]);
    }
    out!("{table}");
}

fn recovered(found: &Recovery) {
    let mut table = table([
        "killed and started again, 4 times",
        "away s",
        "texts",
        "waited over 1 s",
        "longest wait s",
        "in doubt",
    ]);
    for death in &found.deaths {
        let (texts, delayed) = (death.texts.to_string(), death.delayed.to_string());
        let away = death
            .away_seconds
            .map_or(String::new(), |away| format!("{away:.2}"));
        table.add_row([
            death.of.to_owned(),
            away,
            texts,
            delayed,
            format!("{:.2}", death.worst_seconds),
            death.in_doubt.to_string(),
        ]);
    }
    out!("{table}");
    let kept = &found.kept;
    out!(
        "backup of {} guests: {:.1} s, {:.0} MB; restored and verified ({} chains) on an empty \
         server: {:.1} s",
        kept.guests,
        kept.backup_seconds,
        kept.bytes as f64 / 1_048_576.0,
        kept.chains,
        kept.restore_seconds
    );
}

fn started(start: &BTreeMap<&'static str, Started>) {
    let titles = [
        "worker alone",
        "ready after ms",
        "slowest of five",
        "MB at rest",
        "of these its own",
        "% of a core at rest",
    ];
    let mut table = table(titles);
    for (worker, started) in start {
        let (quickest, slowest) = started.ready_ms;
        table.add_row([
            (*worker).to_owned(),
            format!("{quickest:.0}"),
            format!("{slowest:.0}"),
            format!("{:.1}", started.resident_bytes as f64 / 1_048_576.0),
            format!("{:.1}", started.own_bytes as f64 / 1_048_576.0),
            format!("{:.1}", started.idle_percent),
        ]);
    }
    out!("{table}");
}

fn grown(growth: &Growth) {
    let mut table = table([
        "casinos",
        "stored guests",
        "texts/s",
        "at one casino",
        "p50 ms",
        "p99",
        "s to first answer",
        "MB of ours",
        "KB per casino",
        "MB of nats",
        "MB of postgres",
    ]);
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1_048_576.0);
    for point in growth.casinos.iter().chain(&growth.guests) {
        table.add_row([
            point.casinos.to_string(),
            point.guests.to_string(),
            format!("{:.0}", point.per_second),
            format!("{:.0}", point.per_second_at_one),
            format!("{:.1}", point.at_rate.p50),
            format!("{:.1}", point.at_rate.p99),
            format!("{:.1}", point.seconds_to_first_answer),
            megabytes(point.resident),
            point.resident_per_casino.map_or_else(String::new, |bytes| {
                format!("{:.1}", bytes as f64 / 1_024.0)
            }),
            megabytes(point.resident_nats),
            megabytes(point.resident_postgres),
        ]);
    }
    out!("{table}");
}

fn pipeline(results: &Pipeline) {
    let mut table = table([
        "",
        "load",
        "texts/s",
        "sends/text",
        "p50 ms",
        "p95",
        "p99",
        "p99.9",
        "whole p50",
        "whole p99",
    ]);
    for (name, side) in sides(results) {
        table.add_row(row(
            name,
            "saturation",
            side.saturation.per_second,
            &side.saturation,
        ));
        for at in &side.rates {
            table.add_row(row(
                "",
                &format!("{:.0} %", at.share * 100.0),
                at.rate,
                &at.shown,
            ));
        }
    }
    out!("{table}");
    out!(
        "p: from the webhook's 2xx to the provider's request. whole: from the time a text was due \
         to be written."
    );
    for (name, side) in sides(results) {
        processes(name, side);
    }
    asked(results);
    if let (Some(ratio), Some(floor)) = (results.ratio_to_floor, &results.floor) {
        out!(
            "ratio to floor: {:.2} ({:.0} of {:.0} texts/s)",
            ratio,
            results.fleet.saturation.per_second,
            floor.saturation.per_second
        );
        if let (Some(fleet), Some(floor)) = (half(&results.fleet), half(floor)) {
            out!(
                "at half load: p50 {:.1} ms, p99 {:.1} ms, {:.1} ms beyond the floor's p99",
                fleet.p50,
                fleet.p99,
                fleet.p99 - floor.p99
            );
        }
    }
}

fn half(side: &Side) -> Option<super::measure::Percentiles> {
    side.rates
        .iter()
        .find(|at| at.share == 0.5)
        .map(|at| at.shown.from_accepted)
}

fn sides(results: &Pipeline) -> impl Iterator<Item = (&'static str, &Side)> {
    let others = [
        ("as in production", results.as_in_production.as_ref()),
        ("floor", results.floor.as_ref()),
    ];
    std::iter::once(("fleet", &results.fleet)).chain(
        others
            .into_iter()
            .filter_map(|(name, side)| Some((name, side?))),
    )
}

fn row(name: &str, load: &str, rate: f64, shown: &Shown) -> Vec<String> {
    let (p, whole) = (&shown.from_accepted, &shown.from_intended);
    let mut row = vec![
        name.to_owned(),
        load.to_owned(),
        format!("{rate:.0}"),
        format!("{:.2}", shown.sends_per_text),
    ];
    row.extend([p.p50, p.p95, p.p99, p.p999, whole.p50, whole.p99].map(|ms| format!("{ms:.1}")));
    row
}

fn processes(name: &str, side: &Side) {
    let mut table = table([
        name,
        "MB at rest",
        "MB busy",
        "% of a core at rest",
        "CPU ms per text",
    ]);
    let megabytes = |bytes: u64| format!("{:.1}", bytes as f64 / 1_048_576.0);
    for (process, usage) in &side.processes {
        table.add_row([
            process.clone(),
            megabytes(usage.resident_idle),
            megabytes(usage.resident_busy),
            format!("{:.1}", usage.idle_percent),
            format!("{:.2}", usage.cpu_ms_per_text),
        ]);
    }
    let sum: f64 = side
        .processes
        .values()
        .map(|usage| usage.cpu_ms_per_text)
        .sum();
    table.add_row([
        String::from("all"),
        String::new(),
        String::new(),
        String::new(),
        format!("{sum:.2}"),
    ]);
    out!("{table}");
}

fn asked(results: &Pipeline) {
    let (ours, recipe) = (results.per_text, results.recipe);
    let said = |what: &str, ours: f64, recipe: f64| {
        let more = if ours > recipe + 0.05 {
            "  more than the recipe"
        } else {
            ""
        };
        out!("per text: {ours:.2} {what}, the recipe {recipe:.0}{more}");
    };
    said("publishes", ours.publishes, recipe.publishes);
    said("commits", ours.commits, recipe.commits);
    said("round trips to Redis", ours.redis, recipe.redis);
    out!("per text: {:.1} statements", ours.statements);
}

/// Plots p50 and p99 over the load, for fleet and floor.
pub(super) fn svg(results: &Pipeline) -> String {
    const COLOURS: [&str; 3] = ["#0b6", "#06b", "#888"];
    let all = || sides(results).flat_map(|(_, side)| side.rates.iter());
    let most = all().map(|at| at.rate).fold(1.0, f64::max) * 1.1;
    let worst = all()
        .map(|at| at.shown.from_accepted.p99)
        .fold(1.0, f64::max)
        * 1.1;
    let (x, y) = (
        |rate: f64| 60.0 + rate / most * 520.0,
        |ms: f64| 360.0 - ms / worst * 330.0,
    );
    let mut lines = String::new();
    for ((name, side), colour) in sides(results).zip(COLOURS) {
        for (what, dash) in [("p50", "none"), ("p99", "6 4")] {
            let at = |at: &super::pipeline::AtRate| {
                let ms = if what == "p50" {
                    at.shown.from_accepted.p50
                } else {
                    at.shown.from_accepted.p99
                };
                (x(at.rate), y(ms))
            };
            let points: Vec<String> = side
                .rates
                .iter()
                .map(at)
                .map(|(x, y)| format!("{x:.1},{y:.1}"))
                .collect();
            lines += &format!(
                "<polyline points='{}' fill='none' stroke='{colour}' stroke-dasharray='{dash}'/>\n",
                points.join(" ")
            );
            if let Some((x, y)) = side.rates.last().map(at) {
                lines += &format!(
                    "<text x='{:.1}' y='{y:.1}' fill='{colour}'>{name} {what}</text>\n",
                    x + 4.0
                );
            }
        }
    }
    let axis = |n: f64| {
        let (rate, ms) = (most * n, worst * n);
        format!(
            "<text x='{:.1}' y='378'>{rate:.0}</text><text x='8' y='{:.1}'>{ms:.0}</text>\n",
            x(rate),
            y(ms)
        )
    };
    format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='720' height='400' font-family='sans-serif' font-size='12'>\n\
         <text x='60' y='18'>From accepted webhook to provider request, ms, over texts a second</text>\n\
         <path d='M60 30 V360 H580' fill='none' stroke='#444'/>\n{}{lines}</svg>\n",
        [0.0, 0.25, 0.5, 0.75, 1.0].map(axis).concat()
    )
}
