//! Connections that are lent and given back. sqlx's own pool asks the database something each time one comes back, a round trip for every
//! transaction; here one that fell silent is found out by whoever begins with it next, and replaced.

use std::{
    io,
    ops::{Deref, DerefMut},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use deadpool::{
    Runtime,
    managed::{Manager, Metrics, Object, Pool, PoolError, QueueMode, RecycleError, RecycleResult, TimeoutType},
};
use sqlx::{AssertSqlSafe, Connection, PgConnection, Result, postgres::PgConnectOptions};
use tokio::{
    runtime::Handle,
    time::{sleep, timeout},
};

use crate::error::{is_dead_connection, is_not_taking_connections};

/// Connections are few, so a busy moment has a queue before them; a server that does not take any is asked for so long.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest wait for answers that the last user of a connection left unread.
const LEFTOVERS: Duration = Duration::from_secs(1);
/// One that nobody used for so long goes.
const IDLE: Duration = Duration::from_secs(300);
/// And one that is so old: what the database keeps for it only grows, and the server it leads to may not be the primary any more.
const OLD: Duration = Duration::from_secs(1_800);

/// Up to so many connections to one database, made when they are needed. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Connections(Pool<Opener>);

#[derive(Debug)]
struct Opener {
    options: PgConnectOptions,
    patience: Duration,
    /// Why the server took no connection the last time that it took none: who gave up waiting is told.
    refused: Mutex<Option<String>>,
}

/// A connection until it is dropped.
#[derive(Debug)]
pub struct Lent(Object<Opener>);

/// A transaction; dropping it takes it back.
#[derive(Debug)]
pub struct Open(Option<Lent>);

/// A connection that may have a transaction open: not lent again, unless somebody takes it out.
struct Unsure(Option<Lent>);

// === impl Connections ===

impl Connections {
    pub fn new(options: PgConnectOptions, most: u32) -> Self {
        Self::with_acquire_timeout(options, usize::try_from(most).unwrap_or(usize::MAX), ACQUIRE_TIMEOUT)
    }

    fn with_acquire_timeout(options: PgConnectOptions, most: usize, patience: Duration) -> Self {
        let pool = Pool::builder(Opener { options, patience, refused: Mutex::default() })
            .max_size(most)
            .runtime(Runtime::Tokio1)
            .wait_timeout(Some(patience))
            .create_timeout(Some(patience))
            .recycle_timeout(Some(LEFTOVERS))
            // The few that suffice are used again and again; the others grow idle and go.
            .queue_mode(QueueMode::Lifo)
            .build()
            .expect("what its builder asks for, a runtime for its time limits, is given above");
        Self(pool)
    }

    /// As many connections to the same database, apart from these.
    pub(crate) fn apart(&self) -> Self {
        Self::with_acquire_timeout(self.options().clone(), self.most(), self.0.manager().patience)
    }

    /// The same for one who waits for a connection no longer than this.
    pub(crate) fn within(&self, patience: Duration) -> Self {
        Self::with_acquire_timeout(self.options().clone(), self.most(), patience)
    }

    pub(crate) fn most(&self) -> usize {
        self.0.status().max_size
    }

    pub(crate) fn options(&self) -> &PgConnectOptions {
        &self.0.manager().options
    }

    /// Those that are idle, and those in use.
    pub(crate) fn count(&self) -> (usize, usize) {
        let status = self.0.status();
        (status.available, status.size.saturating_sub(status.available))
    }

    pub(crate) fn close_idle(&self) {
        self.0.retain(|_, metrics| metrics.last_used() < IDLE);
    }

    /// Begins with these statements, in one round trip. Connections that are dead are dropped on the way: a restart of the database leaves
    /// nothing but them.
    pub async fn begin(&self, how: &str) -> Result<Open> {
        self.begin_on(self.lend().await?, how).await
    }

    /// The same on one that is lent already, or on another one if that is dead.
    pub(crate) async fn begin_on(&self, mut lent: Lent, how: &str) -> Result<Open> {
        for _ in 0..self.most() {
            match Open::begin(lent, how).await {
                Err(error) if is_dead_connection(&error) => lent = self.lend().await?,
                other => return other,
            }
        }
        Open::begin(lent, how).await
    }

    /// A connection that answered just now, for a statement outside a transaction.
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

    /// Whether the server takes writes. A connection to one that does not goes: the address may lead to another server meanwhile.
    pub(crate) async fn writable(&self) -> Result<bool> {
        let mut lent = self.live().await?;
        let closed: String = sqlx::query_scalar("show transaction_read_only").fetch_one(&mut *lent).await?;
        let writable = closed == "off";
        if !writable {
            lent.end();
        }
        Ok(writable)
    }

    /// One that may turn out to be dead.
    pub async fn lend(&self) -> Result<Lent> {
        let opener = self.0.manager();
        match self.0.get().await {
            Ok(object) => Ok(Lent(object)),
            Err(PoolError::Backend(error)) => Err(error),
            Err(PoolError::Closed) => Err(sqlx::Error::PoolClosed),
            Err(PoolError::Timeout(TimeoutType::Create)) => {
                Err(opener.no_connection(&opener.refused().unwrap_or_else(|| "the server does not answer".to_owned())))
            }
            // All are lent, or others wait for the server too.
            Err(PoolError::Timeout(_) | PoolError::NoRuntimeSpecified | PoolError::PostCreateHook(_)) => {
                Err(opener.refused().map_or(sqlx::Error::PoolTimedOut, |why| opener.no_connection(&why)))
            }
        }
    }
}

impl Opener {
    fn no_connection(&self, why: &str) -> sqlx::Error {
        let seconds = self.patience.as_secs_f32();
        io::Error::new(io::ErrorKind::TimedOut, format!("no connection within {seconds} s: {why}")).into()
    }

    fn refused(&self) -> Option<String> {
        self.refused.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn note_refused(&self, why: Option<String>) {
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = why;
    }
}

impl Manager for Opener {
    type Type = PgConnection;
    type Error = sqlx::Error;

    /// A server that is just starting, or has no place free, is asked again; the pool's time limit ends that.
    async fn create(&self) -> Result<PgConnection> {
        let mut pause = Duration::from_millis(10);
        self.note_refused(None);
        loop {
            // Apart: whoever waits for a connection would carry all that making one needs.
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

    /// An answer that somebody did not stay for is read first, so that the next who asks does not take it for his own.
    async fn recycle(&self, connection: &mut PgConnection, metrics: &Metrics) -> RecycleResult<sqlx::Error> {
        if metrics.last_used() > IDLE || metrics.age() > OLD {
            return Err(RecycleError::message("idle for too long, or too old"));
        }
        Ok(connection.flush().await?)
    }
}

// === impl Lent ===

impl Lent {
    /// Not to be lent again.
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
        // Open before it is: whoever is dropped while he asks leaves no transaction to the next.
        let mut open = Self(Some(lent));
        match sqlx::raw_sql(AssertSqlSafe(how.to_owned())).execute(&mut *open).await {
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

/// Rolls back a transaction whose last statement may still be under way; that answer is awaited
/// first. A server that went away silently never answers: its connection is closed, or it would
/// hold a place for ever.
async fn take_back(mut unsure: Unsure) {
    let Some(lent) = &mut unsure.0 else { return };
    let rolled_back = timeout(ACQUIRE_TIMEOUT, sqlx::raw_sql("rollback").execute(&mut **lent)).await;
    if matches!(rolled_back, Ok(Ok(_))) {
        drop(unsure.0.take());
    }
}
