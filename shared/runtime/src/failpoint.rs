//! Named places at which a debug build can be made to die as if by `kill -9`: between commit, publish, provider call and
//! acknowledgement. `SEVEN_FAILPOINT=gate.after_commit` dies at the first pass, `gate.after_commit:3` at the third;
//! `gate.after_commit:1:stop` stops there until SIGCONT. Release builds have none.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

struct Armed {
    name: String,
    pass: u32,
    stops: bool,
}

/// Dies here when this point is armed, or stops until SIGCONT.
pub fn failpoint(name: &str) {
    if !cfg!(debug_assertions) {
        return;
    }
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    static PASSES: AtomicU32 = AtomicU32::new(0);
    let armed = ARMED.get_or_init(|| {
        let text = std::env::var("SEVEN_FAILPOINT").ok()?;
        let mut parts = text.split(':');
        let (name, pass, what) = (parts.next()?, parts.next().unwrap_or("1"), parts.next());
        Some(Armed { name: name.to_owned(), pass: pass.parse().unwrap_or(1), stops: what == Some("stop") })
    });
    if let Some(armed) = armed
        && armed.name == name
        && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == armed.pass
    {
        if armed.stops {
            // Until somebody sends SIGCONT: as a frozen machine.
            std::process::Command::new("kill").args(["-STOP", &std::process::id().to_string()]).status().ok();
            return;
        }
        tracing::error!(failpoint = name, "dying at a failpoint");
        std::process::abort();
    }
}
