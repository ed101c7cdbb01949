//! Determines the address of a caller: that of the connection, or the one that a trusted proxy
//! reports.

use std::net::IpAddr;

use http::HeaderMap;
use ipnet::IpNet;

/// Header to which each proxy appends the address of its caller.
const FORWARDED_FOR: &str = "x-forwarded-for";

/// Addresses of our own proxies, which are trusted to report a caller's address.
#[derive(Debug, Clone, Default)]
pub struct Proxies(pub Vec<IpNet>);

impl Proxies {
    pub fn include(&self, address: IpAddr) -> bool {
        let address = address.to_canonical();
        self.0.iter().any(|net| net.contains(&address))
    }

    /// Returns the caller's address; `None` if a trusted proxy reports no address. Reads the header
    /// from the right, because a caller can forge the left entries.
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Option<IpAddr> {
        if !self.include(peer) {
            return Some(peer);
        }
        let lines = headers
            .get_all(FORWARDED_FOR)
            .into_iter()
            .rev()
            .filter_map(|line| line.to_str().ok());
        let named = lines.flat_map(|line| line.rsplit(','));
        // Stops at an entry that is not an address. Our proxies write only addresses, so a caller
        // sent this entry and all entries to its left.
        let named = named.map_while(|one| one.trim().parse::<IpAddr>().ok());
        named.into_iter().find(|address| !self.include(*address))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_callers_address_is_its_own_or_what_our_proxy_saw() {
        let proxies = Proxies(vec![
            "10.0.0.0/8".parse().unwrap(),
            "2001:db8::/32".parse().unwrap(),
        ]);
        let client = |peer: &str, lines: &[&str]| {
            let mut headers = HeaderMap::new();
            for line in lines {
                headers.append(FORWARDED_FOR, line.parse().unwrap());
            }
            proxies
                .client(peer.parse().unwrap(), &headers)
                .map(|address| address.to_string())
        };
        let is = |address: &str| Some(address.to_owned());
        // Entries that callers forged are ignored.
        assert_eq!(client("192.0.2.1", &["198.51.100.1"]), is("192.0.2.1"));
        assert_eq!(client("10.0.0.1", &["198.51.100.1"]), is("198.51.100.1"));
        assert_eq!(
            client("::ffff:10.0.0.1", &["198.51.100.1"]),
            is("198.51.100.1")
        );
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9, 198.51.100.1, 10.2.3.4"]),
            is("198.51.100.1")
        );
        assert_eq!(
            client("10.0.0.1", &["203.0.113.9", "198.51.100.1 ,2001:db8::1"]),
            is("198.51.100.1")
        );
        assert_eq!(client("10.0.0.1", &["2001:db9::1"]), is("2001:db9::1"));
        for unnamed in [
            &[] as &[&str],
            &["10.0.0.2"],
            &[""],
            &["198.51.100.1, unknown"],
        ] {
            assert_eq!(client("10.0.0.1", unnamed), None, "{unnamed:?}");
        }
    }
}
