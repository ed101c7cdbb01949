//! Whether an address is on this machine.

use url::Url;

/// True for an address of this machine.
pub fn is_here(url: &Url) -> bool {
    url.host().is_some_and(|host| match host {
        // Schemes that the standard does not know, such as nats, keep an address as a name.
        url::Host::Domain(name) => {
            name == "localhost" || name.parse().is_ok_and(|ip: std::net::IpAddr| ip.is_loopback())
        }
        url::Host::Ipv4(ip) => ip.is_loopback(),
        url::Host::Ipv6(ip) => ip.is_loopback(),
    })
}
