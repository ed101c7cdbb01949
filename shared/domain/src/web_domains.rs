//! The websites on which a casino's chat may open (WID-1). This check keeps the chat off strangers'
//! pages. It works only for browsers, because other programs can state a false origin.

use url::{Host, Url};

/// The domains of a casino's websites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Domains(Vec<Domain>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Domain {
    /// The host name in ASCII, without a trailing dot.
    host: String,
    port: Option<u16>,
    /// Whether the entry allows the subdomains of `host` and not `host` itself.
    below: bool,
}

/// A text that is not a domain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no domain; expected one such as www.example.com, *.example.com or localhost:8080"
)]
pub struct BadDomain(String);

impl Domains {
    /// Parses domains. `www.example.com` allows this domain alone, `*.example.com` all its
    /// subdomains. Pages must be https; only pages on `localhost` may also be http.
    ///
    /// # Errors
    /// Returns the first text that is not a domain.
    pub fn read<'a>(domains: impl IntoIterator<Item = &'a str>) -> Result<Self, BadDomain> {
        let read = |text: &str| Domain::read(text).ok_or_else(|| BadDomain(text.to_owned()));
        domains
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// Returns whether a page of this origin may open the casino's chat. `origin` is the value of
    /// the `Origin` header: scheme, host and port only.
    pub fn allow(&self, origin: &str) -> bool {
        let Ok(url) = Url::parse(origin) else {
            return false;
        };
        // Refuses an origin with a path, a login, capitals or a default port. No browser sends such
        // an origin.
        let (Some(host), true) = (host_of(&url), url.origin().ascii_serialization() == origin)
        else {
            return false;
        };
        let secure = url.scheme() == "https";
        let here = host == "localhost" && url.scheme() == "http";
        (secure || here) && self.0.iter().any(|domain| domain.is(host, url.port()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Domain {
    fn read(text: &str) -> Option<Self> {
        let (name, below) = match text.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (text, false),
        };
        // Parses the name as a URL, because the URL parser handles ports and names that are not
        // ASCII.
        let url = Url::parse(&format!("https://{name}/")).ok()?;
        let host = host_of(&url)?.to_owned();
        let plain = url.path() == "/" && url.query().is_none() && url.fragment().is_none();
        let whole = host.contains('.') || host == "localhost" && !below;
        let bare = plain && url.username().is_empty() && !name.contains(['/', '@', '*', '?', '#']);
        (bare && whole).then_some(Self {
            host,
            port: url.port(),
            below,
        })
    }

    fn is(&self, host: &str, port: Option<u16>) -> bool {
        let named = match self.below {
            true => host
                .strip_suffix(&self.host)
                .is_some_and(|rest| rest.len() > 1 && rest.ends_with('.')),
            false => host == self.host,
        };
        named && port == self.port
    }
}

/// Returns the URL's host name without a trailing dot; `None` for an IP address.
fn host_of(url: &Url) -> Option<&str> {
    match url.host()? {
        Host::Domain(name) => Some(name.strip_suffix('.').unwrap_or(name)),
        Host::Ipv4(_) | Host::Ipv6(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // WID-1, T-14
    fn a_page_opens_the_chat_on_the_casinos_domains_alone() {
        let ours = [
            "www.birch.example",
            "*.resort.example",
            "bücher.example",
            "localhost:8080",
        ];
        let domains = Domains::read(ours).unwrap();
        for (origin, allowed) in [
            ("https://www.birch.example", true),
            ("https://shop.resort.example", true),
            ("https://a.b.resort.example", true),
            ("https://xn--bcher-kva.example", true),
            ("http://localhost:8080", true),
            ("https://localhost:8080", true),
            ("http://www.birch.example", false),
            ("https://birch.example", false),
            ("https://resort.example", false),
            ("https://evilresort.example", false),
            ("https://www.birch.example.evil.example", false),
            ("https://www.birch.example:8443", false),
            ("https://www.birch.example:443", false),
            ("https://www.birch.example/", false),
            ("https://www.birch.example/page", false),
            ("https://WWW.birch.example", false),
            ("https://user@www.birch.example", false),
            ("https://www.birch.example, https://evil.example", false),
            ("http://localhost:8081", false),
            ("https://127.0.0.1", false),
            ("https://[::1]", false),
            ("null", false),
            ("file://", false),
            ("chrome-extension://www.birch.example", false),
            ("", false),
        ] {
            assert_eq!(domains.allow(origin), allowed, "{origin}");
        }
        assert!(
            !Domains::default().allow("https://www.birch.example"),
            "none is none"
        );
    }

    #[test]
    fn what_is_no_domain_is_named() {
        for bad in [
            "",
            "birch",
            "*.com/",
            "https://birch.example",
            "birch.example/chat",
            "*",
            "*.*.example",
            "a@birch.example",
            "10.0.0.1",
            "[::1]",
            "*.localhost",
            "birch.example?x",
            "two words.example",
        ] {
            assert_eq!(
                Domains::read([bad]),
                Err(BadDomain(bad.to_owned())),
                "{bad}"
            );
        }
    }
}
