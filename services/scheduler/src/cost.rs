//! Exports each casino's cost of this month and its budget as metrics.

use std::sync::Arc;

use seven_cost::{Cost, Month, Usd};
use seven_runtime::{Error, Fleet};
use seven_settings::Settings;
use seven_telemetry::metrics;

pub(crate) async fn round(fleet: Fleet, settings: Arc<Settings>) -> Result<(), Error> {
    let costs =
        seven_cost::month(&fleet, &settings.cost, Month::of(fleet.clock.now()), None).await?;
    export(&costs, settings.cost.budget);
    Ok(())
}

fn export(costs: &[Cost], budget: Usd) {
    let figures = &metrics().fleet;
    figures.month_cost.reset();
    figures.month_budget.reset();
    for cost in costs {
        figures
            .month_cost
            .with_label_values(&[cost.casino.as_str()])
            .set(cost.total.dollars());
        figures
            .month_budget
            .with_label_values(&[cost.casino.as_str()])
            .set(budget.dollars());
    }
}
