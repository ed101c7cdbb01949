//! The limit of 64 KiB for a body whose length is announced, for a body in chunks, and for a body
//! that never ends.

use std::time::Duration;

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

use super::{
    all_published,
    caller::{Answer, Caller, SIGNATURE, TIMESTAMP},
    front,
};
use crate::harness::{House, house};

const LIMIT: usize = 64 * 1024;

fn too_large() -> Answer {
    Answer::error(413, "Body larger than 65536 bytes")
}

/// Sends the signed body in chunks. `ended` says whether the empty chunk that ends a body follows.
/// The server may close the connection before it has read everything.
async fn chunked(house: &House, call: &Caller, body: &[u8], ended: bool) -> Answer {
    let at = call.now().to_string();
    let signature = call.sign(&at, body);
    let host = house.stack.ingress_url.trim_start_matches("http://");
    let (mut read, mut write) = TcpStream::connect(host).await.unwrap().into_split();
    let head = format!(
        "POST /webhooks/telnyx HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\ntransfer-encoding: chunked\r\n{TIMESTAMP}: {at}\r\n{SIGNATURE}: {signature}\r\n\r\n"
    );
    let mut wire = head.into_bytes();
    for chunk in body.chunks(16 * 1024) {
        wire.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        wire.extend_from_slice(chunk);
        wire.extend_from_slice(b"\r\n");
    }
    if ended {
        wire.extend_from_slice(b"0\r\n\r\n");
    }
    let (mut answer, mut buffer) = (Vec::new(), [0; 4096]);
    let reading = async {
        while let Ok(n @ 1..) = read.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..n]);
            if let Some(parsed) = parse(&answer) {
                return parsed;
            }
        }
        panic!("no whole answer: {}", String::from_utf8_lossy(&answer));
    };
    let (_, parsed) = tokio::join!(
        write.write_all(&wire),
        timeout(Duration::from_secs(5), reading)
    );
    parsed.expect("an answer in time")
}

fn parse(answer: &[u8]) -> Option<Answer> {
    let text = std::str::from_utf8(answer).ok()?;
    let (head, body) = text.split_once("\r\n\r\n")?;
    let code = head.split_whitespace().nth(1)?.parse().ok()?;
    Some(Answer::of(code, serde_json::from_str(body).ok()?))
}

#[tokio::test] // SMS-2
async fn a_megabyte_is_refused_before_it_is_read() {
    let house = house("webhook_sizes", front()).await;
    let call = Caller::of(&house);
    let megabyte: Vec<u8> = (0..1 << 20)
        .map(|n: u32| n.wrapping_mul(2_654_435_761).to_be_bytes()[0])
        .collect();
    assert_eq!(
        call.post(&megabyte).await,
        too_large(),
        "signed, with Content-Length"
    );
    let unsigned = call.post_with(&call.url, &[], &megabyte).await;
    let refused = Answer {
        code: 401,
        body: serde_json::json!({ "error": "Missing signature headers" }),
    };
    assert_eq!(unsigned, refused, "its signature is missed before its size");
    assert_eq!(
        chunked(&house, &call, &megabyte, true).await,
        too_large(),
        "signed, in chunks"
    );
    assert_eq!(
        chunked(&house, &call, &megabyte, false).await,
        too_large(),
        "in chunks without an end"
    );
    assert_eq!(
        call.post(&megabyte[..=LIMIT]).await,
        too_large(),
        "one byte too many"
    );
    assert_eq!(
        chunked(&house, &call, &megabyte[..=LIMIT], true).await,
        too_large(),
        "one byte too many in chunks"
    );
    assert_eq!(all_published(&house).await, [0, 0, 0]);
    // A body of the limit's size is read. It becomes a dead letter, since it is not an event.
    assert_eq!(
        call.post(&megabyte[..LIMIT]).await,
        Answer::dead("unreadable")
    );
    assert_eq!(
        chunked(&house, &call, &megabyte[..LIMIT], true).await,
        Answer::dead("unreadable")
    );
    assert_eq!(all_published(&house).await, [0, 0, 2]);
    house.stop().await;
}
