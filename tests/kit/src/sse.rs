//! Reads server-sent events as their bytes arrive (WHATWG HTML, "Server-sent events"), as far as the
//! web gateway writes them: one line of data, and an event name.

use serde_json::Value;

/// One event of a stream.
#[derive(Debug, Clone, PartialEq)]
pub struct Frame {
    /// The place at which a stream resumes after this frame, for `Last-Event-ID`.
    pub id: Option<String>,
    pub event: String,
    pub data: Value,
}

/// Bytes of a stream that do not make a whole frame yet.
#[derive(Debug, Default)]
pub struct Unread(Vec<u8>);

impl Unread {
    pub fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Takes the next whole frame. Comments and `retry` lines are skipped.
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
