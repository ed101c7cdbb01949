//! A caller that sends its bytes as slowly as a test wants.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};

/// A connection to a worker from one loopback address.
pub(crate) struct Slow(TcpStream);

impl Slow {
    /// Connects from the address `from` to the worker at `url`.
    pub(crate) async fn open(url: &str, from: &str) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(format!("{from}:0").parse().unwrap()).unwrap();
        let host = url.trim_start_matches("http://");
        Self(socket.connect(host.parse().unwrap()).await.unwrap())
    }

    pub(crate) async fn say(&mut self, words: &str) {
        self.0.write_all(words.as_bytes()).await.unwrap();
    }

    /// Sends one byte after another, with a pause after each, until the connection is closed.
    /// Returns everything that the worker sent.
    pub(crate) async fn drip(&mut self, words: &str, pause: Duration) -> String {
        let (mut reads, mut writes) = self.0.split();
        let mut heard = Vec::new();
        let dripping = async {
            for byte in words.bytes() {
                if writes.write_all(&[byte]).await.is_err() {
                    break;
                }
                sleep(pause).await;
            }
            std::future::pending::<()>().await;
        };
        tokio::select! {
            _ = reads.read_to_end(&mut heard) => {}
            () = dripping => {}
        }
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// Returns everything that the worker sends until it closes the connection.
    pub(crate) async fn heard(&mut self) -> String {
        let mut heard = Vec::new();
        // A reset ends the connection like a close. It happens if the worker closes before it has
        // read all our bytes.
        self.0.read_to_end(&mut heard).await.ok();
        String::from_utf8_lossy(&heard).into_owned()
    }

    /// Returns whether the worker still waits for the rest of the call and has sent no answer.
    pub(crate) async fn is_waited_for(&mut self) -> bool {
        timeout(Duration::from_millis(300), self.heard())
            .await
            .is_err()
    }
}
