//! Records opt-outs that never reached us, from the provider's list of guests whom it blocks.

use seven_compliance::chain::Action;
use seven_domain::{ConsentTier, PhoneE164, SuppressionState};
use seven_providers::records::OptOut;
use seven_runtime::{Error, counted};
use seven_store::{
    consent::{Consent, method},
    suppressions::Sync,
};

use super::{Held, Run};

impl Run<'_> {
    pub(super) async fn opt_outs(&mut self) -> Result<(), Error> {
        let records = self.records;
        for Held {
            number,
            since,
            until,
        } in self.numbers.clone()
        {
            let until = until.map_or(self.until, |until| until.min(self.until));
            let since = since.map_or(self.since, |since| since.max(self.since));
            let listed = self
                .all(|page| {
                    Box::pin({
                        let number = number.clone();
                        async move { records.opt_outs(&number, since, page).await }
                    })
                })
                .await?;
            self.report.opt_outs_listed += listed.len();
            for opt_out in listed.iter().filter(|opt_out| opt_out.at < until) {
                self.take_over(opt_out).await?;
            }
        }
        Ok(())
    }

    async fn take_over(&mut self, opt_out: &OptOut) -> Result<(), Error> {
        // A number that cannot be parsed could not be texted anyway, so it is skipped.
        let Ok(phone) = opt_out.guest.parse::<PhoneE164>() else {
            return Ok(());
        };
        let guest = self.fleet.keys.hash(self.casino, &phone);
        let mut tx = self.fleet.store.bind(self.casino).await?;
        let known = tx.conversation_of_guest(&guest).await?;
        if let Some((_, conversation)) = known {
            tx.lock_conversation(conversation).await?;
        }
        let before = tx.suppression(&guest).await?;
        // Ignores a block that is older than the guest's last opt-in or opt-out. If the block still
        // holds, the provider returns an error at the next send.
        if before
            .is_some_and(|now| now.state == SuppressionState::Stopped || now.as_of >= opt_out.at)
        {
            return Ok(());
        }
        self.report.opt_outs_taken_over += 1;
        if self.dry || tx.provider_says_stopped(&guest, opt_out.at).await? != Sync::Suppressed {
            return Ok(tx.commit().await?);
        }
        let cancelled = match known {
            Some((_, conversation)) => tx.cancel_unsent(conversation, "guest_opted_out").await?,
            None => 0,
        };
        let change = Consent {
            guest: &guest,
            guest_id: known.map(|(guest, _)| guest),
            action: Action::Revoked,
            method: method::PROVIDER_BLOCK,
            tier: ConsentTier::None,
            at: opt_out.at,
            evidence: serde_json::json!({
                "source": "provider_opt_out_list",
                "provider": self.records.name(),
                "texts_cancelled": cancelled,
            }),
            actor: "scheduler",
            trace: None,
        };
        counted::record_consent(&mut tx, &change, &self.fleet.keys).await?;
        tx.commit().await?;
        self.fleet
            .cache
            .refuse(self.casino, &guest, opt_out.at)
            .await;
        Ok(())
    }
}
