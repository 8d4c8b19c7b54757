//! Whether somebody cleans up and watches: the faults of an installation that works, and that nobody notices for weeks.

use std::time::Duration;

use chrono::{DateTime, Utc};
use ports::clock::{Clock as _, SystemClock};
use store::{
    PoolOptions, StoreError, general_pool,
    inspection::RiverTables,
    maintenance::{Watched, watched},
    pass_runs::{self, PassRow},
};

use super::{Finding, checks::failed};

/// The pass that removes what nobody needs any more.
const RETENTION: &str = "retention";
/// Three missed runs are no delay.
const RUNS_MISSED: u32 = 3;
/// Samples are taken every half minute by default; a process that starts anew may miss some.
const SAMPLES_MISSED: i64 = 5;

/// `cleaning` is the pause between two runs of `retention`.
pub(super) async fn all(options: &PoolOptions, cleaning: Duration) -> Vec<Finding> {
    let pool = match general_pool(options).await {
        Ok(pool) => pool,
        Err(error) => return vec![failed("retention", &error), failed("maintenance", &error)],
    };
    let or_failed = |check, found: Result<Finding, StoreError>| found.unwrap_or_else(|error| failed(check, &error));
    vec![
        or_failed(
            "retention",
            pass_runs::list(&pool).await.map(|runs| {
                let last = runs.iter().find(|run| run.task == RETENTION);
                retention(last, cleaning, SystemClock.now())
            }),
        ),
        or_failed("maintenance", watched(&pool).await.map(detection)),
    ]
}

/// `None` where there is nothing of River yet: the schema's check says what to do then.
pub(super) fn river(tables: &RiverTables) -> Option<Finding> {
    if tables.present.is_empty() {
        return None;
    }
    if tables.missing.is_empty() {
        return Some(Finding::good("river", "all of River's tables are there"));
    }
    Some(Finding::bad(
        "river",
        format!(
            "River's tables are there in part: {} without {}",
            tables.present.join(", "),
            tables.missing.join(", ")
        ),
        "a line made by hand has to be whole: finish it with River's own migrator, or restore the missing tables; only tables that hold no job may be dropped and made anew by `omniflow db migrate`",
    ))
}

fn retention(last: Option<&PassRow>, cleaning: Duration, now: DateTime<Utc>) -> Finding {
    let advice = "run a worker: only workers clean up, and without it webhooks, outbox rows and drifts pile up";
    let Some(last) = last else {
        return Finding::warning("retention", "nothing was ever cleaned up", advice);
    };
    let stale = cleaning.saturating_mul(RUNS_MISSED);
    match last.last_success_at {
        Some(at) if (now - at).to_std().is_ok_and(|age| age > stale) => Finding::warning(
            "retention",
            format!(
                "the last clean-up that went well began {}",
                at.format("%Y-%m-%d %H:%MZ")
            ),
            advice,
        ),
        None if last.state != "running" => Finding::warning(
            "retention",
            "no clean-up ever went well",
            "see `omniflow passes list` and the log of the workers",
        ),
        Some(_) | None => Finding::good("retention", "something cleans up"),
    }
}

fn detection(last: Option<Watched>) -> Finding {
    let advice = "run an API: only it watches the panel and the database, and closes the shop while they are down";
    match last {
        None => Finding::warning("maintenance", "no process ever watched the dependencies", advice),
        Some(last) if last.age_seconds > i64::from(last.every_seconds).saturating_mul(SAMPLES_MISSED) => {
            Finding::warning(
                "maintenance",
                format!("the dependencies were looked at {} s ago", last.age_seconds),
                advice,
            )
        }
        Some(last) if !last.automatic => Finding::good(
            "maintenance",
            "the dependencies are watched; windows are opened by hand only",
        ),
        Some(_) => Finding::good("maintenance", "the dependencies are watched"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Level;

    fn ran(hours_ago: Option<i64>, state: &str) -> PassRow {
        let now = SystemClock.now();
        PassRow {
            task: RETENTION.to_owned(),
            started_at: now,
            finished_at: None,
            state: state.to_owned(),
            detail: None,
            runner: None,
            last_success_at: hours_ago.map(|hours| now - chrono::TimeDelta::hours(hours)),
        }
    }

    #[test]
    fn an_installation_that_nobody_cleans_is_warned_of() {
        let found = |last: Option<&PassRow>| retention(last, Duration::from_secs(3_600), SystemClock.now());
        assert_eq!(found(None).level, Level::Warning);
        assert_eq!(found(Some(&ran(Some(4), "succeeded"))).level, Level::Warning);
        assert_eq!(found(Some(&ran(None, "failed"))).level, Level::Warning);
        for fine in [ran(Some(1), "succeeded"), ran(Some(1), "failed"), ran(None, "running")] {
            assert_eq!(found(Some(&fine)).level, Level::Good);
        }
    }

    #[test]
    fn an_installation_that_nobody_watches_is_warned_of() {
        let at = |age_seconds, automatic| Watched {
            age_seconds,
            automatic,
            every_seconds: 30,
        };
        assert_eq!(detection(None).level, Level::Warning);
        assert_eq!(detection(Some(at(151, true))).level, Level::Warning);
        assert_eq!(detection(Some(at(150, true))).level, Level::Good);
        assert!(detection(Some(at(0, false))).said.contains("by hand"));
    }

    #[test]
    fn a_line_in_part_is_bad_and_none_is_the_schemas_affair() {
        let tables = |present: &[&str], missing: &[&str]| RiverTables {
            present: present.iter().map(|name| (*name).to_owned()).collect(),
            missing: missing.iter().map(|name| (*name).to_owned()).collect(),
        };
        assert_eq!(river(&tables(&[], &["river_job"])), None);
        assert_eq!(river(&tables(&["river_job"], &[])).unwrap().level, Level::Good);
        let part = river(&tables(&["river_job"], &["river_leader", "river_queue"])).unwrap();
        assert_eq!(part.level, Level::Bad);
        assert!(part.said.contains("river_leader, river_queue") && !part.advice.is_empty());
    }
}
