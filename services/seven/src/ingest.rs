//! Makes the vectors of a casino's content for commands, and adds up what this costs.

use std::sync::Arc;

use anyhow::Result;
use seven_cache::Cache;
pub use seven_content::{Ingested, ingest, planned_ingest};
use seven_cost::Usd;
use seven_domain::CasinoId;
use seven_llm::embedding::Embedding;
use seven_runtime::Fleet;
use seven_settings::Settings;
use seven_telemetry::Alert;

use crate::{model::Tally, wiring};

/// An embedding that sums the cost of its calls. Commands ingest content with it.
#[derive(Debug)]
pub(crate) struct Paid {
    pub(crate) embedding: Embedding,
    spent: Arc<Tally>,
    most: Usd,
}

impl Paid {
    pub(crate) fn new(settings: &Settings, cache: &Cache) -> Result<Self> {
        let spent = Arc::<Tally>::default();
        let embedding = wiring::embedding_heard(settings, cache, spent.clone())?;
        Ok(Self {
            embedding,
            spent,
            most: settings.cost.reindex,
        })
    }

    /// Runs [`ingest`]. Raises an alert if the calls cost more than the limit, even if the run
    /// failed midway.
    pub(crate) async fn ingest(
        &self,
        fleet: &Fleet,
        casino: &CasinoId,
        mass_removal: bool,
    ) -> Result<Ingested> {
        let outcome = ingest(fleet, casino, &self.embedding, mass_removal).await;
        if self.spent() > self.most {
            let text = &format!(
                "making vectors cost {}, more than the {} of [cost] reindex",
                self.spent(),
                self.most
            );
            Alert {
                name: "reindex_cost",
                casino: casino.as_str(),
                provider: "",
                code: "",
                text,
            }
            .raise();
            seven_alerts::file_all(fleet).await;
        }
        Ok(outcome?)
    }

    pub(crate) fn spent(&self) -> Usd {
        Usd(self.spent.spent())
    }
}
