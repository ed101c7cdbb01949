//! Metrics of this process: version, readiness, CPU and memory. CPU and memory are read from /proc
//! whenever the metrics are fetched. They stay 0 on systems other than Linux.

use std::sync::OnceLock;

use prometheus::{Gauge, GaugeVec, IntGauge, IntGaugeVec};

instruments! {
    /// Metrics of this process. The `process_*` names are those that every Prometheus client uses.
    /// `process_cpu_seconds_total` is a gauge here, but it only grows.
    Process {
        build: IntGaugeVec = "seven_build_info", "1, with what runs here", ["version", "commit"];
        runs: IntGaugeVec = "seven_worker_info", "1 for each worker of this process", ["worker"];
        start: Gauge = "seven_start_seconds", "Seconds from process start to ready; 0 until then",
            [];
        ready: IntGauge = "seven_ready", "1 while this process says that it is ready", [];
        stores: IntGaugeVec = "seven_store_up", "1 while the store answered at the last check",
            ["store"];
        store_seconds: GaugeVec = "seven_store_check_seconds",
            "Duration of the last health check of a store, in seconds", ["store"];
        breakers: IntGaugeVec = "seven_breaker_state",
            "0 closed, 1 half open, 2 open, as Redis has it", ["name"];
        connections: IntGaugeVec = "seven_database_connections",
            "Connections of this process to Postgres (idle, busy)", ["state"];
        cpu: Gauge = "process_cpu_seconds_total", "CPU time in seconds, user and system", [];
        memory: IntGauge = "process_resident_memory_bytes", "Resident memory in bytes", [];
        memory_limit: IntGauge = "seven_memory_limit_bytes",
            "Memory limit of the control group in bytes; 0 for none", [];
        files: IntGauge = "process_open_fds", "Open file descriptors", [];
        files_limit: IntGauge = "process_max_fds", "Maximum number of open file descriptors", [];
        threads: IntGauge = "process_threads", "Threads", [];
        started: Gauge = "process_start_time_seconds",
            "Start time of the process, Unix time in seconds", [];
    }
}

/// Kernel clock ticks per second; every Linux reports times to user space in this unit.
const TICKS: f64 = 100.0;
const PAGE: i64 = 4_096;

impl Process {
    /// Reads this process's figures from the kernel.
    pub(super) fn read(&self) {
        let file =
            |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let stat = Stat::parse(&file("stat"));
        self.cpu.set(stat.cpu_seconds());
        self.threads.set(stat.threads);
        if let Some(boot) = boot_time() {
            self.started.set(boot + stat.start_ticks as f64 / TICKS);
        }
        let resident: i64 = nth(&file("statm"), 1);
        self.memory.set(resident * PAGE);
        self.files.set(
            std::fs::read_dir("/proc/self/fd")
                .map_or(0, |fds| i64::try_from(fds.count()).unwrap_or(i64::MAX)),
        );
        self.files_limit.set(files_limit(&file("limits")));
        self.memory_limit.set(memory_limit());
    }

    /// Returns the seconds since the kernel started this process; `None` if /proc is missing.
    pub fn age() -> Option<f64> {
        let stat = Stat::parse(&std::fs::read_to_string("/proc/self/stat").ok()?);
        let uptime: f64 = std::fs::read_to_string("/proc/uptime")
            .ok()?
            .split(' ')
            .next()?
            .parse()
            .ok()?;
        Some((uptime - stat.start_ticks as f64 / TICKS).max(0.0))
    }

    /// Returns the seconds of processor time that this process has used; `None` if /proc is
    /// missing.
    pub fn cpu_seconds() -> Option<f64> {
        Some(Stat::parse(&std::fs::read_to_string("/proc/self/stat").ok()?).cpu_seconds())
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Stat {
    cpu_ticks: u64,
    threads: i64,
    start_ticks: u64,
}

impl Stat {
    /// Parses fields 14, 15, 20 and 22 of proc(5). The name in field 2 may contain spaces and
    /// brackets.
    fn parse(stat: &str) -> Self {
        let after_name = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let field = |n: usize| nth::<u64>(after_name, n - 3);
        Self {
            cpu_ticks: field(14) + field(15),
            threads: nth(after_name, 20 - 3),
            start_ticks: field(22),
        }
    }

    fn cpu_seconds(&self) -> f64 {
        self.cpu_ticks as f64 / TICKS
    }
}

fn nth<T: std::str::FromStr + Default>(line: &str, n: usize) -> T {
    line.split_ascii_whitespace()
        .nth(n)
        .and_then(|field| field.parse().ok())
        .unwrap_or_default()
}

fn boot_time() -> Option<f64> {
    static BOOT: OnceLock<Option<f64>> = OnceLock::new();
    *BOOT.get_or_init(|| {
        let stat = std::fs::read_to_string("/proc/stat").ok()?;
        stat.lines()
            .find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
    })
}

fn files_limit(limits: &str) -> i64 {
    limits
        .lines()
        .find(|line| line.starts_with("Max open files"))
        .map_or(0, |line| nth(line, 3))
}

/// Returns the memory limit of this process's control group (version 2), in bytes; 0 if it has
/// none.
fn memory_limit() -> i64 {
    std::fs::read_to_string("/sys/fs/cgroup/memory.max")
        .map_or(0, |max| max.trim().parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let line = "42 (a) b (c) S 1 42 42 0 -1 4194304 900 0 3 0 120 30 0 0 20 0 7 0 5500 1000000 2500 18446744073709551615";
        assert_eq!(
            Stat::parse(line),
            Stat {
                cpu_ticks: 150,
                threads: 7,
                start_ticks: 5_500
            }
        );
        assert_eq!(Stat::parse(""), Stat::default());
        assert_eq!(
            files_limit(
                "Limit   Soft Limit   Hard Limit   Units\nMax open files            1024                 524288               files\n"
            ),
            1_024
        );
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn the_kernel_knows_this_process() {
        let process = &crate::metrics().process;
        process.read();
        assert!(
            process.memory.get() > 100_000 && process.files.get() > 2 && process.threads.get() >= 1
        );
        assert!(process.started.get() > 1_600_000_000.0);
        assert!(Process::age().is_some_and(|age| age < 86_400.0));
        assert!(Process::cpu_seconds().is_some_and(|seconds| seconds < 86_400.0));
    }
}
