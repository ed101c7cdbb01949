//! `seven operator`: the people who use the console (D26). Their accounts are read with the
//! console's database login.

use std::process::ExitCode;

use anyhow::{Context as _, Result, ensure};
use chrono::NaiveDate;
use clap::{ArgGroup, Args, Subcommand};
use seven_domain::{CasinoId, Clock, Language, LinkPurpose, OperatorId, Role};
use seven_settings::Settings;
use seven_staff::{
    Token,
    account::{self, Invitation},
    keys,
};
use seven_store::Store;

use super::{
    args::{By, Json},
    casino::verify,
    context::{self, Context, Operate},
    json_rows, known, minute,
};
use crate::{out, wiring};

#[derive(Debug, Subcommand)]
pub enum Operator {
    /// Add a person with one role, and print the link with which they set up their account.
    Add(Add),
    /// List the operators with their roles.
    List(Json),
    /// Give a person one more role, or take one away.
    Role(ChangeRole),
    /// Disable an account: its sessions and keys end at once, and the person cannot log in.
    Disable(Disable),
    /// Print a link for a new password or a new second factor, or forget an identity.
    Reset(Reset),
    /// Make, list or revoke keys with which programs answer tickets.
    #[command(subcommand)]
    Key(Key),
}

#[derive(Debug, Subcommand)]
pub enum Key {
    /// Make a key and print it; it is shown only this once. With the key, a program answers tickets
    /// in the operator's name, wherever the operator may do so.
    Add(AddKey),
    /// List the keys, when each ends and when it was last used.
    List(Json),
    /// End a key at once.
    Revoke(RevokeKey),
}

#[derive(Debug, Args)]
pub struct AddKey {
    /// The operator's e-mail address. Give each program an account of its own.
    email: String,
    /// The key's name in lists and in the audit log, such as crm.
    #[arg(long)]
    label: String,
    /// Number of days after which the key ends.
    #[arg(long, default_value_t = 90)]
    days: i32,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct RevokeKey {
    /// The key's label.
    label: String,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct Add {
    /// The person's e-mail address, with which they log in.
    email: String,
    /// The person's name, as colleagues see it.
    #[arg(long)]
    name: String,
    #[command(flatten)]
    grant: Grant,
    /// Language of the console's pages: en or es.
    #[arg(long, value_name = "LANGUAGE", default_value = "en")]
    language: Language,
    #[command(flatten)]
    by: By,
}

/// A role and the casinos for which it holds.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new("whose").required(true))]
pub struct Grant {
    /// The role: host, marketing, editor, approver, compliance, manager, admin or auditor.
    #[arg(long)]
    role: Role,
    /// The casino's id, as `seven casino list` shows it.
    #[arg(long, value_name = "ID", group = "whose")]
    casino: Option<CasinoId>,
    /// Apply to every casino, including those that are added later.
    #[arg(long, group = "whose")]
    all_casinos: bool,
    /// The role's last day, in UTC; an auditor's role needs one.
    #[arg(long, value_name = "DAY")]
    last_day: Option<NaiveDate>,
}

impl Grant {
    /// Refuses a last day in the past.
    fn check(&self) -> Result<()> {
        let today = Clock::default().now().date_naive();
        let is_over = self.last_day.is_some_and(|day| day < today);
        ensure!(
            !is_over,
            "--last-day is over; the earliest last day is {today}, today in UTC"
        );
        Ok(())
    }
}

#[derive(Debug, Args)]
pub struct ChangeRole {
    /// The person's e-mail address.
    email: String,
    #[command(flatten)]
    grant: Grant,
    /// Take the role away.
    #[arg(long)]
    remove: bool,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
pub struct Disable {
    /// The person's e-mail address.
    email: String,
    /// Enable the account again.
    #[arg(long)]
    undo: bool,
    #[command(flatten)]
    by: By,
}

#[derive(Debug, Args)]
#[command(group = ArgGroup::new("what").required(true))]
pub struct Reset {
    /// The person's e-mail address.
    email: String,
    /// Make a link for setting a new password.
    #[arg(long, group = "what")]
    password: bool,
    /// End the person's sessions and make a link for setting up a new second factor.
    #[arg(long, group = "what")]
    second_factor: bool,
    /// Make a new link for the invitation.
    #[arg(long, group = "what")]
    invitation: bool,
    /// Forget the identity at the casino's own login to which the account is bound, because the
    /// e-mail address now belongs to somebody else. The next login there binds the account again.
    #[arg(long, group = "what")]
    identity: bool,
    #[command(flatten)]
    by: By,
}

impl Operate for Operator {
    async fn run(self, ctx: &Context) -> Result<ExitCode> {
        context::log()?;
        let settings = ctx.settings()?;
        let store = verify::store(&settings, &wiring::console_login(&settings)?)?;
        match self {
            Self::Add(command) => add(&settings, &store, command).await?,
            Self::List(json) => list(ctx, &store, json).await?,
            Self::Role(command) => role(&store, command).await?,
            Self::Disable(command) => disable(&store, command).await?,
            Self::Reset(command) => reset(&settings, &store, command).await?,
            Self::Key(command) => key(ctx, &store, command).await?,
        }
        Ok(ExitCode::SUCCESS)
    }
}

async fn add(settings: &Settings, store: &Store, command: Add) -> Result<()> {
    command.grant.check()?;
    if let Some(casino) = &command.grant.casino {
        known(store, casino).await?;
    }
    let invitation = Invitation {
        email: command.email.clone(),
        name: command.name,
        language: command.language,
        role: command.grant.role,
        casino: command.grant.casino,
        ends_on: command.grant.last_day,
    };
    let id = OperatorId(uuid::Uuid::now_v7());
    let token = account::add(store, id, invitation, &command.by.by).await?;
    out!(
        "Added {}. The link is good for 72 hours and shown once; give it to the person:",
        command.email
    );
    out!("{}", address(settings, &token)?);
    Ok(())
}

async fn list(ctx: &Context, store: &Store, json: Json) -> Result<()> {
    let mut tx = store.staff().await?;
    let rows = tx.operators().await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&rows);
    }
    let columns = ["email", "name", "status", "second factor", "roles", "seen"];
    let mut table = ctx.table(columns).wide(["second factor", "seen"]);
    for row in rows {
        table.add_row([
            row.email,
            row.name,
            row.status.to_string(),
            if row.second_factor { "yes" } else { "no" }.to_owned(),
            row.roles.join(" "),
            row.last_seen_at.map(minute).unwrap_or_default(),
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn role(store: &Store, command: ChangeRole) -> Result<()> {
    command.grant.check()?;
    let Grant {
        role,
        casino,
        last_day,
        ..
    } = &command.grant;
    if let Some(casino) = casino {
        known(store, casino).await?;
    }
    let id = find(store, &command.email).await?;
    let (grant, on) = ((casino.as_ref(), *role), !command.remove);
    let by = &command.by.by;
    let done = match last_day.filter(|_| on) {
        Some(day) => account::give_role_until(store, id, grant, day, by).await?,
        None => account::set_role(store, id, grant, on, by).await?,
    };
    let whose = casino.as_ref().map_or("every casino", CasinoId::as_str);
    let email = &command.email;
    match (on, done) {
        (true, true) => {
            let end = last_day.map_or_else(String::new, |day| format!(", until the end of {day}"));
            out!("{email} is {role} for {whose} now{end}.");
        }
        (false, true) => out!("{email} is no longer {role} for {whose}."),
        (true, false) => out!("{email} was {role} for {whose} already."),
        (false, false) => anyhow::bail!(
            "{email} is not {role} for {whose}; `seven operator list` shows the roles"
        ),
    }
    Ok(())
}

async fn disable(store: &Store, command: Disable) -> Result<()> {
    let id = find(store, &command.email).await?;
    let done = account::set_disabled(store, id, !command.undo, &command.by.by).await?;
    let state = if command.undo { "enabled" } else { "disabled" };
    ensure!(done, "{} was {state} already", command.email);
    out!("{} is {state}.", command.email);
    Ok(())
}

async fn reset(settings: &Settings, store: &Store, command: Reset) -> Result<()> {
    let id = find(store, &command.email).await?;
    if command.identity {
        let done = account::forget_identity(store, id, &command.by.by).await?;
        let email = &command.email;
        ensure!(done, "{email} has logged in at no casino's own login yet");
        out!("{email} is bound to nobody now; the next login at the casino's own login decides.");
        return Ok(());
    }
    let (purpose, hours) = if command.password {
        (LinkPurpose::Password, 2)
    } else if command.second_factor {
        (LinkPurpose::SecondFactor, 2)
    } else {
        (LinkPurpose::Invitation, 72)
    };
    let token = account::reset(store, id, purpose, &command.by.by).await?;
    out!("The link is good for {hours} hours and shown once; give it to the person:");
    out!("{}", address(settings, &token)?);
    Ok(())
}

async fn key(ctx: &Context, store: &Store, command: Key) -> Result<()> {
    match command {
        Key::Add(AddKey {
            email,
            label,
            days,
            by,
        }) => {
            let id = find(store, &email).await?;
            let key = keys::add(store, id, (&label, days), &by.by).await?;
            out!(
                "The key is good for {days} days and shown once; give it to the program as a bearer token:"
            );
            out!("{}", key.expose());
            Ok(())
        }
        Key::List(json) => list_keys(ctx, store, json).await,
        Key::Revoke(RevokeKey { label, by }) => {
            let done = keys::revoke(store, &label, &by.by).await?;
            ensure!(
                done,
                "no key is called {label}; `seven operator key list` shows them"
            );
            out!("The key {label} is revoked.");
            Ok(())
        }
    }
}

async fn list_keys(ctx: &Context, store: &Store, json: Json) -> Result<()> {
    let mut tx = store.staff().await?;
    let rows = tx.keys().await?;
    tx.commit().await?;
    if json.json {
        return json_rows(&rows);
    }
    let mut table = ctx.table(["label", "operator", "ends", "used", "made by"]);
    for row in rows {
        table.add_row([
            row.label,
            row.email,
            minute(row.ends_at),
            row.used_at.map(minute).unwrap_or_default(),
            row.created_by,
        ]);
    }
    out!("{table}");
    Ok(())
}

async fn find(store: &Store, email: &str) -> Result<OperatorId> {
    let mut tx = store.staff().await?;
    let account = tx.account_by_email(&email.trim().to_lowercase()).await?;
    tx.commit().await?;
    let account = account.with_context(|| {
        format!("no operator has the address {email}; `seven operator list` shows them")
    })?;
    Ok(OperatorId(account.operator_id))
}

fn address(settings: &Settings, token: &Token) -> Result<url::Url> {
    let path = format!("link/{}", token.expose());
    let url = &settings.console.public_url;
    url.join(&path).context("reading console.public_url")
}
