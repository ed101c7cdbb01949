//! Writes the commit into the binary for `seven --version`.

use std::process::Command;

fn main() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok()?;
        output
            .status
            .success()
            .then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    // An image build has no git history; the build passes its commit in SEVEN_COMMIT.
    println!("cargo::rerun-if-env-changed=SEVEN_COMMIT");
    let said = std::env::var("SEVEN_COMMIT")
        .ok()
        .filter(|commit| !commit.is_empty());
    let commit = git(&["rev-parse", "--short=12", "HEAD"])
        .or(said)
        .unwrap_or_else(|| "unknown commit".to_owned());
    println!("cargo::rustc-env=SEVEN_COMMIT={commit}");
    if let Some(head) = git(&["rev-parse", "--git-path", "logs/HEAD"]) {
        println!("cargo::rerun-if-changed={head}");
    }
}
