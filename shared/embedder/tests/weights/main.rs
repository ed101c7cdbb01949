//! Tests that need the weights, which `./scripts/weights` fetches. Without the weights each test
//! prints a line and is skipped; `SEVEN_WEIGHTS=required` makes their absence a failure.
#![expect(clippy::unwrap_used, reason = "helpers of tests")]
#![expect(clippy::print_stderr, reason = "a skipped test must be seen")]

mod reference;
mod retrieval;

use std::{env, path::PathBuf, time::Duration};

use seven_embedder::{FILE, Local, Settings};
use seven_knowledge::{Embedder, Purpose, Vector};

/// Returns the embedder, or `None` if the weights are absent and not required.
fn embedder() -> Option<Local> {
    let folder = folder();
    if !folder.join(FILE).exists() {
        let required = env::var("SEVEN_WEIGHTS").is_ok_and(|value| value == "required");
        assert!(
            !required,
            "no weights in {}: ./scripts/weights",
            folder.display()
        );
        eprintln!(
            "SKIPPED: no weights in {}: ./scripts/weights",
            folder.display()
        );
        return None;
    }
    let settings = Settings {
        folder,
        batch: 64,
        query_deadline: Duration::from_secs(60),
        document_deadline: Duration::from_secs(600),
    };
    Some(Local::open(settings).unwrap())
}

/// Returns the folder that `./scripts/weights` prints.
fn folder() -> PathBuf {
    let cache = env::var_os("HEY_SEVEN_CACHE").map(PathBuf::from);
    let home = || PathBuf::from(env::var_os("HOME").unwrap_or_default());
    cache
        .unwrap_or_else(|| home().join(".cache/hey-seven"))
        .join("e5")
}

async fn one(local: &Local, text: &str, purpose: Purpose) -> Vector {
    local.embed(&[text], purpose).await.unwrap().remove(0)
}
