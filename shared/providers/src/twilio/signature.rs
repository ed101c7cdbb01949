//! Verifies `X-Twilio-Signature`: the base64 of an HMAC-SHA1 over address and sorted fields, keyed
//! with the auth token. The signature covers no timestamp, so a call can be replayed. A replayed
//! call is harmless, because the id of its message is already known.

use base64::{Engine, prelude::BASE64_STANDARD};
use hmac::{Hmac, KeyInit, Mac};
use secrecy::{ExposeSecret, SecretString};
use sha1::Sha1;
use url::Url;

use crate::telnyx::signature::Refusal;

pub const SIGNATURE_HEADER: &str = "x-twilio-signature";

/// Length of an HMAC-SHA1 in bytes.
const MAC_BYTES: usize = 20;

/// Form fields in the order of arrival, with decoded names and values.
pub type Fields = [(String, String)];

#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("an empty Twilio auth token; without one every webhook could be forged")]
    Empty,
    #[error("no Twilio auth token is configured")]
    None,
}

/// The accepted auth tokens: the primary first, then the secondary during a rotation.
#[derive(Debug, Clone)]
pub struct Verifier {
    tokens: Vec<SecretString>,
}

impl Verifier {
    pub fn new(tokens: Vec<SecretString>) -> Result<Self, KeyError> {
        match tokens.as_slice() {
            [] => Err(KeyError::None),
            all if all.iter().any(|token| token.expose_secret().is_empty()) => Err(KeyError::Empty),
            _ => Ok(Self { tokens }),
        }
    }

    /// Checks a call. `url` is the address that is configured at Twilio, not the one in the call;
    /// Twilio may sign it with or without the port. `query` must be exactly as received, because
    /// parsing would change the signed text.
    pub fn verify(
        &self,
        url: &Url,
        query: Option<&str>,
        fields: &Fields,
        signature: Option<&str>,
    ) -> Result<(), Refusal> {
        let given = given(signature)?;
        let forms = addresses(url, query);
        // Tries every token with every form of the address in constant time, so that timing reveals
        // nothing about the signature.
        let right = self
            .tokens
            .iter()
            .flat_map(|token| forms.iter().map(move |form| (token, form)));
        let found = right.fold(false, |found, (token, form)| {
            mac(token.expose_secret(), form, fields)
                .verify_slice(&given)
                .is_ok()
                | found
        });
        if found {
            Ok(())
        } else {
            Err(Refusal::InvalidSignature)
        }
    }
}

/// Decodes a call's signature. Used before the body is read, so that a caller without a signature
/// cannot make us wait for a body.
pub fn given(signature: Option<&str>) -> Result<[u8; MAC_BYTES], Refusal> {
    let bytes = BASE64_STANDARD.decode(signature.ok_or(Refusal::MissingHeaders)?);
    bytes
        .ok()
        .and_then(|bytes| bytes.try_into().ok())
        .ok_or(Refusal::InvalidSignature)
}

/// Returns the value that Twilio puts into the signature header for this call.
pub fn sign(token: &str, url: &str, fields: &Fields) -> String {
    BASE64_STANDARD.encode(mac(token, url, fields).finalize().into_bytes())
}

fn mac(token: &str, url: &str, fields: &Fields) -> Hmac<Sha1> {
    let mut mac =
        Hmac::<Sha1>::new_from_slice(token.as_bytes()).expect("an HMAC takes a key of any length");
    mac.update(url.as_bytes());
    let mut sorted: Vec<_> = fields.iter().collect();
    sorted.sort();
    // If a field occurs twice with the same value, it is signed once, as Twilio's own libraries do.
    sorted.dedup();
    for (name, value) in sorted {
        mac.update(name.as_bytes());
        mac.update(value.as_bytes());
    }
    mac
}

/// Returns two forms of the address, both without its fragment. The first is as configured. The
/// second has the scheme's port added if no port is configured, and no port otherwise.
fn addresses(url: &Url, query: Option<&str>) -> Vec<String> {
    let mut plain = url.clone();
    plain.set_fragment(None);
    plain.set_query(None);
    let mut forms = forms_of(plain);
    for form in &mut forms {
        form.extend(query.iter().flat_map(|query| ["?", *query]));
    }
    forms
}

fn forms_of(mut plain: Url) -> Vec<String> {
    let text = plain.to_string();
    let mut forms = vec![text.clone()];
    if let (None, Some(port), Some(host)) = (
        plain.port(),
        plain.port_or_known_default(),
        plain.host_str(),
    ) {
        let at = format!("{}://{host}", plain.scheme());
        if let Some(rest) = text.strip_prefix(&at) {
            forms.push(format!("{at}:{port}{rest}"));
        }
    } else if plain.set_port(None).is_ok() {
        forms.push(plain.to_string());
    }
    forms
}

#[cfg(test)]
#[path = "signature_tests.rs"]
mod tests;
