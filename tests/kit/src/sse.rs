//! Reads server-sent events as their bytes arrive (WHATWG HTML, "Server-sent events"). It supports
//! only what the web gateway writes: events with a name and one line of data.

use serde_json::Value;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// Value of `Last-Event-ID` with which a stream resumes after this frame; `None` if the frame
    /// has no id.
    pub id: Option<String>,
    pub event: String,
    pub data: Value,
}

/// Received bytes of a stream that were not yet returned as frames.
#[derive(Debug, Default)]
pub struct Unread(Vec<u8>);

impl Unread {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Removes the next whole frame and returns it, or `None` until one has arrived. Comments and
    /// `retry` lines are skipped.
    pub fn frame(&mut self) -> Option<Frame> {
        loop {
            let end = self.0.windows(2).position(|two| two == b"\n\n")?;
            let frame: Vec<u8> = self.0.drain(..end + 2).collect();
            if let Some(frame) = read(&String::from_utf8_lossy(&frame)) {
                return Some(frame);
            }
        }
    }
}

fn read(frame: &str) -> Option<Frame> {
    let field = |name: &str| frame.lines().find_map(|line| line.strip_prefix(name));
    Some(Frame {
        id: field("id: ").map(str::to_owned),
        event: field("event: ")?.to_owned(),
        data: serde_json::from_str(field("data: ")?).ok()?,
    })
}
