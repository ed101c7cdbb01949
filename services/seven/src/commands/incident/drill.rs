//! `seven incident drill`: compares the duration and the data loss of a recovery drill with their
//! goals.

use anyhow::Result;
use chrono::TimeDelta;
use clap::Args;
use serde_json::json;
use seven_domain::{AuditEvent, CasinoId};
use seven_store::audit::Entry;

use crate::{
    commands::{
        args::{By, Casino},
        context::Context,
        given::{self, span},
        known,
    },
    out,
};

/// Goal for a drill: maximum time from the loss of the database to an answered guest.
const LONGEST: TimeDelta = TimeDelta::hours(4);
/// Goal for a drill: maximum length of the period whose data is lost.
const MOST_LOST: TimeDelta = TimeDelta::hours(24);

#[derive(Debug, Args)]
pub struct Drill {
    /// Time from the loss to an answered text: 50m, 3h. Goal: under four hours.
    #[arg(long, value_name = "SPAN", value_parser = span)]
    took: TimeDelta,
    /// Age of the backup at the loss, minus the period that `seven recover` recovered: 0m, 20h.
    /// Goal: at most a day.
    #[arg(long, value_name = "SPAN", value_parser = span_or_none)]
    lost: TimeDelta,
    #[command(flatten)]
    of: Casino,
    #[command(flatten)]
    by: By,
    /// The proof that the recovery worked: an answered text, the output of `seven restore
    /// --verify`. In each drill, check a different casino from end to end.
    #[arg(long, value_name = "TEXT", value_parser = given::words)]
    verified: String,
}

fn span_or_none(text: &str) -> Result<TimeDelta, String> {
    if ["0", "0m", "0h", "0d"].contains(&text) {
        Ok(TimeDelta::zero())
    } else {
        span(text)
    }
}

fn passed(took: TimeDelta, lost: TimeDelta) -> bool {
    took < LONGEST && lost <= MOST_LOST
}

impl Drill {
    pub(super) async fn note(self, ctx: &Context) -> Result<()> {
        let Self {
            took,
            lost,
            of: Casino { casino },
            by: By { by },
            verified,
        } = self;
        let store = ctx.store()?;
        known(&store, &casino).await?;
        let passed = passed(took, lost);
        let detail = json!({
            "casino": casino, "took_minutes": took.num_minutes(),
            "lost_minutes": lost.num_minutes(), "passed": passed, "verified": verified,
        });
        let mut tx = store.bind(&CasinoId::unknown()).await?;
        tx.audit(&Entry::of(
            AuditEvent::RecoveryDrilled,
            &by,
            "database",
            detail,
        ))
        .await?;
        tx.commit().await?;
        let minutes = (took.num_minutes(), lost.num_minutes());
        if passed {
            out!(
                "Noted: a recovery in {} min with {} min lost. Passed; the next one is due in a \
                 quarter.",
                minutes.0,
                minutes.1
            );
        } else {
            out!(
                "Noted: a recovery in {} min with {} min lost. Not passed: under {} min and at \
                 most {} min are the goals. The reminder stays.",
                minutes.0,
                minutes.1,
                LONGEST.num_minutes(),
                MOST_LOST.num_minutes()
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test] // DEP-33
    fn a_drill_passes_under_four_hours_with_at_most_a_day_lost() {
        for (took, lost, wanted) in [
            (239, 0, true),
            (239, 1_440, true),
            (240, 0, false),
            (10, 1_441, false),
        ] {
            assert_eq!(
                passed(TimeDelta::minutes(took), TimeDelta::minutes(lost)),
                wanted,
                "{took} {lost}"
            );
        }
        assert_eq!(span_or_none("0m"), Ok(TimeDelta::zero()));
        assert!(span_or_none("-1h").is_err() && span("0m").is_err());
    }
}
