//! Plays the browser of a member of staff with the role `host`. The browser has a session and posts
//! each form to the next console in turn.

use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use anyhow::{Context, Result};
use reqwest::{Client, StatusCode, redirect::Policy};
use seven_domain::{CasinoId, ConversationId, Language, Role};
use seven_runtime::Fleet;
use seven_staff::{
    Token,
    account::{self, Invitation},
    factor::Factor,
    login::{self, Entered, actor},
};
use seven_store::Store;
use url::form_urlencoded;

const EMAIL: &str = "dana@chaos.example";
const PASSWORD: &str = "four green boats";
/// Longest wait for the answer to a form; a console that was killed does not answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// A member of staff with the role `host`, logged in at every casino.
#[derive(Debug)]
pub(crate) struct Desk {
    http: Client,
    token: Token,
    /// Name of this person in the pages and in the audit log.
    pub(crate) actor: String,
    consoles: Vec<String>,
    calls: AtomicUsize,
}

/// Outcome of a posted form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Posted {
    Done,
    /// The form came from an outdated page, and nothing was stored.
    Outdated,
    /// It is unknown whether the form was stored.
    Unclear,
}

impl Desk {
    /// Creates the person's account and a session. The forms go to the consoles at these addresses
    /// in turn.
    pub(crate) async fn open(fleet: &Fleet, store: &Store, consoles: Vec<String>) -> Result<Self> {
        let id = fleet.ids.next();
        let invitation = Invitation {
            email: EMAIL.to_owned(),
            name: "Dana".to_owned(),
            language: Language::En,
            role: Role::Host,
            casino: None,
            ends_on: None,
        };
        let link = account::add(store, id, invitation, "seven chaos").await?;
        let (factor, now) = (Factor::draw(&mut rand::rng()), fleet.clock.now());
        let code = factor.code_at(u64::try_from(now.timestamp())?);
        let entered = Entered {
            password: Some(PASSWORD.into()),
            factor: Some((factor, code)),
        };
        login::use_link(store, &link, entered, true, now)
            .await
            .context("setting the host's account up")?;
        let token = Token::draw(&mut rand::rng());
        let mut tx = store.staff().await?;
        tx.put_session(&token.hash(), id, true).await?;
        tx.commit().await?;
        Ok(Self {
            http: Client::builder()
                .no_proxy()
                .redirect(Policy::none())
                .timeout(PATIENCE)
                .build()?,
            token,
            actor: actor(id),
            consoles,
            calls: AtomicUsize::new(0),
        })
    }

    /// Returns the URL of a page or form of the conversation. Each call takes the next console in
    /// turn.
    fn page(&self, casino: &CasinoId, conversation: ConversationId, form: &str) -> String {
        let n = self.calls.fetch_add(1, Ordering::Relaxed) % self.consoles.len();
        let console = &self.consoles[n];
        format!("{console}/c/{casino}/conversations/{conversation}{form}")
    }

    /// Returns the mark that the thread's page shows. A reply must send the mark back, so that the
    /// console can tell whether the page was outdated.
    pub(crate) async fn mark(
        &self,
        casino: &CasinoId,
        conversation: ConversationId,
    ) -> Result<String> {
        let call = self.http.get(self.page(casino, conversation, ""));
        let answer = call.header("cookie", self.cookie()).send().await?;
        let page = answer.error_for_status()?.text().await?;
        let mark = page.split("name=\"read\" value=\"").nth(1);
        let mark = mark.and_then(|rest| rest.split('"').next());
        Ok(mark.context("the thread's page has no mark")?.to_owned())
    }

    /// Posts one of the conversation's forms.
    pub(crate) async fn post(
        &self,
        (casino, conversation): (&CasinoId, ConversationId),
        form: &str,
        fields: &[(&str, &str)],
    ) -> Posted {
        let body = form_urlencoded::Serializer::new(String::new())
            .append_pair("forms", &self.token.for_forms())
            .extend_pairs(fields)
            .finish();
        let call = self
            .http
            .post(self.page(casino, conversation, form))
            .header("cookie", self.cookie())
            .header("sec-fetch-site", "same-origin")
            .header("content-type", "application/x-www-form-urlencoded")
            .body(body);
        match call.send().await.map(|answer| answer.status()) {
            Ok(StatusCode::SEE_OTHER) => Posted::Done,
            Ok(StatusCode::CONFLICT) => Posted::Outdated,
            Ok(_) | Err(_) => Posted::Unclear,
        }
    }

    fn cookie(&self) -> String {
        format!("seven-here={}", self.token.expose())
    }

    /// Returns the session's token, which no log may contain.
    pub(crate) fn secret(&self) -> String {
        self.token.expose()
    }
}
