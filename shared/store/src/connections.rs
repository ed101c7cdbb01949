//! A connection pool that, unlike sqlx's, makes no query when a connection is returned. The next
//! transaction notices a dead connection and replaces it.

use std::{
    io,
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deadpool::{
    Runtime,
    managed::{
        Manager, Metrics, Object, Pool, PoolError, QueueMode, RecycleError, RecycleResult,
        TimeoutType,
    },
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Result, postgres::PgConnectOptions};
use tokio::{
    runtime::Handle,
    time::{sleep, timeout},
};

use crate::error::{is_dead_connection, is_not_taking_connections};

/// Maximum time to wait for a connection. While all connections are in use, callers queue for this
/// long. A server that accepts no connection is tried again for this long.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// The longest wait for answers that the last user of a connection left unread.
const UNREAD_ANSWERS_TIMEOUT: Duration = Duration::from_secs(1);
/// A connection that was unused for this long is closed.
const IDLE_TIMEOUT: Duration = Duration::from_secs(300);
/// A connection of this age is closed. The memory that the database keeps for a connection only
/// grows, and the connection's server may not be the primary any more.
const MAX_CONNECTION_AGE: Duration = Duration::from_secs(1_800);

/// A pool of connections to one database, opened on demand up to a maximum. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Connections(Pool<Opener>);

#[derive(Debug)]
struct Opener {
    options: PgConnectOptions,
    patience: Duration,
    /// Why the server last refused a connection; included in the timeout error.
    refused: Mutex<Option<String>>,
}

/// A pooled connection, held until it is dropped.
#[derive(Debug)]
pub struct Lent(Object<Opener>);

/// A transaction; dropping it rolls it back.
#[derive(Debug)]
pub struct Open(Option<Lent>);

/// Holds a connection that may have an open transaction. If the connection is still in this value
/// when the value is dropped, it is closed, so that it is not lent again.
struct Unsure(Option<Lent>);

// === impl Connections ===

impl Connections {
    pub fn new(options: PgConnectOptions, most: u32) -> Self {
        Self::with_acquire_timeout(
            options,
            usize::try_from(most).unwrap_or(usize::MAX),
            ACQUIRE_TIMEOUT,
        )
    }

    fn with_acquire_timeout(options: PgConnectOptions, most: usize, patience: Duration) -> Self {
        let pool = Pool::builder(Opener {
            options,
            patience,
            refused: Mutex::default(),
        })
        .max_size(most)
        .runtime(Runtime::Tokio1)
        .wait_timeout(Some(patience))
        .create_timeout(Some(patience))
        .recycle_timeout(Some(UNREAD_ANSWERS_TIMEOUT))
        // Last in, first out: a few connections are reused all the time, and the others become
        // idle and are closed.
        .queue_mode(QueueMode::Lifo)
        .build()
        .expect("what its builder asks for, a runtime for its time limits, is given above");
        Self(pool)
    }

    /// Returns a separate pool of the same size for the same database.
    pub(crate) fn apart(&self) -> Self {
        Self::with_acquire_timeout(
            self.options().clone(),
            self.most(),
            self.0.manager().patience,
        )
    }

    /// Returns a separate pool of the same size, in which the longest wait for a connection is
    /// `patience`.
    pub(crate) fn within(&self, patience: Duration) -> Self {
        Self::with_acquire_timeout(self.options().clone(), self.most(), patience)
    }

    pub(crate) fn most(&self) -> usize {
        self.0.status().max_size
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.0.manager().options
    }

    /// Returns the numbers of idle and of used connections.
    pub(crate) fn count(&self) -> (usize, usize) {
        let status = self.0.status();
        (
            status.available,
            status.size.saturating_sub(status.available),
        )
    }

    pub(crate) fn close_idle(&self) {
        self.0
            .retain(|_, metrics| metrics.last_used() < IDLE_TIMEOUT);
    }

    /// Begins a transaction with the statements `how`, in one round trip. Dead connections are
    /// closed and replaced; after a restart of the database, all of them are dead.
    pub async fn begin(&self, how: &str) -> Result<Open> {
        self.begin_on(self.lend().await?, how).await
    }

    /// Begins a transaction on a connection that is lent already, or on another one if that one is
    /// dead.
    pub(crate) async fn begin_on(&self, mut lent: Lent, how: &str) -> Result<Open> {
        for _ in 0..self.most() {
            match Open::begin(lent, how).await {
                Err(error) if is_dead_connection(&error) => lent = self.lend().await?,
                other => return other,
            }
        }
        Open::begin(lent, how).await
    }

    /// Returns a connection that just answered a ping, for a statement outside a transaction.
    pub(crate) async fn live(&self) -> Result<Lent> {
        for _ in 0..self.most() {
            let mut lent = self.lend().await?;
            match lent.ping().await {
                Ok(()) => return Ok(lent),
                Err(_) => lent.end(),
            }
        }
        self.lend().await
    }

    /// Returns whether the server accepts writes. If not, closes the connection, because a new one
    /// may reach another server at the same address.
    pub(crate) async fn writable(&self) -> Result<bool> {
        let mut lent = self.live().await?;
        let closed: String = sqlx::query_scalar("show transaction_read_only")
            .fetch_one(&mut *lent)
            .await?;
        let writable = closed == "off";
        if !writable {
            lent.end();
        }
        Ok(writable)
    }

    /// Lends a connection, which may turn out to be dead.
    pub async fn lend(&self) -> Result<Lent> {
        let opener = self.0.manager();
        match self.0.get().await {
            Ok(object) => Ok(Lent(object)),
            Err(PoolError::Backend(error)) => Err(error),
            Err(PoolError::Closed) => Err(sqlx::Error::PoolClosed),
            Err(PoolError::Timeout(TimeoutType::Create)) => Err(opener.no_connection(
                &opener
                    .refused()
                    .unwrap_or_else(|| "the server does not answer".to_owned()),
            )),
            // No connection became free in time: all are lent, or other callers wait for the server
            // too.
            Err(
                PoolError::Timeout(_)
                | PoolError::NoRuntimeSpecified
                | PoolError::PostCreateHook(_),
            ) => Err(opener
                .refused()
                .map_or(sqlx::Error::PoolTimedOut, |why| opener.no_connection(&why))),
        }
    }
}

impl Opener {
    fn no_connection(&self, why: &str) -> sqlx::Error {
        let seconds = self.patience.as_secs_f32();
        io::Error::new(
            io::ErrorKind::TimedOut,
            format!("no connection within {seconds} s: {why}"),
        )
        .into()
    }

    fn refused(&self) -> Option<String> {
        self.refused
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn note_refused(&self, why: Option<String>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl Manager for Opener {
    type Type = PgConnection;
    type Error = sqlx::Error;

    /// Retries a server that is just starting or has no free slot, until the pool's timeout.
    async fn create(&self) -> Result<PgConnection> {
        let mut pause = Duration::from_millis(10);
        self.note_refused(None);
        loop {
            // Boxed: otherwise the future of every caller would include all the state of opening a
            // connection.
            match Box::pin(PgConnection::connect_with(&self.options)).await {
                Err(error) if is_not_taking_connections(&error) => {
                    self.note_refused(Some(match error {
                        sqlx::Error::Io(error) => error.to_string(),
                        other => other.to_string(),
                    }));
                    sleep(pause).await;
                }
                made => {
                    self.note_refused(None);
                    return made;
                }
            }
            pause = (pause * 2).min(Duration::from_secs(1));
        }
    }

    /// Reads an answer that the previous user did not wait for. Otherwise the next user would take
    /// the answer for their own.
    async fn recycle(
        &self,
        connection: &mut PgConnection,
        metrics: &Metrics,
    ) -> RecycleResult<sqlx::Error> {
        if metrics.last_used() > IDLE_TIMEOUT || metrics.age() > MAX_CONNECTION_AGE {
            return Err(RecycleError::message("idle for too long, or too old"));
        }
        Ok(connection.flush().await?)
    }
}

// === impl Lent ===

impl Lent {
    /// Closes the connection instead of returning it to the pool.
    fn end(self) {
        drop(Object::take(self.0));
    }
}

impl Deref for Lent {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.0
    }
}

impl DerefMut for Lent {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.0
    }
}

// === impl Open ===

impl Open {
    async fn begin(lent: Lent, how: &str) -> Result<Self> {
        // Wrapped in `Open` before the transaction begins: if the caller's future is dropped during
        // the call, `Open` rolls back, and the next user finds no open transaction.
        let mut open = Self(Some(lent));
        match sqlx::raw_sql(AssertSqlSafe(how.to_owned()))
            .execute(&mut *open)
            .await
        {
            Ok(_) => Ok(open),
            Err(error) => {
                open.0.take().into_iter().for_each(Lent::end);
                Err(error)
            }
        }
    }

    pub async fn commit(self) -> Result<()> {
        self.finish("commit").await
    }

    pub(crate) async fn rollback(self) -> Result<()> {
        self.finish("rollback").await
    }

    async fn finish(mut self, how: &'static str) -> Result<()> {
        let done = sqlx::raw_sql(how).execute(&mut *self).await;
        let lent = self.0.take();
        if done.is_err() {
            lent.into_iter().for_each(Lent::end);
        }
        done.map(drop)
    }
}

impl Deref for Open {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        self.0.as_ref().expect("taken out only by what ends it")
    }
}

impl DerefMut for Open {
    fn deref_mut(&mut self) -> &mut PgConnection {
        self.0.as_mut().expect("taken out only by what ends it")
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        let Some(lent) = self.0.take() else { return };
        match Handle::try_current() {
            Ok(runtime) => drop(runtime.spawn(take_back(Unsure(Some(lent))))),
            Err(_) => lent.end(),
        }
    }
}

// === impl Unsure ===

impl Drop for Unsure {
    fn drop(&mut self) {
        self.0.take().into_iter().for_each(Lent::end);
    }
}

/// Rolls back a transaction after its last statement has answered. Closes the connection after a
/// timeout, because a vanished server never answers.
async fn take_back(mut unsure: Unsure) {
    let Some(lent) = &mut unsure.0 else { return };
    let rolled_back = timeout(
        ACQUIRE_TIMEOUT,
        sqlx::raw_sql("rollback").execute(&mut **lent),
    )
    .await;
    if matches!(rolled_back, Ok(Ok(_))) {
        drop(unsure.0.take());
    }
}
