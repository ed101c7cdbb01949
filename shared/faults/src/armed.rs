//! Failpoints and mutants, armed by the environment variables `SEVEN_FAILPOINT` and `SEVEN_MUTANT`.

use std::{
    sync::{
        OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    time::{Duration, Instant},
};

/// The armed failpoint. `gate.after_commit` acts when the process first reaches that point,
/// `gate.after_commit:3` the third time. With `:stop`, as in `gate.after_commit:1:stop`, the
/// process stops until SIGCONT instead of ending.
struct Armed {
    name: String,
    pass: u32,
    stops: bool,
}

/// Ends the process, or stops it until SIGCONT, if `SEVEN_FAILPOINT` names this point.
pub fn failpoint(name: &str) {
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    static PASSES: AtomicU32 = AtomicU32::new(0);
    let armed = ARMED.get_or_init(|| {
        let text = std::env::var("SEVEN_FAILPOINT").ok()?;
        let mut parts = text.split(':');
        let (name, pass, what) = (parts.next()?, parts.next().unwrap_or("1"), parts.next());
        Some(Armed {
            name: name.to_owned(),
            pass: pass.parse().unwrap_or(1),
            stops: what == Some("stop"),
        })
    });
    if let Some(armed) = armed
        && armed.name == name
        && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == armed.pass
    {
        if armed.stops {
            std::process::Command::new("kill")
                .args(["-STOP", &std::process::id().to_string()])
                .status()
                .ok();
            await_stop();
            return;
        }
        tracing::error!(failpoint = name, "dying at a failpoint");
        std::process::abort();
    }
}

/// Blocks this thread until the process has been stopped and continued. On a busy machine the
/// process may stop late. Without this wait, the thread would run on past the failpoint.
#[expect(
    clippy::disallowed_methods,
    reason = "the thread has to stand still with its process"
)]
fn await_stop() {
    const STEP: Duration = Duration::from_millis(20);
    // A step that takes longer than this shows that the process was stopped.
    const STOPPED: Duration = Duration::from_millis(500);
    const MOST: Duration = Duration::from_secs(30);
    let began = Instant::now();
    while began.elapsed() < MOST {
        let step = Instant::now();
        std::thread::sleep(STEP);
        if step.elapsed() > STOPPED {
            return;
        }
    }
}

/// Returns true if `SEVEN_MUTANT` names this mutant.
pub fn mutant(name: &str) -> bool {
    static CHOSEN: OnceLock<Option<String>> = OnceLock::new();
    CHOSEN
        .get_or_init(|| std::env::var("SEVEN_MUTANT").ok())
        .as_deref()
        == Some(name)
}
