//! The addresses of contacts. Casinos enter these addresses, so none may lead into our own network:
//! a chat webhook must be an https URL at a public address. Redirects are not followed.

use std::net::{IpAddr, SocketAddr};

use lettre::Address;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use secrecy::{ExposeSecret, SecretString};
use seven_domain::{ContactChannel, PhoneE164};
use url::{Host, Url};

/// The reason why an address is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Bad {
    #[error("that is no URL; expected the whole address, which begins with https://")]
    Url,
    #[error("the address must begin with https://")]
    NotHttps,
    #[error("the address has a user name or password in it; expected one without")]
    Login,
    #[error("that address is not public; expected a server on the internet")]
    Private,
    #[error("that is no mail address; expected name@example.com")]
    Mail,
    #[error("that is no phone number; expected one such as +18605550100")]
    Phone,
}

/// Checks a contact's address. `local` permits http and this machine's addresses, for development.
///
/// # Errors
/// Returns what is wrong with the address.
pub fn check(channel: ContactChannel, address: &SecretString, local: bool) -> Result<(), Bad> {
    let text = address.expose_secret();
    match channel {
        ContactChannel::Text => text.parse::<PhoneE164>().map(drop).map_err(|_| Bad::Phone),
        ContactChannel::Mail => text.parse::<Address>().map(drop).map_err(|_| Bad::Mail),
        ContactChannel::Chat => public_url(text, local).map(drop),
    }
}

/// Parses a URL that a casino entered, which must be on the public internet. `local` permits http
/// and this machine's addresses, for development.
///
/// # Errors
/// Returns what is wrong with the address.
pub fn public_url(text: &str, local: bool) -> Result<Url, Bad> {
    let url = Url::parse(text).map_err(|_| Bad::Url)?;
    if url.scheme() != "https" && !(local && url.scheme() == "http") {
        return Err(Bad::NotHttps);
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(Bad::Login);
    }
    let is_public = match url.host().ok_or(Bad::Url)? {
        Host::Ipv4(ip) => is_public(ip.into()),
        Host::Ipv6(ip) => is_public(ip.into()),
        // A name without a dot can only belong to our own network.
        Host::Domain(name) => name.contains('.') && !name.ends_with(".local"),
    };
    if is_public || local {
        Ok(url)
    } else {
        Err(Bad::Private)
    }
}

/// Returns whether an address belongs to the public internet. Addresses of this machine, of private
/// or link-local networks, and for documentation and tests do not (RFC 6890).
fn is_public(ip: IpAddr) -> bool {
    match ip.to_canonical() {
        IpAddr::V4(ip) => {
            let [a, b, ..] = ip.octets();
            !(ip.is_private()
                || ip.is_loopback()
                || ip.is_link_local()
                || ip.is_multicast()
                || ip.is_documentation()
                || a == 0
                || a >= 240
                || (a == 100 && (64..128).contains(&b))
                || (a == 198 && (18..20).contains(&b))
                || ip.octets()[..3] == [192, 0, 0])
        }
        IpAddr::V6(ip) => {
            let [first, second, ..] = ip.segments();
            // Global unicast is 2000::/3. Excluded from it are 2001:db8::/32 (documentation),
            // 2001::/23 (protocol assignments) and 2002::/16 (embedded IPv4 addresses).
            (0x2000..0x4000).contains(&first)
                && first != 0x2002
                && !(first == 0x2001 && (second < 0x200 || second == 0xdb8))
        }
    }
}

/// A resolver that returns only public addresses. It runs for each connection, so a name cannot
/// point elsewhere after it was checked.
#[derive(Debug, Clone, Copy)]
pub struct PublicOnly;

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let public: Vec<SocketAddr> = found.filter(|at| is_public(at.ip())).collect();
            if public.is_empty() {
                return Err(Bad::Private.into());
            }
            let addresses: Addrs = Box::new(public.into_iter());
            Ok(addresses)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // D28
    fn a_webhook_is_https_and_public() {
        for (address, bad) in [
            ("https://hooks.example.com/services/T0/B0/x", None),
            ("https://93.184.216.34/x", None),
            ("https://[2606:2800:220:1::1]/x", None),
            ("http://hooks.example.com/x", Some(Bad::NotHttps)),
            ("ftp://hooks.example.com/x", Some(Bad::NotHttps)),
            ("hooks.example.com/x", Some(Bad::Url)),
            ("https://me:pw@hooks.example.com/x", Some(Bad::Login)),
            ("https://localhost/x", Some(Bad::Private)),
            ("https://nats/x", Some(Bad::Private)),
            ("https://printer.local/x", Some(Bad::Private)),
            ("https://127.0.0.1/x", Some(Bad::Private)),
            ("https://2130706433/x", Some(Bad::Private)),
            ("https://10.1.2.3/x", Some(Bad::Private)),
            ("https://172.16.0.1/x", Some(Bad::Private)),
            ("https://192.168.1.1/x", Some(Bad::Private)),
            ("https://169.254.169.254/latest", Some(Bad::Private)),
            ("https://100.64.0.1/x", Some(Bad::Private)),
            ("https://0.0.0.0/x", Some(Bad::Private)),
            ("https://[::1]/x", Some(Bad::Private)),
            ("https://[::ffff:10.0.0.1]/x", Some(Bad::Private)),
            ("https://[fe80::1]/x", Some(Bad::Private)),
            ("https://[fd00::1]/x", Some(Bad::Private)),
            ("https://[2002:a00:1::]/x", Some(Bad::Private)),
        ] {
            let checked = check(ContactChannel::Chat, &address.into(), false);
            assert_eq!(checked.err(), bad, "{address}");
        }
        let here = "http://127.0.0.1:7711/chat".into();
        assert!(check(ContactChannel::Chat, &here, true).is_ok());
    }

    #[test] // D28
    fn a_mail_address_is_one_address() {
        for (address, good) in [
            ("duty@casino.example", true),
            ("duty@casino.example, boss@casino.example", false),
            ("duty", false),
            ("duty@casino.example\r\nBcc: all@example.com", false),
            ("", false),
        ] {
            let checked = check(ContactChannel::Mail, &address.into(), false);
            assert_eq!(checked.is_ok(), good, "{address}");
        }
    }

    #[tokio::test] // D28: a public name may resolve to an address of ours
    async fn a_name_that_resolves_to_us_is_not_called() {
        let refused = PublicOnly.resolve("localhost".parse().unwrap()).await;
        assert!(refused.err().unwrap().to_string().contains("not public"));
    }
}
