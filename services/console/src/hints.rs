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

/// Least time between two hints of one page.
const LEAST_GAP: Duration = Duration::from_millis(500);
/// After a hint comes another one: the row that the first was about may not have been written yet.
const LATER: Duration = Duration::from_millis(1_500);
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

/// Returns the hints for one page: `change`, at most one in 500 ms, and one now and then anyway.
/// It ends with the shutdown, and when `allowed` says so, which is asked before each
/// hint; one last hint is sent then.
pub(crate) fn stream_for<A, F>(
    app: Shared,
    casino: CasinoId,
    allowed: A,
) -> impl Stream<Item = Result<Event, Infallible>>
where
    A: Fn() -> F + Send,
    F: Future<Output = bool> + Send,
{
    let state = Some((app.hints.0.subscribe(), None::<Instant>, allowed));
    stream::unfold(state, move |state| {
        let (app, casino) = (app.clone(), casino.clone());
        async move {
            let (mut heard, again, allowed) = state?;
            let refresh = if app.fleet.bus.ready().await {
                REFRESH
            } else {
                REFRESH_ALONE
            };
            let idle = Instant::now() + refresh;
            let until = again.map_or(idle, |again| again.min(idle));
            let told = tokio::select! {
                () = app.fleet.shutdown.cancelled() => return None,
                () = sleep_until(until) => false,
                () = next(&mut heard, &casino) => true,
            };
            if told {
                sleep(LEAST_GAP).await;
                // This hint stands for those that came meanwhile.
                while timeout(Duration::ZERO, next(&mut heard, &casino))
                    .await
                    .is_ok()
                {}
            }
            // The last hint makes the page fetch once more, and find that it may not.
            let goes_on = allowed().await;
            let again = told.then(|| Instant::now() + LATER);
            let event = Event::default().event("change").data("");
            Some((Ok(event), goes_on.then_some((heard, again, allowed))))
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
