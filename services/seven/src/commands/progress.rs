//! Shows progress on stderr for work that may take more than two seconds. If stderr is not a
//! terminal, nothing is shown.

use std::{borrow::Cow, time::Duration};

use indicatif::{ProgressBar, ProgressStyle};

/// Period of the spinner.
const TICK: Duration = Duration::from_millis(120);

/// Shows `what` and the elapsed time for as long as `work` runs.
pub(crate) async fn during<T>(
    what: impl Into<Cow<'static, str>>,
    work: impl Future<Output = T>,
) -> T {
    let shown = Shown::begin(what.into());
    let done = work.await;
    drop(shown);
    done
}

/// A spinner that is removed when dropped, even if the work was cancelled.
struct Shown(ProgressBar);

impl Shown {
    fn begin(what: Cow<'static, str>) -> Self {
        // indicatif draws nothing if stderr is not a terminal.
        let bar = ProgressBar::new_spinner().with_message(what);
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {elapsed}") {
            bar.set_style(style);
        }
        bar.enable_steady_tick(TICK);
        Self(bar)
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
