//! Logs panics: their location, and their message only if it is a literal in the code. A formatted
//! message may quote a guest's text, and no text may get into a log.

use std::any::Any;

/// Installs a panic hook for the whole process, which logs panics as described above.
pub(crate) fn mask() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic
            .location()
            .map(ToString::to_string)
            .unwrap_or_default();
        let words = words(panic.payload());
        if tracing::dispatcher::has_been_set() {
            tracing::error!(place, words, "panicked");
        } else {
            print(&place, words);
        }
    }));
}

fn words(payload: &dyn Any) -> &'static str {
    payload
        .downcast_ref::<&'static str>()
        .copied()
        .unwrap_or("not told: they may hold a text")
}

#[expect(clippy::print_stderr, reason = "there is no log yet")]
fn print(place: &str, words: &str) {
    eprintln!("seven: panicked at {place}: {words}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // OBS-14
    fn words_that_were_put_together_are_not_told() {
        let text = "mi habitación";
        let caught = std::panic::catch_unwind(|| text.split_at(12).0.len()).unwrap_err();
        assert!(
            caught
                .downcast_ref::<String>()
                .is_some_and(|said| said.contains(text)),
            "the standard library quotes it"
        );
        assert_eq!(words(&*caught), "not told: they may hold a text");
        assert_eq!(words(&"no such stage"), "no such stage");
    }
}
