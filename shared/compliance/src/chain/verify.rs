//! Checks a stored chain and names every position that is invalid.

use serde::Serialize;
use serde_json::Value;

use super::{GENESIS, hash, seal_input};

/// An event as stored in the table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    pub position: i64,
    pub event: String,
    pub content_hash: String,
}

/// The sealed head as stored in its own table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    pub length: i64,
    pub head_hash: String,
    pub mac: Vec<u8>,
}

/// The result of checking a chain. An empty chain without a head is valid.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Report {
    pub valid: bool,
    pub chain_length: u64,
    pub broken_links: Vec<i64>,
    pub latest_hash: Option<String>,
    /// The result of comparing the head with the chain.
    pub head: HeadState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum HeadState {
    Holds,
    /// There are events but no head.
    Missing,
    /// The seal does not match the head: somebody without the key wrote it.
    Forged,
    /// The chain is shorter than the length in its head: events at the end are missing.
    Truncated,
    /// The chain's last event is not the one that the head names.
    Differs,
}

/// Checks the chain of one guest at one casino against its head. `chain` is ordered by position.
pub fn verify(
    casino_id: &str,
    guest_phone_hash: &str,
    chain: &[Stored],
    head: Option<&Head>,
    seal: impl Fn(&str) -> [u8; 32],
) -> Report {
    let mut broken_links = Vec::new();
    let mut previous = GENESIS;
    for (expected, stored) in (0_i64..).zip(chain) {
        if stored.position != expected || !holds(casino_id, guest_phone_hash, stored, previous) {
            broken_links.push(stored.position);
        }
        previous = &stored.content_hash;
    }
    let head = state_of(casino_id, guest_phone_hash, chain, head, seal);
    Report {
        valid: broken_links.is_empty() && head == HeadState::Holds,
        chain_length: chain.len() as u64,
        broken_links,
        latest_hash: chain.last().map(|last| last.content_hash.clone()),
        head,
    }
}

fn holds(casino_id: &str, guest: &str, stored: &Stored, previous: &str) -> bool {
    let Ok(event) = serde_json::from_str::<Value>(&stored.event) else {
        return false;
    };
    hash(&stored.event) == stored.content_hash
        && event["previous_hash"] == previous
        && event["chain_position"] == stored.position
        && event["casino_id"] == casino_id
        && event["guest_phone_hash"] == guest
}

fn state_of(
    casino_id: &str,
    guest: &str,
    chain: &[Stored],
    head: Option<&Head>,
    seal: impl Fn(&str) -> [u8; 32],
) -> HeadState {
    let (head, last) = match (head, chain.last()) {
        (None, None) => return HeadState::Holds,
        (None, Some(_)) => return HeadState::Missing,
        (Some(head), last) => (head, last),
    };
    let Ok(length) = u64::try_from(head.length) else {
        return HeadState::Forged;
    };
    if seal(&seal_input(casino_id, guest, length, &head.head_hash))[..] != head.mac[..] {
        return HeadState::Forged;
    }
    match last {
        _ if (chain.len() as u64) < length => HeadState::Truncated,
        Some(last) if chain.len() as u64 == length && last.content_hash == head.head_hash => {
            HeadState::Holds
        }
        _ => HeadState::Differs,
    }
}
