//! A TCP proxy whose connections can be cut and slowed. If it has several targets, it alternates
//! between them and skips those that do not listen.

use std::{
    io,
    net::SocketAddr,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{
        TcpListener, TcpStream,
        tcp::{OwnedReadHalf, OwnedWriteHalf},
    },
    sync::watch,
    task::JoinHandle,
};

#[derive(Debug, Clone, Copy, Default)]
struct Weather {
    /// Number of cuts so far; connections that were opened before the latest cut are closed.
    cuts: u64,
    slow: Duration,
}

#[derive(Debug)]
pub(crate) struct Proxy {
    pub(crate) addr: SocketAddr,
    weather: watch::Sender<Weather>,
    carried: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

impl Proxy {
    pub(crate) async fn start(targets: Vec<SocketAddr>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")
            .await
            .context("listening for a proxy")?;
        let addr = listener
            .local_addr()
            .context("reading the proxy's address")?;
        let weather = watch::Sender::new(Weather::default());
        let carried = Arc::new(AtomicUsize::new(0));
        let accepting = tokio::spawn(accept(listener, targets, weather.clone(), carried.clone()));
        Ok(Self {
            addr,
            weather,
            carried,
            accepting,
        })
    }

    /// Closes every open connection; new connections are accepted.
    pub(crate) fn cut(&self) {
        self.weather.send_modify(|w| w.cuts += 1);
    }

    /// Delays every chunk of data by this time from now on; zero ends the delay.
    pub(crate) fn slow(&self, by: Duration) {
        self.weather.send_modify(|w| w.slow = by);
    }

    /// Returns the number of connections carried so far.
    pub(crate) fn carried(&self) -> usize {
        self.carried.load(Ordering::Relaxed)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.cut();
        self.accepting.abort();
    }
}

async fn accept(
    listener: TcpListener,
    targets: Vec<SocketAddr>,
    weather: watch::Sender<Weather>,
    carried: Arc<AtomicUsize>,
) {
    loop {
        // An accept fails when the client has gone or too many files are open. Both conditions
        // pass, so the proxy tries again.
        let Ok((client, _)) = listener.accept().await else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let turn = carried.fetch_add(1, Ordering::Relaxed);
        let (targets, weather) = (targets.clone(), weather.subscribe());
        tokio::spawn(async move {
            if let Some(server) = reach(&targets, turn).await {
                carry(client, server, weather).await;
            }
        });
    }
}

/// Connects to the target whose turn it is, or to the next one that listens.
async fn reach(targets: &[SocketAddr], turn: usize) -> Option<TcpStream> {
    for n in 0..targets.len() {
        let target = targets[(turn + n) % targets.len()];
        if let Ok(Ok(stream)) =
            tokio::time::timeout(Duration::from_secs(1), TcpStream::connect(target)).await
        {
            return Some(stream);
        }
    }
    None
}

async fn carry(client: TcpStream, server: TcpStream, mut weather: watch::Receiver<Weather>) {
    // Sends small packets at once; a socket that refuses the option works without it.
    let _unbuffered = (client.set_nodelay(true), server.set_nodelay(true));
    let born = weather.borrow_and_update().cuts;
    let (from_client, to_client) = client.into_split();
    let (from_server, to_server) = server.into_split();
    let (up, down) = (weather.clone(), weather.clone());
    tokio::select! {
        // When one side ends, both are closed: half-open connections would be another kind of
        // fault.
        _ended = pump(from_client, to_server, up) => {}
        _ended = pump(from_server, to_client, down) => {}
        _cut = weather.wait_for(|w| w.cuts != born) => {}
    }
}

async fn pump(
    mut from: OwnedReadHalf,
    mut to: OwnedWriteHalf,
    weather: watch::Receiver<Weather>,
) -> io::Result<()> {
    let mut chunk = vec![0; 16 * 1024];
    loop {
        let n = from.read(&mut chunk).await?;
        if n == 0 {
            return to.shutdown().await;
        }
        let slow = weather.borrow().slow;
        if !slow.is_zero() {
            tokio::time::sleep(slow).await;
        }
        to.write_all(&chunk[..n]).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn echo() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let addr = listener.local_addr().unwrap();
        tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                tokio::spawn(async move {
                    let (mut from, mut to) = stream.split();
                    tokio::io::copy(&mut from, &mut to).await.ok();
                });
            }
        });
        addr
    }

    #[tokio::test]
    async fn carries_slows_cuts_and_passes_over_the_dead() {
        let dead = TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap()
            .local_addr()
            .unwrap();
        let proxy = Proxy::start(vec![dead, echo().await]).await.unwrap();
        let mut stream = TcpStream::connect(proxy.addr).await.unwrap();
        let mut said = [0; 5];
        stream.write_all(b"hello").await.unwrap();
        stream.read_exact(&mut said).await.unwrap();
        assert_eq!(&said, b"hello");

        proxy.slow(Duration::from_millis(60));
        let began = tokio::time::Instant::now();
        stream.write_all(b"hello").await.unwrap();
        stream.read_exact(&mut said).await.unwrap();
        assert!(
            began.elapsed() >= Duration::from_millis(120),
            "both ways wait"
        );

        proxy.cut();
        assert!(!matches!(stream.read(&mut said).await, Ok(n) if n > 0));
        assert_eq!(proxy.carried(), 1);
    }
}
