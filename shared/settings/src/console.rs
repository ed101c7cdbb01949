//! `[console]`: the pages for the casinos' own people (D27).

use secrecy::SecretString;
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
}

impl Console {
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
    }
}
