//! The fleet's processes: started, killed without warning, started again.

use std::{fs::File, process::Stdio};

use anyhow::{Context, Result};
use seven_testkit::Watchdog;
use tokio::{
    process::{Child, Command},
    sync::Mutex,
};

use super::{PER_KIND, ground::Ground};
use crate::wiring::Worker;

#[derive(Debug)]
pub(crate) struct Workers(Vec<Slot>);

#[derive(Debug)]
struct Process {
    child: Child,
    // Last: it must guard until the process is gone.
    _watchdog: Watchdog,
}

#[derive(Debug)]
struct Slot {
    worker: Worker,
    instance: usize,
    process: Mutex<Process>,
}

impl Workers {
    pub(crate) fn start(ground: &Ground) -> Result<Self> {
        let mut slots = Vec::new();
        for worker in Worker::ALL {
            for instance in 0..PER_KIND {
                let process = Mutex::new(spawn(ground, worker, instance)?);
                slots.push(Slot { worker, instance, process });
            }
        }
        Ok(Self(slots))
    }

    /// SIGKILL, and another in its place at once.
    pub(crate) async fn kill(&self, ground: &Ground, worker: Worker, instance: usize) -> Result<()> {
        let Some(slot) = self.0.iter().find(|s| s.worker == worker && s.instance == instance) else { return Ok(()) };
        let mut process = slot.process.lock().await;
        process.child.kill().await.with_context(|| format!("killing {worker:?}"))?;
        *process = spawn(ground, worker, instance)?;
        Ok(())
    }

    /// Starts those again that ended by themselves, as an orchestrator does; how many that were.
    pub(crate) async fn revive(&self, ground: &Ground) -> Result<usize> {
        let mut ended = 0;
        for slot in &self.0 {
            let mut process = slot.process.lock().await;
            if process.child.try_wait().context("looking after a worker")?.is_some() {
                ended += 1;
                *process = spawn(ground, slot.worker, slot.instance)?;
            }
        }
        Ok(ended)
    }

    pub(crate) async fn end(&self) {
        for slot in &self.0 {
            // One that is gone already needs no end.
            let _gone = slot.process.lock().await.child.kill().await;
        }
    }
}

fn spawn(ground: &Ground, worker: Worker, instance: usize) -> Result<Process> {
    let program = std::env::current_exe().context("finding our own binary")?;
    let log = File::options()
        .create(true)
        .append(true)
        .open(ground.log(worker, instance))
        .context("opening a worker's log")?;
    let child = Command::new(program)
        .args(["run", super::name(worker), "--config"])
        .arg(ground.config(instance))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::from(log))
        .kill_on_drop(true)
        .process_group(0)
        .spawn()
        .with_context(|| format!("starting {worker:?}"))?;
    // Whatever ends us, an interrupt too, must leave no worker behind.
    let leader = child.id().context("a worker ended at its start")?;
    let watchdog = Watchdog::over_group(leader).context("starting a watchdog")?;
    Ok(Process { child, _watchdog: watchdog })
}
