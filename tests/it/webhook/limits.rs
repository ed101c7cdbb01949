//! What one ingress takes on at once, and how long a call may last: one that never ends takes a place for that long and no longer.

use std::time::Duration;

use seven::wiring::Worker;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::caller::{Answer, Caller};
use crate::harness::{GUEST, Wanted, house};

#[tokio::test] // DEP-3
async fn a_call_that_never_ends_gives_its_place_back() {
    let extra = "ingress.concurrency = 1\ningress.request_seconds = 2".to_owned();
    let workers = vec![Worker::IngressWebhook];
    let house = house("webhook_limits", Wanted { workers, extra, ..Wanted::default() }).await;
    let call = Caller::of(&house);
    let host = house.stack.ingress_url.trim_start_matches("http://");
    let mut slow = TcpStream::connect(host).await.unwrap();
    let head = format!("POST /webhooks/telnyx HTTP/1.1\r\nhost: {host}\r\ncontent-length: 100\r\n\r\nhalf a body");
    slow.write_all(head.as_bytes()).await.unwrap();
    tokio::time::sleep(Duration::from_millis(300)).await;

    // The only place is taken: the next call waits for it, and has it when the slow one's is over (half of what a call
    // may take), before its own is.
    let text = call.received("limits", GUEST, "Is the pool open?").to_string().into_bytes();
    let (second, health) = tokio::join!(call.post(&text), reqwest::get(format!("http://{host}/health/live")));
    assert_eq!(second, Answer::accepted());
    assert_eq!(health.unwrap().status(), 200, "health waits for no place");

    let mut answer = vec![0; 1024];
    let read = timeout(Duration::from_secs(10), slow.read(&mut answer)).await.expect("an answer in time").unwrap();
    let answer = String::from_utf8_lossy(&answer[..read]).into_owned();
    assert!(answer.starts_with("HTTP/1.1 408") && answer.contains("not received in time"), "{answer}");
    house.stop().await;
}
