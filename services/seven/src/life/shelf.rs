//! A folder of backups, each in a folder named by its time, such as `2026-11-23T030000Z`. All are
//! kept for 30 days, the first of each week for 90, the first of each month for a year.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, TimeDelta, Utc};

use super::manifest::Manifest;

const NAME: &str = "%Y-%m-%dT%H%M%SZ";
const DAILY: TimeDelta = TimeDelta::days(30);
const WEEKLY: TimeDelta = TimeDelta::days(90);
const MONTHLY: TimeDelta = TimeDelta::days(365);

/// One backup in the folder of backups.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shelved {
    pub made_at: DateTime<Utc>,
    /// Whether the backup is complete, that is, has its manifest.
    pub whole: bool,
}

/// Returns the folder for the backup of this moment.
pub fn place(shelf: &Path, now: DateTime<Utc>) -> PathBuf {
    shelf.join(now.format(NAME).to_string())
}

/// Removes the backups whose retention is over and returns their folders. Folders with other names
/// are left alone.
pub fn clear(shelf: &Path, now: DateTime<Utc>) -> Result<Vec<PathBuf>> {
    remove(shelf, now, |_| true)
}

/// Removes incomplete backups that are more than a day old, because they may be filling the volume.
pub fn clear_broken(shelf: &Path, now: DateTime<Utc>) -> Result<Vec<PathBuf>> {
    if shelf.exists() {
        remove(shelf, now, |old| !old.whole)
    } else {
        Ok(Vec::new())
    }
}

fn remove(shelf: &Path, now: DateTime<Utc>, which: fn(&Shelved) -> bool) -> Result<Vec<PathBuf>> {
    let entries =
        std::fs::read_dir(shelf).with_context(|| format!("reading {}", shelf.display()))?;
    let there: Vec<Shelved> = entries
        .flatten()
        .filter_map(|entry| shelved(&entry.path()))
        .collect();
    let old = outdated(&there, now).into_iter().filter(which);
    let gone: Vec<PathBuf> = old.map(|old| place(shelf, old.made_at)).collect();
    for dir in &gone {
        std::fs::remove_dir_all(dir).with_context(|| format!("removing {}", dir.display()))?;
    }
    Ok(gone)
}

fn shelved(dir: &Path) -> Option<Shelved> {
    let made_at = NaiveDateTime::parse_from_str(dir.file_name()?.to_str()?, NAME)
        .ok()?
        .and_utc();
    Some(Shelved {
        made_at,
        whole: Manifest::is_in(dir),
    })
}

/// Returns the backups that need not be kept. The newest complete one is always kept.
pub fn outdated(there: &[Shelved], now: DateTime<Utc>) -> Vec<Shelved> {
    let mut whole: Vec<DateTime<Utc>> = there
        .iter()
        .filter(|one| one.whole)
        .map(|one| one.made_at)
        .collect();
    whole.sort_unstable();
    let newest = whole.last().copied();
    let is_first = |at: DateTime<Utc>, span: fn(NaiveDate) -> (i32, u32)| {
        whole
            .iter()
            .find(|other| span(other.date_naive()) == span(at.date_naive()))
            == Some(&at)
    };
    let is_kept = |one: &Shelved| {
        let (at, age) = (one.made_at, now - one.made_at);
        match one.whole {
            // An incomplete backup may still be in progress.
            false => age <= TimeDelta::days(1),
            true => {
                age <= DAILY
                    || age <= WEEKLY && is_first(at, week)
                    || age <= MONTHLY && is_first(at, month)
                    || newest == Some(at)
            }
        }
    };
    there.iter().filter(|one| !is_kept(one)).copied().collect()
}

fn week(day: NaiveDate) -> (i32, u32) {
    (day.iso_week().year(), day.iso_week().week())
}

fn month(day: NaiveDate) -> (i32, u32) {
    (day.year(), day.month())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> DateTime<Utc> {
        text.parse().unwrap()
    }

    #[test] // DEP-31
    fn a_backup_a_day_leaves_thirty_days_then_weeks_then_months() {
        let mut there: Vec<Shelved> = Vec::new();
        // Simulates one day after the other, because a backup that was removed stays removed.
        for day in 0..500 {
            let now = at("2025-01-01T03:00:00Z") + TimeDelta::days(day);
            there.push(Shelved {
                made_at: now,
                whole: true,
            });
            let gone = outdated(&there, now);
            there.retain(|one| !gone.contains(one));
        }
        let now = at("2025-01-01T03:00:00Z") + TimeDelta::days(499);
        let ages: Vec<i64> = there
            .iter()
            .map(|one| (now - one.made_at).num_days())
            .collect();
        let between =
            |from: i64, to: i64| ages.iter().filter(|age| (from..=to).contains(*age)).count();
        assert_eq!(between(0, 30), 31);
        // Of the backups 31 to 90 days old, those of Mondays and of each month's first day are
        // left.
        assert_eq!(
            there
                .iter()
                .filter(|one| (31..=90).contains(&(now - one.made_at).num_days()))
                .count(),
            11
        );
        let months: Vec<String> = there
            .iter()
            .filter(|one| (now - one.made_at).num_days() > 90)
            .map(|one| one.made_at.format("%m-%d").to_string())
            .collect();
        assert_eq!(
            months,
            [
                "06-01", "07-01", "08-01", "09-01", "10-01", "11-01", "12-01", "01-01", "02-01"
            ]
        );
        assert!(ages.iter().all(|age| *age <= 365));
    }

    #[test] // DEP-31
    fn the_newest_stays_however_old_and_what_broke_off_goes_after_a_day() {
        let now = at("2026-11-23T03:00:00Z");
        let old = Shelved {
            made_at: at("2024-01-01T03:00:00Z"),
            whole: true,
        };
        let broken = Shelved {
            made_at: at("2026-11-21T03:00:00Z"),
            whole: false,
        };
        let under_way = Shelved {
            made_at: at("2026-11-23T02:59:00Z"),
            whole: false,
        };
        assert_eq!(outdated(&[old, broken, under_way], now), [broken]);
    }

    #[test] // DEP-31
    fn only_folders_that_are_named_as_backups_are_removed() {
        let scratch = seven_testkit::Scratch::new("shelf").unwrap();
        let now = at("2026-11-23T03:00:00Z");
        let broken = place(scratch.path(), now - TimeDelta::days(2));
        assert!(broken.ends_with("2026-11-21T030000Z"));
        for dir in [
            broken.clone(),
            place(scratch.path(), now),
            scratch.path().join("2020-before-upgrade"),
        ] {
            std::fs::create_dir(dir).unwrap();
        }
        assert_eq!(clear(scratch.path(), now).unwrap(), [broken]);
        assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 2);
    }
}
