//! The fleet's processes: starts them, kills them without warning, and starts new ones.

use std::{collections::BTreeSet, process::Stdio, time::Duration};

use anyhow::Result;
use seven_settings::Worker;
use tokio::{process::Command, sync::Mutex, time::sleep};

use super::{
    ground::Ground,
    size::{PER_KIND, WORKERS},
};
use crate::processes::Process;

#[derive(Debug)]
pub(crate) struct Workers(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    worker: Worker,
    instance: usize,
    process: Mutex<Process>,
}

impl Workers {
    pub(crate) fn start(ground: &Ground) -> Result<Self> {
        let mut slots = Vec::new();
        for worker in WORKERS {
            for instance in 0..PER_KIND {
                let process = Mutex::new(spawn(ground, worker, instance)?);
                slots.push(Slot {
                    worker,
                    instance,
                    process,
                });
            }
        }
        Ok(Self(slots))
    }

    /// Kills a worker with SIGKILL and starts another one in its place at once.
    pub(crate) async fn kill(
        &self,
        ground: &Ground,
        worker: Worker,
        instance: usize,
    ) -> Result<()> {
        let Some(slot) = self
            .0
            .iter()
            .find(|s| s.worker == worker && s.instance == instance)
        else {
            return Ok(());
        };
        let mut process = slot.process.lock().await;
        process.kill().await;
        *process = spawn(ground, worker, instance)?;
        Ok(())
    }

    /// Freezes all running processes of one worker for `span`, with SIGSTOP and SIGCONT.
    pub(crate) async fn freeze(&self, worker: Worker, span: Duration) -> Result<()> {
        let mut pids = Vec::new();
        for slot in self.0.iter().filter(|slot| slot.worker == worker) {
            pids.extend(slot.process.lock().await.pid());
        }
        for signal in ["-STOP", "-CONT"] {
            for pid in &pids {
                // The command fails for processes that were killed meanwhile, which does no harm.
                Command::new("kill")
                    .args([signal, &pid.to_string()])
                    .stderr(Stdio::null())
                    .status()
                    .await?;
            }
            if signal == "-STOP" {
                sleep(span).await;
            }
        }
        Ok(())
    }

    /// Restarts workers that ended by themselves, as an orchestrator does. Returns how many there
    /// were.
    pub(crate) async fn revive(&self, ground: &Ground) -> Result<usize> {
        let mut ended = 0;
        for slot in &self.0 {
            let mut process = slot.process.lock().await;
            if process.ended()? {
                ended += 1;
                *process = spawn(ground, slot.worker, slot.instance)?;
            }
        }
        Ok(ended)
    }

    /// Returns names and labels of every metric that the workers expose now.
    pub(crate) async fn series(&self) -> BTreeSet<String> {
        let mut series = BTreeSet::new();
        for slot in &self.0 {
            let shown = slot.process.lock().await.metrics().await;
            match shown {
                Ok(text) => series.extend(names(&text)),
                Err(error) => tracing::debug!(worker = slot.worker.name(), %error, "no metrics"),
            }
        }
        series
    }

    pub(crate) async fn end(&self) {
        for slot in &self.0 {
            slot.process.lock().await.kill().await;
        }
    }
}

fn spawn(ground: &Ground, worker: Worker, instance: usize) -> Result<Process> {
    Process::worker(
        worker,
        ground.config(instance),
        ground.log(worker, instance),
    )
}

/// Returns every line of a metrics page that is not a comment, without its value.
fn names(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.filter_map(|line| Some(line.rsplit_once(' ')?.0.to_owned()))
}
