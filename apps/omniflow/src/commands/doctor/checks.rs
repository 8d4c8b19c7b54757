//! The checks, from the connection outwards. A check that cannot be made is a finding too.

use store::{
    Mode, PoolOptions, StoreError, check_applied, general_pool,
    inspection::{OpenTransaction, ServerFacts, keeps_its_session, oldest_writer, river_tables, server_facts},
    panel_hints::{Lately, lately},
};

use super::{Finding, upkeep};
use crate::{config::Config, wiring::database::Database};

/// The oldest server that the product supports.
const OLDEST_MAJOR: i32 = cluster::OLDEST_MAJOR.cast_signed();
/// Readers of the log wait for an open writing transaction; ours take milliseconds.
const LONG_TRANSACTION_SECONDS: i64 = 5;

pub(super) async fn all(database: &Database, config: &Config) -> Vec<Finding> {
    let cleaning = config.passes.retention_every;
    let options = database.pool_options("doctor", 2);
    let mut findings = Vec::new();
    match keeps_its_session(&options).await {
        Ok(keeps) => findings.push(session(keeps)),
        Err(error) => return vec![unreachable(&error)],
    }
    match river_tables(&options).await {
        Ok(tables) => findings.extend(upkeep::river(&tables)),
        Err(error) => findings.push(failed("river", &error)),
    }
    match schema(&options).await {
        Ok(mode) => {
            findings.push(Finding::good(
                "schema",
                format!("every migration is applied; a {mode} installation"),
            ));
            let is_deaf = mode == Mode::Live && config.panel.is_some() && config.panel_webhook_secret.is_none();
            match panel_hints(&options).await {
                Ok(lately) => findings.push(panel_webhooks(is_deaf, lately)),
                Err(error) => findings.push(failed("panel hints", &error)),
            }
        }
        Err(error) => {
            findings.push(Finding::bad("schema", error.to_string(), "run `omniflow db migrate`"));
            return findings;
        }
    }
    match server_facts(&options).await {
        Ok(facts) => findings.extend(server(&facts)),
        Err(error) => findings.push(failed("server", &error)),
    }
    match open_transaction(&options).await {
        Ok(open) => findings.push(transaction(open.as_ref())),
        Err(error) => findings.push(failed("transactions", &error)),
    }
    findings.extend(upkeep::all(&options, cleaning).await);
    findings
}

async fn schema(options: &PoolOptions) -> Result<Mode, StoreError> {
    check_applied(&general_pool(options).await?).await
}

async fn open_transaction(options: &PoolOptions) -> Result<Option<OpenTransaction>, StoreError> {
    let pool = general_pool(options).await?;
    let mut connection = pool.acquire().await?;
    oldest_writer(&mut connection).await
}

async fn panel_hints(options: &PoolOptions) -> Result<Lately, StoreError> {
    lately(&general_pool(options).await?).await
}

/// Hints of the panel cost a little when they are missing: the pass compares everybody anyway, only later.
fn panel_webhooks(is_deaf: bool, lately: Lately) -> Finding {
    const CHECK: &str = "panel hints";
    let Lately {
        authentic,
        stale,
        forged,
    } = lately;
    if is_deaf {
        return Finding::warning(
            CHECK,
            "changes made at the panel are noticed by the pass only, within a quarter of an hour",
            "set APP_REMNAWAVE_WEBHOOK_SECRET to the panel's WEBHOOK_SECRET_HEADER, and its WEBHOOK_URL to <api>/v1/panel/webhooks/remnawave",
        );
    }
    if forged > 0 && authentic == 0 {
        return Finding::warning(
            CHECK,
            format!("{forged} webhooks of the last day had a wrong signature, and none a right one"),
            "compare APP_REMNAWAVE_WEBHOOK_SECRET with the panel's WEBHOOK_SECRET_HEADER",
        );
    }
    if stale.saturating_mul(2) > authentic {
        return Finding::warning(
            CHECK,
            format!("{stale} of {authentic} webhooks of the last day were of another time"),
            "set the clocks of this machine and of the panel's by NTP",
        );
    }
    Finding::good(CHECK, format!("{authentic} webhooks of the panel in the last day"))
}

fn unreachable(error: &StoreError) -> Finding {
    let advice = "see that the server runs, that the address is right, and that the role omniflow_runtime exists (`omniflow db migrate` makes it)";
    Finding::bad("connection", error.to_string(), advice)
}

pub(super) fn failed(check: &'static str, error: &StoreError) -> Finding {
    Finding::bad(check, format!("could not be looked at: {error}"), "")
}

fn session(keeps: bool) -> Finding {
    if keeps {
        return Finding::good("connection", "keeps its server process between statements");
    }
    Finding::bad(
        "connection",
        "a pooler in transaction mode stands between: locks and notifications of a session are lost",
        "connect to the server itself, or set the pooler to session mode",
    )
}

fn server(facts: &ServerFacts) -> Vec<Finding> {
    vec![
        version(facts),
        primary(facts),
        role(facts),
        login(facts),
        durability(facts),
        neighbours(facts),
    ]
}

fn version(facts: &ServerFacts) -> Finding {
    if facts.major < OLDEST_MAJOR {
        let advice = format!("use PostgreSQL {OLDEST_MAJOR} or newer");
        return Finding::bad("version", format!("PostgreSQL {} is too old", facts.version), advice);
    }
    Finding::good("version", format!("PostgreSQL {}", facts.version))
}

fn primary(facts: &ServerFacts) -> Finding {
    if facts.in_recovery {
        return Finding::bad(
            "primary",
            "this server is a standby",
            "connect to the primary: processes write, and the log's fence needs it",
        );
    }
    Finding::good("primary", "the server takes writes")
}

fn role(facts: &ServerFacts) -> Finding {
    if facts.may_change_events {
        let said = format!("statements run as {}, which may change or remove events", facts.role);
        return Finding::bad(
            "role",
            said,
            "run `omniflow db migrate`, and revoke rights on `events` given by hand",
        );
    }
    Finding::good(
        "role",
        format!("statements run as {}, which cannot change events", facts.role),
    )
}

fn login(facts: &ServerFacts) -> Finding {
    if facts.login_is_owner {
        return Finding::warning(
            "login",
            format!(
                "processes log in as {}, the owner of the tables, and only step down from that",
                facts.login
            ),
            "for a live installation give them a login of their own: create role … login; grant omniflow_runtime to …",
        );
    }
    Finding::good(
        "login",
        format!("processes log in as {}, which owns nothing", facts.login),
    )
}

fn durability(facts: &ServerFacts) -> Finding {
    if facts.is_durable {
        return Finding::good("durability", "a commit survives a power cut");
    }
    Finding::bad(
        "durability",
        "fsync or full_page_writes is off: a power cut loses paid orders",
        "turn both on",
    )
}

fn neighbours(facts: &ServerFacts) -> Finding {
    if facts.other_databases.is_empty() {
        return Finding::good("neighbours", "no other database on this server");
    }
    Finding::warning(
        "neighbours",
        format!("other databases on this server: {}", facts.other_databases.join(", ")),
        "a long transaction in any of them delays the read models; a server of its own avoids that",
    )
}

fn transaction(open: Option<&OpenTransaction>) -> Finding {
    match open.filter(|open| open.seconds >= LONG_TRANSACTION_SECONDS) {
        None => Finding::good("transactions", "none has been open for long"),
        Some(open) => Finding::warning(
            "transactions",
            format!(
                "process {} ({:?}, database {}) has had a writing transaction open for {} s: the read models wait for it",
                open.pid, open.application, open.database, open.seconds
            ),
            format!("end it, or: select pg_terminate_backend({})", open.pid),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::doctor::Level;

    fn healthy() -> ServerFacts {
        ServerFacts {
            version: "15.18".to_owned(),
            major: 15,
            in_recovery: false,
            role: "omniflow_runtime".to_owned(),
            may_change_events: false,
            login: "shop".to_owned(),
            login_is_owner: false,
            is_durable: true,
            other_databases: Vec::new(),
        }
    }

    #[test]
    fn a_healthy_server_has_only_good_findings() {
        assert!(server(&healthy()).iter().all(|finding| finding.level == Level::Good));
    }

    #[test]
    fn every_fault_has_its_finding_with_advice() {
        let faulty = ServerFacts {
            version: "14.1".to_owned(),
            major: 14,
            in_recovery: true,
            may_change_events: true,
            login_is_owner: true,
            is_durable: false,
            other_databases: vec!["panel".to_owned()],
            ..healthy()
        };
        let findings = server(&faulty);
        assert!(
            findings
                .iter()
                .all(|finding| finding.level != Level::Good && !finding.advice.is_empty()),
            "{findings:?}"
        );
        let long = OpenTransaction {
            pid: 7,
            database: "panel".to_owned(),
            application: "psql".to_owned(),
            seconds: 60,
        };
        assert_eq!(transaction(Some(&long)).level, Level::Warning);
        assert_eq!(
            transaction(Some(&OpenTransaction { seconds: 1, ..long })).level,
            Level::Good
        );
        assert_eq!(session(false).level, Level::Bad);
        let told = |is_deaf, authentic, stale, forged| {
            let lately = Lately {
                authentic,
                stale,
                forged,
            };
            panel_webhooks(is_deaf, lately).level
        };
        for (is_deaf, authentic, stale, forged, level) in [
            (false, 0, 0, 0, Level::Good),
            (false, 10, 1, 5, Level::Good),
            (true, 0, 0, 0, Level::Warning),
            (false, 0, 0, 3, Level::Warning),
            (false, 10, 9, 0, Level::Warning),
        ] {
            assert_eq!(told(is_deaf, authentic, stale, forged), level);
        }
    }
}
