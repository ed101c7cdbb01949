//! The channels to contacts. One call makes one attempt; its error states the reason and whether a
//! retry may help.

use std::time::Duration;

use lettre::{
    AsyncSmtpTransport, AsyncTransport, Message, Tokio1Executor,
    message::{Mailbox, header::ContentType},
};
use reqwest::{Client, redirect::Policy};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use seven_alerts::{Again, Untold, channels::post};
use seven_domain::{ContactChannel, Language};
use uuid::Uuid;

use crate::{
    CaseMessage, Words,
    address::{PublicOnly, public_url},
    message::escaped,
};

/// The mail server and the sender's address.
#[derive(Debug, Clone)]
pub struct Mail {
    /// `smtps://user:password@host`, or `smtp://host:587?tls=required`.
    pub url: SecretString,
    /// The sender, such as `Hey Seven <notices@example.com>`.
    pub from: String,
}

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("notices.smtp_url is no address of a mail server")]
    SmtpUrl,
    #[error("notices.mail_from is no mail address")]
    MailFrom,
    #[error("building the HTTP client")]
    Client(#[from] reqwest::Error),
}

/// Sends notices by chat and mail.
#[derive(Clone)]
pub struct Senders {
    http: Client,
    smtp: Option<(AsyncSmtpTransport<Tokio1Executor>, Mailbox)>,
    local: bool,
}

impl std::fmt::Debug for Senders {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Senders").finish_non_exhaustive()
    }
}

impl Senders {
    /// Prepares the channels. `local` permits webhooks on this machine, for development;
    /// `deadline` is the timeout of one attempt.
    ///
    /// # Errors
    /// Fails if an address cannot be read or TLS cannot be set up.
    pub fn new(mail: Option<&Mail>, local: bool, deadline: Duration) -> Result<Self, Error> {
        let mut http = Client::builder()
            .timeout(deadline)
            .connect_timeout(deadline.min(Duration::from_secs(3)))
            .redirect(Policy::none());
        if !local {
            http = http.dns_resolver(PublicOnly);
        }
        let smtp = match mail {
            None => None,
            Some(mail) => {
                let url = mail.url.expose_secret();
                let server = AsyncSmtpTransport::<Tokio1Executor>::from_url(url)
                    .map_err(|_| Error::SmtpUrl)?
                    .timeout(Some(deadline))
                    .build();
                Some((server, mail.from.parse().map_err(|_| Error::MailFrom)?))
            }
        };
        Ok(Self {
            http: http.build()?,
            smtp,
            local,
        })
    }

    /// Sends one notice to a contact. `notice` is the notice's id, from which a mail's Message-ID
    /// is made. If a mail is sent again after a lost answer, it has the same Message-ID.
    ///
    /// # Errors
    /// Fails when the channel did not accept the notice.
    pub async fn tell(
        &self,
        channel: ContactChannel,
        address: &SecretString,
        notice: Uuid,
        message: &CaseMessage,
    ) -> Result<String, Untold> {
        match channel {
            ContactChannel::Chat => self.chat(address, &message.chat()).await,
            ContactChannel::Mail => {
                let (subject, body) = (message.subject(), message.mail());
                self.mail(address, notice, subject, body).await
            }
            ContactChannel::Text => Err(by_text()),
        }
    }

    /// Sends a test notice, which only shows that the channel works.
    ///
    /// # Errors
    /// Fails when the channel did not accept the test notice.
    pub async fn test(
        &self,
        channel: ContactChannel,
        address: &SecretString,
        language: Language,
        casino: &str,
    ) -> Result<String, Untold> {
        let w = Words(language);
        let subject = format!("{casino}: {}", w.t("test_subject"));
        let text = format!("{subject}\n{}", w.t("test_text"));
        self.say(channel, address, Uuid::now_v7(), &subject, &text)
            .await
    }

    /// Sends a plain message by chat or mail. A mail's Message-ID is made from `id`.
    ///
    /// # Errors
    /// Fails when the channel did not accept the message.
    pub async fn say(
        &self,
        channel: ContactChannel,
        address: &SecretString,
        id: Uuid,
        subject: &str,
        text: &str,
    ) -> Result<String, Untold> {
        match channel {
            ContactChannel::Chat => self.chat(address, &json!({ "text": escaped(text) })).await,
            ContactChannel::Mail => {
                self.mail(address, id, subject.to_owned(), text.to_owned())
                    .await
            }
            ContactChannel::Text => Err(by_text()),
        }
    }

    async fn chat(&self, address: &SecretString, body: &Value) -> Result<String, Untold> {
        let url = public_url(address.expose_secret(), self.local)
            .map_err(|bad| never(bad.to_string()))?;
        post(self.http.post(url).json(body)).await
    }

    async fn mail(
        &self,
        address: &SecretString,
        notice: Uuid,
        subject: String,
        body: String,
    ) -> Result<String, Untold> {
        let Some((server, from)) = &self.smtp else {
            return Err(never(
                "no mail server: set notices.smtp_url and mail_from".to_owned(),
            ));
        };
        let to = address
            .expose_secret()
            .parse()
            .map_err(|_| never("the contact's address is no mail address".to_owned()))?;
        let message = Message::builder()
            .from(from.clone())
            .to(Mailbox::new(None, to))
            .subject(subject)
            .message_id(Some(format!("<{notice}@{}>", from.email.domain())))
            .header(ContentType::TEXT_PLAIN)
            .body(body)
            .map_err(|_| never("the mail could not be written".to_owned()))?;
        match server.send(message).await {
            Ok(answer) => Ok(format!("SMTP {}", answer.code())),
            Err(error) => Err(Untold {
                why: failure(&error),
                again: if error.is_permanent() {
                    Again::Never
                } else {
                    Again::Later(None)
                },
            }),
        }
    }
}

/// Returns the error for a contact that is a phone: outbound-sender delivers its notices as texts.
fn by_text() -> Untold {
    never("a phone is told by an outbound text".to_owned())
}

fn never(why: String) -> Untold {
    Untold {
        why,
        again: Again::Never,
    }
}

/// Returns the kind of the failure without the server's words, which may repeat the address.
fn failure(error: &lettre::transport::smtp::Error) -> String {
    match error.status() {
        Some(code) => format!("SMTP {code}"),
        None if error.is_timeout() => "no answer before the deadline".to_owned(),
        None if error.is_tls() => "no TLS with the mail server".to_owned(),
        None => "the mail server cannot be reached".to_owned(),
    }
}
