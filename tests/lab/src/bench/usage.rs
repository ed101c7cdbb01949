//! Reads memory and CPU time of processes (Linux: /proc), and the number of requests that the
//! servers got.

use std::{
    io::{Read, Write},
    net::TcpStream,
    time::Duration,
};

use anyhow::{Context, Result};
use serde::Serialize;

use super::ground::Ground;

/// The resources that a process used up to one moment.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Taken {
    pub(super) resident_bytes: u64,
    /// The part of `resident_bytes` that this process uses alone. The rest is pages of the
    /// program's file, which all processes of the program share.
    pub(super) own_bytes: u64,
    pub(super) cpu: Duration,
}

/// Returns the usage of one process; zeros when it is gone.
pub(super) fn of(pid: u32) -> Taken {
    let read =
        |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let status = read("status");
    let bytes = |name: &str| {
        let kib = |line: &str| {
            line.strip_prefix(name)?
                .trim()
                .split(' ')
                .next()?
                .parse::<u64>()
                .ok()
        };
        status.lines().find_map(kib).unwrap_or(0) * 1_024
    };
    // The process's name stands in parentheses; the first field after it is field 3. Fields 14 and
    // 15 are the user and the system time, in ticks of 1/100 s.
    let stat = read("stat");
    let fields: Vec<u64> = stat
        .rsplit(')')
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .map(|f| f.parse().unwrap_or(0))
        .collect();
    let ticks = fields.get(11).copied().unwrap_or(0) + fields.get(12).copied().unwrap_or(0);
    Taken {
        resident_bytes: bytes("VmRSS:"),
        own_bytes: bytes("RssAnon:"),
        cpu: Duration::from_millis(ticks * 10),
    }
}

/// Returns the usage of a process and all its descendants: Postgres runs as a tree of processes.
pub(super) fn of_tree(pid: u32) -> Taken {
    let children =
        std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children
        .split_whitespace()
        .filter_map(|child| child.parse().ok())
        .map(of_tree)
        .fold(of(pid), |sum, child| Taken {
            resident_bytes: sum.resident_bytes + child.resident_bytes,
            own_bytes: sum.own_bytes + child.own_bytes,
            cpu: sum.cpu + child.cpu,
        })
}

/// Numbers of requests to the servers, since the servers started. Also used for differences and
/// averages of these numbers.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Asked {
    /// Messages that JetStream stored.
    pub(super) publishes: f64,
    /// Transactions, including read-only ones.
    pub(super) commits: f64,
    /// Statements sent to Postgres, including those that begin and end transactions.
    pub(super) statements: f64,
    /// Round trips to Redis.
    pub(super) redis: f64,
}

impl Asked {
    pub(super) async fn so_far(ground: &Ground) -> Result<Self> {
        let counts = ground
            .sql(
                "select coalesce(sum(calls) filter (where lower(query) like 'commit%'), 0), coalesce(sum(calls), 0) \
                 from pg_stat_statements s join pg_roles r on r.oid = s.userid where r.rolname = 'seven_app'",
            )
            .await?;
        let mut counts = counts
            .trim()
            .split('|')
            .map(|count| count.parse::<f64>().unwrap_or_default());
        let heads = ground.stack.fleet.bus.stored_so_far().await?;
        Ok(Self {
            publishes: heads as f64,
            commits: counts.next().unwrap_or_default(),
            statements: counts.next().unwrap_or_default(),
            redis: redis_calls(&ground.servers.redis.url())? as f64,
        })
    }

    /// Returns the requests per text since `before`. Subtracts `idle`, the requests that the fleet
    /// makes in the same time without texts.
    pub(super) fn per_text(self, before: Self, idle: Self, count: usize) -> Self {
        let each = |after: f64, before: f64, idle: f64| {
            ((after - before - idle) / count.max(1) as f64).max(0.0)
        };
        Self {
            publishes: each(self.publishes, before.publishes, idle.publishes),
            commits: each(self.commits, before.commits, idle.commits),
            statements: each(self.statements, before.statements, idle.statements),
            redis: each(self.redis, before.redis, idle.redis),
        }
    }

    pub(super) fn since(self, before: Self) -> Self {
        self.per_text(before, Self::default(), 1)
    }

    pub(super) fn times(self, factor: f64) -> Self {
        Self {
            publishes: self.publishes * factor,
            commits: self.commits * factor,
            statements: self.statements * factor,
            redis: self.redis * factor,
        }
    }
}

/// Prints the statements on which Postgres spent most time, with each one's cost per text.
pub(super) async fn statements(ground: &Ground, texts: usize) -> Result<()> {
    let rows = ground
        .sql(&format!(
            "select round((total_exec_time / {texts})::numeric, 3), round((total_plan_time / {texts})::numeric, 3), \
               round((calls / {texts}.0)::numeric, 2), round((shared_blks_hit / {texts}.0)::numeric, 1), left(regexp_replace(query, '\\s+', ' ', 'g'), 110) \
             from pg_stat_statements where calls >= {texts} / 10 order by total_exec_time desc limit 60"
        ))
        .await?;
    seven::out!("per text: ms | ms planning | calls | pages | statement\n{rows}");
    Ok(())
}

/// Returns how often Redis read from a client. Commands that a client sends together count once;
/// commands inside a script do not count.
fn redis_calls(url: &str) -> Result<u64> {
    let address = url.trim_start_matches("redis://").trim_end_matches('/');
    let mut stream = TcpStream::connect(address).context("asking Redis what it was asked")?;
    stream.set_read_timeout(Some(Duration::from_secs(2)))?;
    stream.write_all(b"INFO stats\r\nQUIT\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    reads_in(&answer).context("Redis does not say how often it read")
}

fn reads_in(stats: &str) -> Option<u64> {
    stats.lines().find_map(|line| {
        line.strip_prefix("total_reads_processed:")?
            .trim()
            .parse()
            .ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_are_counted() {
        assert_eq!(
            reads_in("# Stats\r\ntotal_reads_processed:17\r\ntotal_writes_processed:18\r\n"),
            Some(17)
        );
        assert_eq!(reads_in("# Stats\r\n"), None);
    }

    #[test]
    fn this_process_takes_memory_and_time() {
        let own = of(std::process::id());
        assert!(
            own.own_bytes > 100_000 && own.resident_bytes > own.own_bytes,
            "{own:?}"
        );
        assert_eq!(of(u32::MAX).resident_bytes, 0);
    }

    #[test]
    fn what_an_idle_fleet_asks_is_not_the_texts() {
        let at = |n: f64| Asked {
            publishes: n,
            commits: n,
            statements: n,
            redis: n,
        };
        assert_eq!(
            at(1_300.0).per_text(at(100.0), at(200.0), 100).commits,
            10.0
        );
        assert_eq!(at(1_300.0).since(at(100.0)).times(0.5).redis, 600.0);
    }
}
