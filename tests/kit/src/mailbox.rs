//! A stand-in for a mail server, over real SMTP (RFC 5321): accepts mails, keeps them unchanged,
//! and on demand refuses a mail or drops its connection.
//!
//! ```no_run
//! # async fn demo() -> anyhow::Result<()> {
//! use seven_testkit::mailbox::{Fault, Mailbox};
//!
//! let mailbox = Mailbox::start().await?;
//! mailbox.fail(Fault::Reply("451 4.7.1 try again later"), 1);
//! // ... send to mailbox.url() ...
//! assert_eq!(mailbox.taken().len(), 1);
//! # Ok(())
//! # }
//! ```

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use anyhow::{Context, Result};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};

/// A fault that the server applies to one mail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The server answers the command that names the recipient (`RCPT`) with this line, such as
    /// `550 5.1.1 no such user`.
    Reply(&'static str),
    /// The server takes the whole mail and closes the connection without an answer.
    LostAnswer,
}

/// A mail that the server accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    pub from: String,
    pub to: Vec<String>,
    /// Headers and body as they were received; each line ends with `\n`.
    pub text: String,
}

#[derive(Debug, Default)]
struct Inbox {
    faults: VecDeque<Fault>,
    taken: Vec<Mail>,
}

type Shared = Arc<Mutex<Inbox>>;

/// A running double; dropping it stops it.
#[derive(Debug)]
pub struct Mailbox {
    address: SocketAddr,
    inbox: Shared,
    serving: JoinHandle<()>,
}

impl Mailbox {
    /// Starts listening on a free port of 127.0.0.1.
    pub async fn start() -> Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .context("binding the mail server's double")?;
        let address = listener.local_addr().context("reading the double's port")?;
        let inbox = Shared::default();
        let shared = Arc::clone(&inbox);
        let serving = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let inbox = Arc::clone(&shared);
                tokio::spawn(async move {
                    if let Err(error) = serve(stream, &inbox).await {
                        tracing::debug!(%error, "a mail connection ended");
                    }
                });
            }
        });
        Ok(Self {
            address,
            inbox,
            serving,
        })
    }

    /// Returns the URL for `notices.smtp_url`.
    #[must_use]
    pub fn url(&self) -> String {
        format!("smtp://{}", self.address)
    }

    /// Makes the next `times` mails fail, after the faults already queued.
    pub fn fail(&self, fault: Fault, times: usize) {
        let faults = std::iter::repeat_n(fault, times);
        lock(&self.inbox).faults.extend(faults);
    }

    /// Returns the accepted mails, oldest first.
    #[must_use]
    pub fn taken(&self) -> Vec<Mail> {
        lock(&self.inbox).taken.clone()
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

fn lock(inbox: &Shared) -> MutexGuard<'_, Inbox> {
    inbox.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn serve(stream: TcpStream, inbox: &Shared) -> Result<()> {
    let (read, mut write) = stream.into_split();
    let mut lines = BufReader::new(read).lines();
    let mut mail = Mail {
        from: String::new(),
        to: Vec::new(),
        text: String::new(),
    };
    write.write_all(b"220 double ESMTP\r\n").await?;
    while let Some(line) = lines.next_line().await? {
        let upper = line.to_ascii_uppercase();
        let answer = match upper.split([' ', ':']).next().unwrap_or_default() {
            "EHLO" | "HELO" => "250-double\r\n250 8BITMIME",
            "MAIL" => {
                mail.from = bracketed(&line);
                "250 ok"
            }
            "RCPT" => {
                let mut inbox = lock(inbox);
                if let Some(Fault::Reply(reply)) = inbox.faults.front().copied() {
                    inbox.faults.pop_front();
                    reply
                } else {
                    mail.to.push(bracketed(&line));
                    "250 ok"
                }
            }
            "DATA" => {
                write.write_all(b"354 go on\r\n").await?;
                while let Some(line) = lines.next_line().await? {
                    if line == "." {
                        break;
                    }
                    // A dot at the start of a line is doubled on the wire.
                    mail.text.push_str(line.strip_prefix('.').unwrap_or(&line));
                    mail.text.push('\n');
                }
                let mut inbox = lock(inbox);
                inbox.taken.push(mail.clone());
                mail.text.clear();
                if inbox.faults.front() == Some(&Fault::LostAnswer) {
                    inbox.faults.pop_front();
                    return Ok(());
                }
                "250 queued"
            }
            "RSET" | "NOOP" => "250 ok",
            "QUIT" => {
                write.write_all(b"221 bye\r\n").await?;
                return Ok(());
            }
            _ => "502 not here",
        };
        write.write_all(format!("{answer}\r\n").as_bytes()).await?;
    }
    Ok(())
}

/// Returns the address between the angle brackets.
fn bracketed(line: &str) -> String {
    let inner = line
        .split_once('<')
        .and_then(|(_, rest)| rest.split_once('>'));
    inner
        .map(|(address, _)| address.to_owned())
        .unwrap_or_default()
}
