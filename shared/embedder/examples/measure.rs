//! Measures the local embedding on this machine. `measure FOLDER FILE...` reads the weights and
//! embeds the questions of the labelled files, one after the other. The program prints times and
//! memory.
#![expect(clippy::print_stdout, reason = "the result")]

use std::{
    env,
    error::Error,
    fs,
    path::PathBuf,
    time::{Duration, Instant},
};

use seven_embedder::{Local, Settings};
use seven_knowledge::{Embedder, Purpose, evaluate::parse_questions};

/// Number of times that each question is asked. The last word differs each time, so that no vector
/// comes from the cache.
const ROUNDS: usize = 3;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = env::args().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("FOLDER is missing")?);
    let (before, begun) = (resident(), Instant::now());
    let local = Local::open(Settings {
        folder,
        batch: 64,
        query_deadline: Duration::from_secs(60),
        document_deadline: Duration::from_secs(60),
    })?;
    let taken = begun.elapsed();
    println!(
        "open: {taken:?}; resident {before} MB before, {} MB after",
        resident()
    );
    for file in arguments {
        let questions = parse_questions(&fs::read_to_string(&file)?)?;
        let mut times = Vec::new();
        for round in 0..ROUNDS {
            for question in &questions {
                let text = format!("{} {round}", question.text);
                let begun = Instant::now();
                local.embed(&[&text], Purpose::Query).await?;
                times.push(begun.elapsed());
            }
        }
        times.sort_unstable();
        let at = |percent: usize| times[times.len() * percent / 100];
        println!(
            "{file}: {} questions, p50 {:?}, p95 {:?}, p99 {:?}; resident {} MB",
            times.len(),
            at(50),
            at(95),
            at(99),
            resident()
        );
    }
    Ok(())
}

/// Returns the memory of this process in MB; 0 if the system does not report it.
fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or_default() / 1024
}
