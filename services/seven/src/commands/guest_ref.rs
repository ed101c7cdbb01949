//! How a command names a guest: by phone, guest id or keyed hash, or with `-` for a phone on stdin.
//! A phone on stdin does not appear in the process list.

use std::{io::IsTerminal, str::FromStr};

use anyhow::{Context, Result};
use seven_domain::{CasinoId, GuestHash, GuestId, Invalid, PhoneE164};
use seven_runtime::Fleet;

#[derive(Debug, Clone)]
pub enum GuestRef {
    Phone(PhoneE164),
    Id(GuestId),
    Hash(GuestHash),
    Stdin,
}

/// A phone, or `-` for one on stdin.
#[derive(Debug, Clone)]
pub struct PhoneRef(Option<PhoneE164>);

impl FromStr for PhoneRef {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "-" {
            Ok(Self(None))
        } else {
            text.parse().map(|phone| Self(Some(phone)))
        }
    }
}

impl PhoneRef {
    pub(super) fn read(self) -> Result<PhoneE164> {
        self.0.map_or_else(phone_on_stdin, Ok)
    }
}

impl FromStr for GuestRef {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        if text == "-" {
            return Ok(Self::Stdin);
        }
        if let Some(hash) = GuestHash::from_tag(text) {
            return Ok(Self::Hash(hash));
        }
        let phone = text.parse().map(Self::Phone);
        phone
            .or_else(|_: Invalid| text.parse().map(Self::Id))
            .map_err(|_: Invalid| {
                Invalid::new(
                    "guest",
                    "unreadable",
                    "a phone (+18605550142), a guest id, hmac:<key>:<hex>, or - for a phone on stdin",
                )
            })
    }
}

impl GuestRef {
    /// If the argument is `-`, reads the phone from stdin now. A command that visits several
    /// casinos can then use it for each of them.
    pub fn read(self) -> Result<Self> {
        match self {
            Self::Stdin => phone_on_stdin().map(Self::Phone),
            other => Ok(other),
        }
    }

    /// Returns the keyed hash under which the guest's rows are stored. The guest need not have a
    /// row.
    pub async fn hash(&self, fleet: &Fleet, casino: &CasinoId) -> Result<GuestHash> {
        match self {
            Self::Hash(hash) => Ok(*hash),
            Self::Phone(phone) => Ok(fleet.keys.hash(casino, phone)),
            Self::Stdin => Ok(fleet.keys.hash(casino, &phone_on_stdin()?)),
            Self::Id(id) => {
                let mut tx = fleet.store.bind(casino).await?;
                let hash = tx.hash_of(*id).await?;
                tx.commit().await?;
                hash.with_context(|| format!("{casino} has no guest {id}"))
            }
        }
    }
}

/// Reads a phone from stdin. On a terminal, prompts for the phone and does not show what is typed.
fn phone_on_stdin() -> Result<PhoneE164> {
    let mut line = String::new();
    let terminal = console::Term::stderr();
    if std::io::stdin().is_terminal() && terminal.is_term() {
        terminal
            .write_str("Phone of the guest (not shown): ")
            .context("asking for the phone")?;
        line = terminal
            .read_secure_line()
            .context("reading the guest's phone")?;
    } else {
        std::io::stdin()
            .read_line(&mut line)
            .context("reading the guest's phone from stdin")?;
    }
    Ok(line.trim().parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_is_read() {
        assert!(matches!("+18605550142".parse(), Ok(GuestRef::Phone(_))));
        assert!(matches!("-".parse(), Ok(GuestRef::Stdin)));
        assert!(matches!(
            "01931234-5678-7abc-8def-0123456789ab".parse(),
            Ok(GuestRef::Id(_))
        ));
        let hash = format!("hmac:1:{}", "ab".repeat(32));
        assert!(matches!(hash.parse(), Ok(GuestRef::Hash(h)) if h.tag() == hash));
        assert!("8605550142".parse::<GuestRef>().is_err());
        assert!("hmac:1:abcd".parse::<GuestRef>().is_err());
    }
}
