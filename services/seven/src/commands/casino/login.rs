//! `seven casino login`: a database login that the database itself limits to one casino.

use anyhow::{Context as _, Result, anyhow, ensure};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use clap::Args;
use hmac::{Hmac, KeyInit, Mac};
use secrecy::ExposeSecret;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use seven_store::{audit::Entry, isolation, logins};
use sha2::{Digest, Sha256};
use url::Url;

use super::verify::store;
use crate::{
    commands::context::{self, Context},
    out,
};

#[derive(Debug, Args)]
pub struct Login {
    /// The casino's id.
    casino: CasinoId,
    /// Remove the login and end its connections.
    #[arg(long)]
    remove: bool,
    /// Print only the connection URL, for a secret store.
    #[arg(long, conflicts_with = "remove")]
    quiet: bool,
}

pub(super) async fn login(ctx: &Context, command: &Login) -> Result<()> {
    context::log()?;
    let settings = ctx.settings()?;
    let owner = settings.postgres.owner_url.as_ref().context(
        "setting postgres.owner_url is missing; logins are made with the owner's connection",
    )?;
    let casino = &command.casino;
    let app = store(&settings, &settings.postgres.url)?;
    let known = app
        .roster()
        .await?
        .iter()
        .any(|entry| entry.casino == *casino);
    let name = isolation::Login::name_of(casino);
    if command.remove {
        ensure!(
            logins::drop_login(owner, casino).await?,
            "{casino} has no login of its own"
        );
        audit(
            &app,
            casino,
            AuditEvent::CasinoChanged,
            json!({ "login": name, "removed": true }),
        )
        .await?;
        out!("Removed {name}; workers that used it need another login.");
        return Ok(());
    }
    ensure!(known, "no casino {casino}; `seven casino list` shows them");
    let password = hex::encode(rand::random::<[u8; 24]>());
    let made = logins::put_login(owner, casino, &verifier(&password, rand::random())).await?;
    let event = if made == logins::Made::New {
        AuditEvent::CasinoChanged
    } else {
        AuditEvent::SecretRotated
    };
    audit(&app, casino, event, json!({ "login": name })).await?;
    let address = address(settings.postgres.url.expose_secret(), &name, &password)?;
    if command.quiet {
        out!("{address}");
        return Ok(());
    }
    match made {
        logins::Made::New => {
            out!("Made {name}. The database lets it bind {casino} and no other casino.");
        }
        logins::Made::Changed => {
            out!("{name} has a new password. Open connections stay; new ones need it.");
        }
    }
    out!(
        "The URL is shown once. Store it as a secret and give it to this casino's workers as \
         SEVEN_POSTGRES__URL:"
    );
    out!("{address}");
    out!(
        "Then: seven run compliance-gate --casino {casino} (and the other stages; the scheduler \
         serves all casinos and keeps its own login)"
    );
    out!("Check: SEVEN_POSTGRES__URL=... seven casino verify {casino}");
    Ok(())
}

async fn audit(
    store: &seven_store::Store,
    casino: &CasinoId,
    event: AuditEvent,
    detail: serde_json::Value,
) -> Result<()> {
    let mut tx = store.bind(casino).await?;
    tx.audit(&Entry::of(
        event,
        "seven casino login",
        casino.as_str(),
        detail,
    ))
    .await?;
    Ok(tx.commit().await?)
}

fn address(workers: &str, name: &str, password: &str) -> Result<Url> {
    let mut url = Url::parse(workers).context("reading postgres.url")?;
    let set = url
        .set_username(name)
        .and_then(|()| url.set_password(Some(password)));
    set.map_err(|()| anyhow!("postgres.url takes no user"))?;
    Ok(url)
}

/// Computes the verifier that Postgres stores for a password (RFC 5802, 7677). The verifier is sent
/// instead of the password, so that the password never appears in the log of the database server.
fn verifier(password: &str, salt: [u8; 16]) -> String {
    const ROUNDS: u32 = 4096;
    let mut block = mac(
        password.as_bytes(),
        &[&salt[..], &1u32.to_be_bytes()].concat(),
    );
    let mut salted = block;
    for _ in 1..ROUNDS {
        block = mac(password.as_bytes(), &block);
        salted
            .iter_mut()
            .zip(block)
            .for_each(|(sum, byte)| *sum ^= byte);
    }
    let stored = Sha256::digest(mac(&salted, b"Client Key"));
    let server = mac(&salted, b"Server Key");
    format!(
        "SCRAM-SHA-256${ROUNDS}:{}${}:{}",
        STANDARD.encode(salt),
        STANDARD.encode(stored),
        STANDARD.encode(server)
    )
}

fn mac(key: &[u8], data: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes a key of any length");
    mac.update(data);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // RFC 7677, section 3
    fn the_verifier_is_that_of_the_standards_example() {
        let salt = STANDARD
            .decode("W22ZaJ0SNY7soEsUEjb6gQ==")
            .unwrap()
            .try_into()
            .unwrap();
        assert_eq!(
            verifier("pencil", salt),
            "SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU="
        );
    }

    #[test]
    fn the_address_is_the_workers_with_the_casinos_login() {
        let url = address(
            "postgres://seven_app:old@db.example:5432/seven?sslmode=verify-full",
            "seven_casino_a_b",
            "p",
        )
        .unwrap();
        assert_eq!(
            url.as_str(),
            "postgres://seven_casino_a_b:p@db.example:5432/seven?sslmode=verify-full"
        );
    }
}
