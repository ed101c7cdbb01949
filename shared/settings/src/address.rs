//! Decides whether an address is on this machine.

use url::Url;

/// Returns true if the URL's host is `localhost` or a loopback address.
pub fn is_here(url: &Url) -> bool {
    url.host().is_some_and(|host| match host {
        // `Url` keeps an IP address as a name if it does not know the scheme, such as nats.
        url::Host::Domain(name) => {
            name == "localhost"
                || name
                    .parse()
                    .is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        url::Host::Ipv4(ip) => ip.is_loopback(),
        url::Host::Ipv6(ip) => ip.is_loopback(),
    })
}
