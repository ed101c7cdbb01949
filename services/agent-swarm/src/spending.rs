//! Limits the cost of hosted models for guests of the website, who are anonymous. Beyond the
//! limits, the offline host answers.

use seven_domain::Channel;
use seven_store::cost::WebSpent;

use crate::types::{Swarm, Work};

/// Maximum cost of hosted models in 24 hours, in billionths of a dollar; 0 for no limit. There is
/// one limit for each visitor and one for the whole casino.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct WebLimits {
    pub visitor_nano_usd: u64,
    pub casino_nano_usd: u64,
}

/// Returns whether the guest of this turn, or the casino, has reached a limit. Returns false if the
/// cost cannot be read from the database, because the turn could not be stored either.
pub(crate) async fn is_spent(swarm: &Swarm, work: &Work) -> bool {
    let limits = swarm.settings.web_limits;
    if work.lease.channel != Channel::Web || limits == WebLimits::default() {
        return false;
    }
    let spent = async {
        let mut tx = swarm.fleet.store.bind(&work.casino).await?;
        let spent = tx.web_spent(work.lease.conversation_id).await?;
        tx.commit().await?;
        Ok::<_, seven_store::Error>(spent)
    };
    match spent.await {
        Ok(spent) => reached(limits, spent),
        Err(error) => {
            tracing::warn!(casino = %work.casino, %error, "the cost of the website's guests cannot be read");
            false
        }
    }
}

fn reached(limits: WebLimits, spent: WebSpent) -> bool {
    let over = |most: u64, cost: i64| most > 0 && u64::try_from(cost).unwrap_or(0) >= most;
    over(limits.visitor_nano_usd, spent.visitor) || over(limits.casino_nano_usd, spent.casino)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // issue L.6
    fn either_limit_is_reached_and_zero_is_none() {
        let limits = |visitor_nano_usd, casino_nano_usd| WebLimits {
            visitor_nano_usd,
            casino_nano_usd,
        };
        for (most, visitor, casino, over) in [
            (limits(10, 100), 9, 99, false),
            (limits(10, 100), 10, 10, true),
            (limits(10, 100), 0, 100, true),
            (limits(0, 100), 99, 99, false),
            (limits(10, 0), 9, 1_000, false),
        ] {
            assert_eq!(
                reached(most, WebSpent { visitor, casino }),
                over,
                "{most:?}"
            );
        }
    }
}
