//! The HTTP server of the models' double, whose connections can be cut.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU8, Ordering},
    },
    task::{Context as TaskContext, Poll},
};

use anyhow::{Context, Result};
use axum::{
    Router,
    body::Bytes,
    extract::{ConnectInfo, OriginalUri, State, connect_info::Connected},
    http::{HeaderMap, StatusCode, header::CONTENT_TYPE},
    response::{IntoResponse, Response},
    serve::{IncomingStream, Listener},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

use super::{openai, play::Fault, script::Script, wire};

/// Tells a connection how much of its next answer to write: `WHOLE`, `HALF_A_BODY` or `NOTHING`.
#[derive(Debug, Clone, Default)]
struct Scissors(Arc<AtomicU8>);

const WHOLE: u8 = 0;
const HALF_A_BODY: u8 = 1;
const NOTHING: u8 = 2;

struct Cuttable {
    stream: TcpStream,
    scissors: Scissors,
}

struct CuttableListener(TcpListener);

/// Counts a request as closed when this guard is dropped, which also happens if the client goes
/// away.
struct Open<'a>(&'a Script);

pub(super) async fn start(script: Arc<Script>) -> Result<(SocketAddr, JoinHandle<()>)> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
        .await
        .context("binding the models' double")?;
    let address = listener.local_addr().context("reading the double's port")?;
    let app = Router::new()
        .fallback(handle)
        .with_state(script)
        .into_make_service_with_connect_info::<Scissors>();
    let serving = tokio::spawn(async move {
        if let Err(error) = axum::serve(CuttableListener(listener), app).await {
            tracing::error!(%error, "the models' double ended");
        }
    });
    Ok((address, serving))
}

async fn handle(
    State(script): State<Arc<Script>>,
    ConnectInfo(scissors): ConnectInfo<Scissors>,
    OriginalUri(uri): OriginalUri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri
        .path_and_query()
        .map_or_else(String::new, ToString::to_string);
    let Ok(body) = serde_json::from_slice(&body) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(request) = wire::read(&path, key(&headers), body) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    script.opened();
    let _open = Open(&script);
    if let Some(status) = script.refuses(&request) {
        return respond(status, openai::refused_form().to_string());
    }
    let (nth, play) = script.next(&request);
    tokio::time::sleep(play.delay).await;
    if let Some(objection) = wire::objection(&request).filter(|_| script.takes_all()) {
        return respond(400, wire::problem(request.format, 400, &objection));
    }
    let (status, mut body) = wire::answer(&request, nth, &play);
    match play.fault {
        Fault::None => {}
        Fault::CutConnection => scissors.0.store(NOTHING, Ordering::Relaxed),
        Fault::CutBody => scissors.0.store(HALF_A_BODY, Ordering::Relaxed),
        Fault::TruncatedJson => {
            let middle = (body.len() / 2..)
                .find(|at| body.is_char_boundary(*at))
                .unwrap_or_default();
            body.truncate(middle);
        }
    }
    let mut response = respond(status, body);
    for (name, value) in &play.headers {
        if let Ok(value) = value.parse() {
            response.headers_mut().insert(*name, value);
        }
    }
    response
}

fn respond(status: u16, body: String) -> Response {
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(CONTENT_TYPE, "application/json")], body).into_response()
}

fn key(headers: &HeaderMap) -> Option<String> {
    let text = |name: &str| headers.get(name)?.to_str().ok();
    text("x-goog-api-key")
        .or_else(|| text("authorization")?.strip_prefix("Bearer "))
        .map(str::to_owned)
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.closed();
    }
}

// === impl CuttableListener ===

impl Listener for CuttableListener {
    type Io = Cuttable;
    type Addr = Scissors;

    async fn accept(&mut self) -> (Cuttable, Scissors) {
        let (stream, _) = Listener::accept(&mut self.0).await;
        let scissors = Scissors::default();
        (
            Cuttable {
                stream,
                scissors: scissors.clone(),
            },
            scissors,
        )
    }

    fn local_addr(&self) -> io::Result<Scissors> {
        Ok(Scissors::default())
    }
}

impl Connected<IncomingStream<'_, CuttableListener>> for Scissors {
    fn connect_info(stream: IncomingStream<'_, CuttableListener>) -> Self {
        stream.remote_addr().clone()
    }
}

// === impl Cuttable ===

impl AsyncRead for Cuttable {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut TaskContext<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        match self.scissors.0.load(Ordering::Relaxed) {
            WHOLE => Pin::new(&mut self.stream).poll_write(cx, buf),
            HALF_A_BODY => {
                let head = buf
                    .windows(4)
                    .position(|four| four == b"\r\n\r\n")
                    .map_or(0, |at| at + 4);
                let written = Pin::new(&mut self.stream)
                    .poll_write(cx, &buf[..head + (buf.len() - head) / 2]);
                if written.is_ready() {
                    self.scissors.0.store(NOTHING, Ordering::Relaxed);
                }
                written
            }
            _ => Poll::Ready(Err(io::ErrorKind::ConnectionReset.into())),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut TaskContext<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
