//! Named places at which a debug build can be made to die as if by `kill -9`: between commit, publish, provider call and
//! acknowledgement. `SEVEN_FAILPOINT=gate.after_commit` dies at the first pass, `gate.after_commit:3` at the third. Release builds
//! have none.

use std::sync::{
    OnceLock,
    atomic::{AtomicU32, Ordering},
};

struct Armed {
    name: String,
    pass: u32,
}

/// Dies here when this point is armed.
pub fn failpoint(name: &str) {
    if !cfg!(debug_assertions) {
        return;
    }
    static ARMED: OnceLock<Option<Armed>> = OnceLock::new();
    static PASSES: AtomicU32 = AtomicU32::new(0);
    let armed = ARMED.get_or_init(|| {
        let text = std::env::var("SEVEN_FAILPOINT").ok()?;
        let (name, pass) = text.split_once(':').unwrap_or((&text, "1"));
        Some(Armed { name: name.to_owned(), pass: pass.parse().unwrap_or(1) })
    });
    if let Some(armed) = armed
        && armed.name == name
        && PASSES.fetch_add(1, Ordering::SeqCst) + 1 == armed.pass
    {
        tracing::error!(failpoint = name, "dying at a failpoint");
        std::process::abort();
    }
}
