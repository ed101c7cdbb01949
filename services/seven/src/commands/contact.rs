//! `seven contact`: the casino's own people who are told about its cases (D28).

use std::{io::Read as _, process::ExitCode};

use anyhow::{Context as _, Result, bail, ensure};
use chrono::NaiveTime;
use clap::{Args, Subcommand};
use secrecy::SecretString;
use seven_domain::{CaseSeverity, ContactChannel, ContactId, Invalid, Language};
use seven_runtime::Fleet;
use seven_staff::contacts::{self, Reach};
use seven_store::{
    contacts::{CodeTried, NewContact},
    prefix::Named,
};

use super::{
    args::{By, Casino, Json},
    context::{Context, Operate},
    given::words,
    id_prefix::IdPrefix,
    json_rows, known, minute,
};
use crate::{out, wiring};

/// Maximum length of an address that is read, in bytes.
const MOST_ADDRESS_BYTES: u64 = 2_048;

#[derive(Debug, Subcommand)]
pub enum Contact {
    /// Add a chat webhook, a mailbox or a phone that is told about the casino's cases.
    ///
    /// A phone gets a code by text. It is told about cases only after the code was entered with
    /// `seven contact verify`.
    Add(Box<Add>),
    /// List the contacts, in the order in which they are told.
    List(List),
    /// Send a test notice to a contact; the go-live check requires that one has arrived.
    Test(Test),
    /// Enter the code that a phone was sent, or have another one sent.
    Verify(Verify),
    /// Remove a contact: it gets no more notices, and its links are dead.
    Remove(Remove),
}

#[derive(Debug, Args)]
pub struct Add {
    /// The webhook's URL, the mail address or the phone's number; - reads it from standard input,
    /// so that it stays out of the shell's history.
    address: String,
    #[command(flatten)]
    of: Casino,
    /// The channel: chat (an incoming webhook as Slack defines it), mail or text.
    #[arg(long)]
    channel: ContactChannel,
    /// The contact's name, as colleagues see it.
    #[arg(long, value_parser = words)]
    name: String,
    /// Language of the notices: en or es.
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: Language,
    /// Tell cases of this severity and graver ones. Sev0 is the gravest; sev3 cases have no
    /// deadline.
    #[arg(long, value_name = "SEVERITY", default_value = "sev2")]
    severity: CaseSeverity,
    /// When to tell: 1 at once, 2 and 3 when nobody acknowledged the case in time.
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(i32).range(1..=3))]
    level: i32,
    /// Tell about every danger to life at once, whatever the level and the hour.
    #[arg(long)]
    security: bool,
    /// Quote the guest's texts in the notices, and what is known about the guest.
    #[arg(long)]
    words: bool,
    /// Send the casino's figures each Monday, by chat or mail.
    #[arg(long)]
    weekly: bool,
    /// Tell about refused content and, each Monday, about questions that the content cannot answer,
    /// by chat or mail.
    #[arg(long)]
    content: bool,
    /// Tell when guests wait because a part of the fleet does not work, by chat or mail.
    #[arg(long)]
    outages: bool,
    /// The casino's local hours in which only sev0 cases are told, such as 22:00-07:00.
    #[arg(long, value_name = "HOURS")]
    quiet: Option<Hours>,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct List {
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    json: Json,
}

#[derive(Debug, Args)]
pub struct Test {
    /// The contact's id, as `seven contact list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
}

#[derive(Debug, Args)]
pub struct Verify {
    /// The contact's id, as `seven contact list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    /// The code from the phone's text. Without it, another code is sent.
    #[arg(long)]
    code: Option<String>,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct Remove {
    /// The contact's id, as `seven contact list` shows it; a unique prefix is enough.
    id: IdPrefix,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    by: By,
}

/// Two local times, such as `22:00-07:00`.
#[derive(Debug, Clone, Copy)]
pub struct Hours(NaiveTime, NaiveTime);

impl std::str::FromStr for Hours {
    type Err = Invalid;
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let read = |time: &str| NaiveTime::parse_from_str(time.trim(), "%H:%M").ok();
        let both = text.split_once('-');
        both.and_then(|(from, to)| Some((read(from)?, read(to)?)))
            .filter(|(from, to)| from != to)
            .map(|(from, to)| Self(from, to))
            .ok_or_else(|| Invalid::new("hours", text, "two different times, such as 22:00-07:00"))
    }
}

impl Operate for Contact {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        let fleet = ctx.fleet().await?;
        match self {
            Self::Add(command) => add(ctx, fleet, *command).await?,
            Self::List(command) => list(ctx, fleet, command).await?,
            Self::Test(command) => test(ctx, fleet, command).await?,
            Self::Verify(command) => verify(fleet, command).await?,
            Self::Remove(command) => remove(fleet, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn add(ctx: &Context, fleet: &Fleet, command: Add) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let settings = ctx.settings()?;
    let address = read_address(command.address)?;
    let new = NewContact {
        contact_id: fleet.ids.next::<ContactId>(),
        name: command.name,
        channel: command.channel,
        address,
        language: command.language,
        severity: command.severity,
        level: command.level,
        security: command.security,
        words: command.words,
        weekly: command.weekly,
        content: command.content,
        outages: command.outages,
        quiet: command.quiet.map(|Hours(from, to)| (from, to)),
    };
    let reach = Reach {
        local: settings.notices.local,
        mail: settings.notices.smtp_url.is_some(),
    };
    contacts::add(fleet, casino, &new, reach, &command.by.by).await?;
    if new.channel == ContactChannel::Text {
        out!(
            "Added {} as {}, and sent the phone a code. Enter it: seven contact verify {} --code \
             CODE --casino {casino}",
            new.name,
            new.contact_id,
            new.contact_id
        );
        return Ok(());
    }
    out!(
        "Added {} as {}. Now try it: seven contact test {} --casino {casino}",
        new.name,
        new.contact_id,
        new.contact_id
    );
    Ok(())
}

fn read_address(given: String) -> Result<SecretString> {
    if given != "-" {
        return Ok(given.into());
    }
    let mut text = String::new();
    std::io::stdin()
        .take(MOST_ADDRESS_BYTES)
        .read_to_string(&mut text)
        .context("reading the address from standard input")?;
    let text = text.trim();
    ensure!(!text.is_empty(), "standard input has no address");
    Ok(text.to_owned().into())
}

async fn list(ctx: &Context, fleet: &Fleet, command: List) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let rows = tx.contacts().await?;
    tx.commit().await?;
    if command.json.json {
        return json_rows(&rows);
    }
    let columns = [
        "contact", "name", "channel", "level", "tells", "security", "words", "weekly", "content",
        "outages", "quiet", "reached",
    ];
    let mut table = ctx
        .table(columns)
        .ids(["contact"])
        .wide(["words", "weekly", "content", "outages", "quiet"]);
    let yes = |is: bool| if is { "yes" } else { "no" }.to_owned();
    for row in rows {
        let quiet = row.quiet_from.zip(row.quiet_to);
        table.add_row([
            row.contact_id.to_string(),
            row.name,
            row.channel.to_string(),
            row.level.to_string(),
            format!("{} and up", row.severity),
            yes(row.security),
            yes(row.words),
            yes(row.weekly),
            yes(row.content),
            yes(row.outages),
            quiet
                .map(|(from, to)| format!("{}-{}", from.format("%H:%M"), to.format("%H:%M")))
                .unwrap_or_default(),
            match row.reached_at {
                Some(at) => minute(at),
                None if row.channel == ContactChannel::Text => "code missing".to_owned(),
                None => "never".to_owned(),
            },
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn test(ctx: &Context, fleet: &Fleet, command: Test) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let id = command.id.find(&mut tx, Named::Contact).await?;
    let contact = tx.contact(id).await?;
    let row = tx.casino_row().await?;
    tx.commit().await?;
    let (Some(contact), Some(row)) = (contact, row) else {
        bail!("{casino} has no contact {id}; `seven contact list --casino {casino}` shows them");
    };
    ensure!(
        contact.channel != ContactChannel::Text,
        "a phone is tried by its code: seven contact verify {id} --casino {casino}"
    );
    let senders = wiring::senders(&ctx.settings()?)?;
    let name = &row.config.prompts.casino_name_display;
    let told = senders
        .test(contact.channel, &contact.address, contact.language, name)
        .await;
    let answer =
        told.map_err(|untold| anyhow::anyhow!("{} was not reached: {}", contact.name, untold.why))?;
    let mut tx = fleet.store.bind(casino).await?;
    tx.reached_contact(id).await?;
    tx.commit().await?;
    out!("{} took the test notice: {answer}", contact.name);
    Ok(())
}

async fn verify(fleet: &Fleet, command: Verify) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let id = command.id.find(&mut tx, Named::Contact).await?;
    tx.commit().await?;
    let Some(code) = command.code else {
        contacts::renew_code(fleet, casino, id).await?;
        out!("Sent the phone another code.");
        return Ok(());
    };
    match contacts::verify(fleet, casino, id, &code, &command.by.by).await? {
        CodeTried::Verified => out!("Verified: the phone is told about cases from now on."),
        CodeTried::Wrong => bail!("that is not the code in the phone's newest text"),
        CodeTried::Dead => bail!(
            "the code has expired or was tried too often; `seven contact verify {id} --casino \
             {casino}` sends another one"
        ),
    }
    Ok(())
}

async fn remove(fleet: &Fleet, command: Remove) -> Result<()> {
    let casino = &command.of.casino;
    known(&fleet.store, casino).await?;
    let mut tx = fleet.store.bind(casino).await?;
    let id = command.id.find(&mut tx, Named::Contact).await?;
    let done = tx.end_contact(id, &command.by.by).await?;
    tx.commit().await?;
    ensure!(
        done,
        "{casino} has no contact {id}; `seven contact list --casino {casino}` shows them"
    );
    out!("Contact {id} is removed.");
    Ok(())
}
