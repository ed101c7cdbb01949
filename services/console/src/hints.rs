//! Hints to open pages that something changed at a casino. They carry no data: the page fetches its
//! parts again. Work of other processes is heard on the bus; changes that people make here are
//! hinted at once.

use std::{convert::Infallible, time::Duration};

use axum::response::sse::Event;
use futures::{Stream, StreamExt, stream};
use seven_domain::CasinoId;
use tokio::{
    sync::broadcast::{self, error::RecvError},
    time::{Instant, sleep, sleep_until, timeout},
};

use crate::app::Shared;

/// Least time between two hints of one page. With the delay it must stay below the second within
/// which a text shall be on every page.
const LEAST_GAP: Duration = Duration::from_millis(700);
/// Time between a change and its hint. A change that is heard on the bus may not be in its row yet,
/// and pages that fetch at the same time share a reading, which must not be older than the change.
const DELAY: Duration = Duration::from_millis(200);
/// After a hint comes another one, in case a row was written later than that.
const LATER: Duration = Duration::from_millis(1_500);
/// Time between two checks of the session behind a stream. Every part that a page fetches is checked
/// for itself; a stream carries nothing.
const CHECK: Duration = Duration::from_secs(5);
/// Time without a hint after which a page fetches all the same, and with the bus away.
const REFRESH: Duration = Duration::from_secs(20);
const REFRESH_ALONE: Duration = Duration::from_secs(2);
/// Pause before the bus is tried again.
const AGAIN: Duration = Duration::from_secs(2);
/// Hints that a slow page may be behind; it then gets one for all.
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
        // Nobody may be looking.
        self.0.send(casino.clone()).ok();
    }
}

/// Turns what is heard on the bus into hints, until the shutdown.
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
    /// The last hint, and the one that follows it anyway.
    last: Option<Instant>,
    again: Option<Instant>,
    checked: Instant,
}

/// Returns the hints for one page: `change`, at most one in 900 ms, and one now and then anyway.
/// It ends with the shutdown, and when `allowed` denies it, which is asked every few seconds; one
/// last hint is sent then.
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
                // This hint stands for the changes until now; those within the delay get the next.
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
                // The last hint makes the page fetch once more, and find that it may not.
                goes_on = allowed().await;
                page.checked = now;
            }
            let event = Event::default().event("change").data("");
            Some((Ok(event), goes_on.then_some((page, allowed))))
        }
    })
}

/// Waits for the casino's next hint.
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
