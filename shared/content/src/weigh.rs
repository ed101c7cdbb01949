//! Reads the present content that the guards compare changes with, and runs the guards.

use std::collections::BTreeMap;

use chrono::TimeDelta;
use seven_knowledge::Category;

use crate::{
    Error, Work,
    guard::{Change, Finding, Standing, guard},
};

/// Items that were switched off within this time count as switched off together.
const AT_ONCE: TimeDelta = TimeDelta::hours(1);

/// Returns the findings of the guards for each change, in the order of `changes`.
pub(crate) async fn weigh(
    work: &mut Work<'_>,
    changes: &[Change<'_>],
) -> Result<Vec<Vec<Finding>>, Error> {
    let mut categories: Vec<String> = changes
        .iter()
        .flat_map(|change| [Some(change.after), change.before])
        .flatten()
        .map(|item| item.category.to_string())
        .collect();
    categories.sort();
    categories.dedup();
    let since = work.fleet.clock.now() - AT_ONCE;
    let names = work.tx.names_in(&categories, since).await?;
    let mut standing: BTreeMap<Category, Standing> = BTreeMap::new();
    for one in names {
        let of = standing.entry(one.category.into()).or_default();
        of.active += usize::from(one.active);
        of.off_lately += usize::from(one.off_lately);
        // Only active items can be confused by name, because guests do not get the others.
        if one.active {
            of.names.push((one.name.to_lowercase(), one.item_id));
        }
    }
    let rules = &work.fleet.packs.of(&work.row.config)?.rules.content;
    Ok(guard(changes, &standing, rules))
}
