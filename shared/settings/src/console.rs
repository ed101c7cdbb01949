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
    /// The console's address as browsers have it.
    pub public_url: Url,
    /// The console's own database login, which alone reads the operators' accounts.
    pub postgres_url: Option<SecretString>,
    /// Whether a login asks for a code beside the password.
    pub second_factor: bool,
    /// Casinos' own logins, by the name that stands in their addresses.
    #[serde(default)]
    pub oidc: BTreeMap<String, Oidc>,
    /// Their client secrets, each as `name=secret`. Only the console gets them.
    #[serde(default)]
    pub oidc_client_secrets: Vec<SecretString>,
}

/// A casino's own login (OpenID Connect, code flow with PKCE). It lets in the accounts whose
/// address is in its domains, and no others.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// The name on the login page.
    pub name: String,
    /// The issuer, character by character as the provider writes it.
    pub issuer: String,
    pub client_id: String,
    /// Domains of e-mail addresses, in lower case. Staff of two casinos share none.
    pub domains: Vec<String>,
    /// Ids of the casinos whose staff log in there. An account with a role elsewhere, or at every
    /// casino, is not let in by it.
    pub casinos: Vec<String>,
    /// Whether an address counts as verified where the provider does not say so: true for a
    /// directory that gives out its addresses itself and sends no `email_verified`.
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
    /// Returns the client secret of a casino's own login.
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
