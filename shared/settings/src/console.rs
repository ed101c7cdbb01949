//! `[console]`: the pages for the casinos' own people (D27).

use std::collections::BTreeMap;

use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use url::Url;

use crate::{error::Faults, is_here};

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Console {
    pub listen: std::net::SocketAddr,
    /// The console's base URL as browsers see it.
    pub public_url: Url,
    /// The database URL with the console's own login. Only this login may read the operators'
    /// accounts.
    pub postgres_url: Option<SecretString>,
    /// Whether a login requires a code in addition to the password.
    pub second_factor: bool,
    /// Identity providers of casinos, by the name that their login URLs contain.
    #[serde(default)]
    pub oidc: BTreeMap<String, Oidc>,
    /// Client secrets of the identity providers, each as `name=secret`. Only the console gets them.
    #[serde(default)]
    pub oidc_client_secrets: Vec<SecretString>,
}

/// A casino's identity provider (OpenID Connect, code flow with PKCE). Through it, only accounts
/// whose mail address is in one of `domains` can log in.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// The name that the login page shows.
    pub name: String,
    /// The issuer, spelled exactly as the provider spells it.
    pub issuer: String,
    pub client_id: String,
    /// Domains of e-mail addresses, in lower case. Two casinos must not have the same domain.
    pub domains: Vec<String>,
    /// Ids of the casinos whose staff log in through this provider. An account that has a role at
    /// another casino, or at all casinos, cannot log in through the provider.
    pub casinos: Vec<String>,
    /// Whether a mail address counts as verified if the provider sends no `email_verified`. Set it
    /// to true only for a directory that itself assigns the addresses.
    #[serde(default)]
    pub email_is_verified: bool,
}

impl Oidc {
    fn check(&self, id: &str, faults: &mut Faults) {
        let is_word = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        faults.need(
            (1..=32).contains(&id.len()) && id.chars().all(is_word),
            "console.oidc",
            format!("{id} stands in an address"),
            "a name of up to 32 of a-z, 0-9 and -",
        );
        let issuer = self.issuer.parse::<Url>().ok();
        faults.need(
            issuer.is_some_and(|url| url.scheme() == "https" || is_here(&url)),
            "console.oidc.*.issuer",
            format!("{id}: anybody on the way could let people in"),
            "https://... (http:// only on this machine)",
        );
        let is_domain = |domain: &String| {
            domain.contains('.') && domain.chars().all(|c| is_word(c) || c == '.')
        };
        faults.need(
            !self.domains.is_empty() && self.domains.iter().all(is_domain),
            "console.oidc.*.domains",
            format!("{id} would speak for nobody, or for an address that no account has"),
            "[\"casino.example\"], in lower case",
        );
        faults.need(
            !self.casinos.is_empty(),
            "console.oidc.*.casinos",
            format!("{id} would let nobody in"),
            "[\"silver_birch\"]",
        );
    }
}

impl Console {
    /// Returns the client secret of the identity provider `id`; `None` if the settings contain
    /// none.
    pub fn oidc_client_secret(&self, id: &str) -> Option<SecretString> {
        let of = |entry: &SecretString| {
            let (name, secret) = entry.expose_secret().split_once('=')?;
            (name == id).then(|| SecretString::from(secret))
        };
        self.oidc_client_secrets.iter().find_map(of)
    }

    pub(crate) fn check(&self, faults: &mut Faults) {
        let here = is_here(&self.public_url);
        faults.need(
            here || self.public_url.scheme() == "https",
            "console.public_url",
            "browsers would send passwords in plain text",
            "https://... (http:// only on this machine)",
        );
        faults.need(
            here || self.second_factor,
            "console.second_factor",
            "a password alone would let somebody in from anywhere",
            "true (false only on this machine)",
        );
        for (id, oidc) in &self.oidc {
            oidc.check(id, faults);
        }
        let domains = self.oidc.values().flat_map(|oidc| &oidc.domains);
        let mut all: Vec<&String> = domains.collect();
        let named = all.len();
        all.sort_unstable();
        all.dedup();
        faults.need(
            all.len() == named,
            "console.oidc",
            "two logins would speak for the same addresses",
            "each domain once",
        );
    }
}
