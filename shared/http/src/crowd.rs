//! Tracks callers that hold a connection but have not sent a request, or its body, yet. If there
//! are too many, the caller that has waited longest is dropped. Slow callers thus displace only
//! each other.

use std::{
    collections::{BTreeMap, BTreeSet, HashMap},
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

/// Limits on the number of callers that may wait at the same time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Waits {
    pub all: usize,
    /// Limit per address. For IPv6 the limit is per /64 network, because one caller can use all
    /// addresses of such a network.
    pub of_one: usize,
}

#[derive(Debug, Clone)]
pub struct Crowd {
    waits: Waits,
    waiting: Arc<Mutex<Waiting>>,
}

/// The waiting callers, in the order in which they are displaced. Callers with an address come
/// first, the oldest of them at the front; callers without an address (trusted proxies) come last.
#[derive(Debug, Default)]
struct Waiting {
    entered: u64,
    all: BTreeMap<Key, CancellationToken>,
    of: HashMap<IpAddr, BTreeSet<u64>>,
}

/// Sort key: whether the caller has no address, its arrival number, and its address.
type Key = (bool, u64, Option<IpAddr>);

/// One waiting caller; dropping it ends the wait.
#[derive(Debug)]
pub struct WaitingCaller {
    crowd: Crowd,
    key: Key,
}

// === impl Crowd ===

impl Crowd {
    pub fn new(waits: Waits) -> Self {
        Self {
            waits,
            waiting: Arc::default(),
        }
    }

    /// Adds a caller. `address` is `None` for a trusted proxy, to which only the total limit
    /// applies. `displaced` is cancelled when the caller is displaced.
    pub fn enter(&self, address: Option<IpAddr>, displaced: CancellationToken) -> WaitingCaller {
        let address = address.map(network);
        let mut waiting = self.lock();
        waiting.entered += 1;
        let key = (address.is_none(), waiting.entered, address);
        waiting.all.insert(key, displaced);
        if let Some(address) = address {
            let of = waiting.of.entry(address).or_default();
            of.insert(key.1);
            if of.len() > self.waits.of_one {
                let oldest = of.first().map(|&entered| (false, entered, Some(address)));
                waiting.displace(oldest);
            }
        }
        if waiting.all.len() > self.waits.all {
            let oldest = waiting.all.keys().next().copied();
            waiting.displace(oldest);
        }
        WaitingCaller {
            crowd: self.clone(),
            key,
        }
    }

    /// Displaces the caller that has waited longest; returns false if nobody waits.
    pub(crate) fn make_room(&self) -> bool {
        let mut waiting = self.lock();
        let oldest = waiting.all.keys().next().copied();
        waiting.displace(oldest)
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    fn displace(&mut self, key: Option<Key>) -> bool {
        let Some(displaced) = key.and_then(|key| self.remove(key)) else {
            return false;
        };
        displaced.cancel();
        true
    }

    fn remove(&mut self, key: Key) -> Option<CancellationToken> {
        if let (_, entered, Some(address)) = key
            && let Some(of) = self.of.get_mut(&address)
        {
            of.remove(&entered);
            if of.is_empty() {
                self.of.remove(&address);
            }
        }
        self.all.remove(&key)
    }
}

// === impl WaitingCaller ===

impl Drop for WaitingCaller {
    fn drop(&mut self) {
        self.crowd.lock().remove(self.key);
    }
}

/// Returns the address that counts as one caller: for IPv6, the /64 network.
pub fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        v4 @ IpAddr::V4(_) => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(address: &str) -> Option<IpAddr> {
        Some(address.parse().unwrap())
    }

    /// Callers in the order in which they entered the crowd.
    struct Came(Vec<(WaitingCaller, CancellationToken)>);

    impl Came {
        fn to(crowd: &Crowd, callers: &[Option<IpAddr>]) -> Self {
            let enter = |address: &Option<IpAddr>| {
                let displaced = CancellationToken::new();
                (crowd.enter(*address, displaced.clone()), displaced)
            };
            Self(callers.iter().map(enter).collect())
        }

        fn displaced(&self) -> Vec<usize> {
            self.0
                .iter()
                .enumerate()
                .filter(|(_, (_, displaced))| displaced.is_cancelled())
                .map(|(n, _)| n)
                .collect()
        }
    }

    #[test]
    fn the_one_that_waited_longest_of_an_address_gives_way() {
        let crowd = Crowd::new(Waits { all: 10, of_one: 2 });
        let callers = [
            "192.0.2.1",
            "192.0.2.2",
            "192.0.2.1",
            "::ffff:192.0.2.1",
            "192.0.2.1",
        ];
        assert_eq!(Came::to(&crowd, &callers.map(at)).displaced(), [0, 2]);
    }

    #[test]
    fn addresses_of_one_ipv6_network_are_one_caller() {
        let crowd = Crowd::new(Waits { all: 10, of_one: 1 });
        let callers = ["2001:db8::1", "2001:db8:0:1::1", "2001:db8::ffff:1"];
        assert_eq!(Came::to(&crowd, &callers.map(at)).displaced(), [0]);
    }

    #[test]
    fn a_proxy_is_the_last_to_give_way() {
        let crowd = Crowd::new(Waits { all: 3, of_one: 1 });
        let came = Came::to(
            &crowd,
            &[None, at("192.0.2.1"), None, at("192.0.2.2"), None, None],
        );
        assert_eq!(
            came.displaced(),
            [0, 1, 3],
            "strangers first, then the proxy's oldest"
        );
        assert!(crowd.make_room());
        assert_eq!(came.displaced(), [0, 1, 2, 3]);
    }

    #[test]
    fn who_is_done_waits_no_longer() {
        let crowd = Crowd::new(Waits { all: 2, of_one: 1 });
        for _ in 0..10 {
            assert!(Came::to(&crowd, &[at("192.0.2.1")]).displaced().is_empty());
        }
        assert!(!crowd.make_room(), "nobody waits");
        let waiting = crowd.lock();
        assert!(waiting.all.is_empty() && waiting.of.is_empty());
    }
}
