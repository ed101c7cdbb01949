//! Tells open pages by hints that something changed at their casino. A hint carries no data: the
//! page fetches its parts again. Changes by other processes arrive over the bus; changes that
//! people make in this process are hinted at once.

use std::{convert::Infallible, time::Duration};

use axum::response::sse::Event;
use futures::{Stream, StreamExt, stream};
use seven_domain::CasinoId;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::app::Shared;

/// Minimum time between two hints to one page. A page must show a new text within a second, so this
/// time and `DELAY` together must stay below one second.
const LEAST_GAP: Duration = Duration::from_millis(700);
/// Time between a change and its hint. When the bus reports a change, the changed row may not be
/// written yet. Also, pages that fetch at the same time share a reading, which must not be older
/// than the change.
const DELAY: Duration = Duration::from_millis(200);
/// Time from a hint to its repetition, which covers rows that were written only after the first
/// hint.
const LATER: Duration = Duration::from_millis(1_500);
/// Time between two checks of the session behind a stream. It may be long: a stream carries no
/// data, and every fetch of a page checks the session itself.
const CHECK: Duration = Duration::from_secs(5);
/// Time without news after which a page gets a hint anyway. While the bus is unreachable,
/// `REFRESH_ALONE` applies instead.
const REFRESH: Duration = Duration::from_secs(20);
const REFRESH_ALONE: Duration = Duration::from_secs(2);
/// Pause before the next attempt to subscribe to the bus.
const AGAIN: Duration = Duration::from_secs(2);
/// Maximum number of hints by which a slow page may fall behind. Beyond it, the page gets one hint
/// for all that it missed.
const BEHIND: usize = 64;

#[derive(Debug)]
pub(crate) struct Hints(broadcast::Sender<CasinoId>);

impl Default for Hints {
    fn default() -> Self {
        Self(broadcast::Sender::new(BEHIND))
    }
}

impl Hints {
    /// Hints that something changed at the casino.
    pub(crate) fn changed(&self, casino: &CasinoId) {
        // Sending fails when no page is open, which is fine.
        self.0.send(casino.clone()).ok();
    }
}

/// Turns changes that the bus reports into hints. Runs until it is aborted at the shutdown.
pub(crate) async fn hear(app: Shared) {
    loop {
        match app.fleet.bus.changes().await {
            Ok(changes) => {
                let mut changes = std::pin::pin!(changes);
                while let Some(casino) = changes.next().await {
                    app.hints.changed(&casino);
                }
            }
            Err(error) => tracing::debug!(%error, "pages are refreshed without the bus"),
        }
        sleep(AGAIN).await;
    }
}

/// The state of one page's stream.
struct Page {
    heard: broadcast::Receiver<CasinoId>,
    /// When the last hint was sent. `again`: when the second hint for the same change is due.
    last: Option<Instant>,
    again: Option<Instant>,
    checked: Instant,
}

/// Returns the hints for one page: a `change` event at most every 900 ms, and one after a time
/// without news. `allowed` is asked every few seconds. If it returns false, the stream ends after
/// one last hint. The stream also ends at the shutdown.
pub(crate) fn stream_for<A, F>(
    app: Shared,
    casino: CasinoId,
    allowed: A,
) -> impl Stream<Item = Result<Event, Infallible>>
where
    A: Fn() -> F + Send,
    F: Future<Output = bool> + Send,
{
    let page = Page {
        heard: app.hints.0.subscribe(),
        last: None,
        again: None,
        checked: Instant::now(),
    };
    stream::unfold(Some((page, allowed)), move |state| {
        let (app, casino) = (app.clone(), casino.clone());
        async move {
            let (mut page, allowed) = state?;
            let refresh = if app.bus_answers().await {
                REFRESH
            } else {
                REFRESH_ALONE
            };
            let idle = Instant::now() + refresh;
            let until = page.again.map_or(idle, |again| again.min(idle));
            let told = tokio::select! {
                () = app.fleet.shutdown.cancelled() => return None,
                () = sleep_until(until) => false,
                () = next(&mut page.heard, &casino) => true,
            };
            if told {
                if let Some(last) = page.last {
                    sleep_until(last + LEAST_GAP).await;
                }
                // This hint covers all changes until now; a change during the delay gets the next
                // hint.
                while timeout(Duration::ZERO, next(&mut page.heard, &casino))
                    .await
                    .is_ok()
                {}
                sleep(DELAY).await;
            }
            let now = Instant::now();
            page.last = Some(now);
            page.again = told.then(|| now + LATER);
            let mut goes_on = true;
            if now >= page.checked + CHECK {
                // If the person may no longer read the casino's data, this is the last hint. The
                // page then fetches its parts, and that fetch is refused.
                goes_on = allowed().await;
                page.checked = now;
            }
            let event = Event::default().event("change").data("");
            Some((Ok(event), goes_on.then_some((page, allowed))))
        }
    })
}

/// Waits for the next hint of this casino.
async fn next(heard: &mut broadcast::Receiver<CasinoId>, casino: &CasinoId) {
    loop {
        match heard.recv().await {
            Ok(changed) if changed == *casino => return,
            Ok(_) => {}
            Err(RecvError::Lagged(_)) => return,
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}
