//! Serves the connections of a public address. Limits how many are open, and how long one may stay
//! open without a request.

use std::{
    convert::Infallible,
    net::IpAddr,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{Router, body::Body, response::Response};
use http::{HeaderValue, header::CONNECTION};
use hyper::{Request, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulShutdown, Watcher},
};
use seven_runtime::Proxies;
use seven_telemetry::metrics;
use socket2::SockRef;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::{sleep, timeout},
};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use crate::{
    Waits,
    crowd::{Crowd, WaitingCaller},
};

/// How long an idle connection of a proxy stays open. The proxy should be the one that closes it,
/// and most proxies do so after 60 s.
const PROXY_IDLE_TIMEOUT: Duration = Duration::from_secs(75);
/// Maximum size in bytes of a request's head, and of the part of a body that is read ahead.
const BUFFER_BYTES: usize = 16 * 1024;
/// Size in bytes of the kernel's send buffer for one connection.
const SEND_BUFFER_BYTES: usize = 16 * 1024;
/// Time for requests in progress to finish after shutdown begins.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(5);
/// Pause after a failed accept: if there are no file descriptors left, the next accept would fail
/// at once too.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// The limits on the connections of one public address.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// Maximum number of open connections.
    pub most: usize,
    /// Maximum number of connections that wait for a request.
    pub idle: Waits,
    /// Time within which a request's head must arrive. A connection without a request is closed
    /// after the same time.
    pub head: Duration,
    /// Time after which a connection is closed if its caller does not read the data sent; `None`
    /// leaves that to the operating system.
    pub unread: Option<Duration>,
}

/// The remote address of a request's connection.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// Marks a response with a streamed body. Its connection accepts no further request, and does not
/// count as waiting for a request.
#[derive(Debug, Clone, Copy)]
pub struct Streamed;

#[derive(Debug)]
struct Door {
    app: Router,
    proxies: Proxies,
    limits: Connections,
    idle: Crowd,
}

/// Serves until `shutdown`, then finishes the requests in progress.
pub async fn serve(
    listener: TcpListener,
    app: Router,
    proxies: Proxies,
    limits: Connections,
    shutdown: CancellationToken,
) {
    let door = Arc::new(Door {
        app,
        proxies,
        limits,
        idle: Crowd::new(limits.idle),
    });
    let open = Arc::new(Semaphore::new(limits.most));
    let graceful = GracefulShutdown::new();
    while let Some(accepted) = shutdown.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok((stream, peer)) => {
                let Some(seat) = door.seat(&open).await else {
                    continue;
                };
                let (door, watcher) = (Arc::clone(&door), graceful.watcher());
                tokio::spawn(async move {
                    door.attend(stream, peer.ip(), watcher).await;
                    drop(seat);
                });
            }
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "accepting a connection failed"
                );
                sleep(ACCEPT_PAUSE).await;
            }
        }
    }
    drop(listener);
    // The timeout is needed because idle keep-alive connections would keep the worker from
    // stopping.
    timeout(DRAIN_TIMEOUT, graceful.shutdown()).await.ok();
}

/// One open connection.
struct Caller<'a> {
    door: &'a Door,
    peer: IpAddr,
    /// The caller's address; `None` for a trusted proxy.
    address: Option<IpAddr>,
    displaced: CancellationToken,
    waits: Mutex<Option<WaitingCaller>>,
}

impl Door {
    /// Returns a permit for one more connection. If all are in use, closes the connection that has
    /// waited longest for a request. If none waits for a request, returns `None`, and the new
    /// connection is closed.
    async fn seat(&self, open: &Arc<Semaphore>) -> Option<OwnedSemaphorePermit> {
        if let Ok(seat) = Arc::clone(open).try_acquire_owned() {
            return Some(seat);
        }
        let seat = if self.idle.make_room() {
            Arc::clone(open).acquire_owned().await.ok()
        } else {
            None
        };
        if seat.is_none() {
            metrics().connections_refused.inc();
        }
        seat
    }

    async fn attend(&self, stream: TcpStream, peer: IpAddr, watcher: Watcher) {
        stream.set_nodelay(true).ok();
        if self.limits.unread.is_some() {
            let socket = SockRef::from(&stream);
            socket.set_tcp_user_timeout(self.limits.unread).ok();
            // Limits the kernel memory that clients can occupy by not reading.
            socket.set_send_buffer_size(SEND_BUFFER_BYTES).ok();
        }
        let trusted = self.proxies.include(peer);
        let caller = Caller {
            door: self,
            peer,
            address: (!trusted).then_some(peer),
            displaced: CancellationToken::new(),
            waits: Mutex::default(),
        };
        caller.wait();
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(if trusted {
                PROXY_IDLE_TIMEOUT
            } else {
                self.limits.head
            })
            .max_buf_size(BUFFER_BYTES)
            .serve_connection(TokioIo::new(stream), service_fn(|call| caller.call(call)));
        // Ignores an error, because the caller causes it: it disconnected, or its head took too
        // long.
        let ended = caller
            .displaced
            .run_until_cancelled(watcher.watch(connection))
            .await;
        if ended.is_none() {
            metrics().connections_displaced.inc();
        }
    }
}

impl Caller<'_> {
    /// Marks the connection as waiting for a request.
    fn wait(&self) {
        *self.waits() = Some(self.door.idle.enter(self.address, self.displaced.clone()));
    }

    async fn call(&self, call: Request<Incoming>) -> Result<Response, Infallible> {
        self.waits().take();
        let mut call = call.map(Body::new);
        call.extensions_mut().insert(Peer(self.peer));
        let mut answer = self.door.app.clone().oneshot(call).await?;
        if answer.extensions().get::<Streamed>().is_some() {
            let close = HeaderValue::from_static("close");
            answer.headers_mut().insert(CONNECTION, close);
        } else {
            self.wait();
        }
        Ok(answer)
    }

    fn waits(&self) -> MutexGuard<'_, Option<WaitingCaller>> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
