//! `events tail|show`: the log as it is stored. Payloads stay hidden unless asked for, and nothing from outside reaches the terminal raw.

use std::{path::PathBuf, process::ExitCode, time::Duration};

use serde_json::{Map, Value, json};
use sqlx::PgPool;
use store::{
    event_log::{StoredEvent, read_last, read_range, read_stream},
    high_water::Fence,
    verify_chain,
};

use crate::{cli::EventsCommand, commands::say, config::Config, failure::Failure, wiring::database::Database};

/// Events read at once.
const PAGE: i64 = 500;

/// How events are shown.
#[derive(Clone, Copy)]
struct View {
    payload: bool,
    json: bool,
}

pub(super) async fn run(command: EventsCommand, config: Config, data_dir: PathBuf) -> Result<ExitCode, Failure> {
    let database = Database::find(&config, &data_dir).await?;
    let (pool, _mode) = database.checked_pool("events", 2).await?;
    match command {
        EventsCommand::Tail {
            count,
            follow,
            payload,
            json,
        } => {
            let view = View { payload, json };
            let newest = read_last(&pool, i64::from(count)).await?;
            newest.iter().for_each(|event| show(event, view));
            if follow {
                let after = newest.last().map_or(0, |event| event.position);
                follow_log(&pool, after, view).await?;
            }
            Ok(ExitCode::SUCCESS)
        }
        EventsCommand::Show {
            aggregate_type,
            id,
            payload,
            json,
        } => show_stream(&pool, &aggregate_type, &id.to_string(), View { payload, json }).await,
    }
}

async fn show_stream(pool: &PgPool, aggregate_type: &str, id: &str, view: View) -> Result<ExitCode, Failure> {
    let mut after = 0;
    loop {
        let page = read_stream(pool, aggregate_type, id, after, PAGE).await?;
        let Some(last) = page.last() else { break };
        page.iter().for_each(|event| show(event, view));
        after = last.sequence;
    }
    if after == 0 {
        return Err(Failure::No(format!("there is no stream {aggregate_type}/{id}")));
    }
    let report = verify_chain(pool, aggregate_type, id).await?;
    if view.json {
        say(&json!({"chain": {"intact": report.is_intact(), "foreign": report.foreign, "mismatched": report.mismatched, "missing": report.missing}})
            .to_string());
    } else if report.is_intact() {
        say(&format!(
            "chain: linked, {} events, {} foreign",
            report.events,
            report.foreign.len()
        ));
    } else {
        say(&format!(
            "chain: BROKEN, mismatched {:?}, missing {:?}",
            report.mismatched, report.missing
        ));
    }
    Ok(if report.is_intact() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(1)
    })
}

/// Goes on with events to come, behind the fence: a late commit is not skipped.
async fn follow_log(pool: &PgPool, mut after: i64, view: View) -> Result<(), Failure> {
    let mut connection = pool.acquire().await?;
    let mut fence = Fence::default();
    loop {
        tokio::select! {
            _ = tokio::signal::ctrl_c() => return Ok(()),
            () = tokio::time::sleep(Duration::from_millis(200)) => {}
        }
        let settled = fence.look(&mut connection).await?;
        while after < settled {
            let page = read_range(pool, after, settled, PAGE).await?;
            page.iter().for_each(|event| show(event, view));
            after = page.last().map_or(settled, |event| event.position);
        }
    }
}

fn show(event: &StoredEvent, view: View) {
    let text = |name: &str| event.metadata.get(name).and_then(Value::as_str).unwrap_or_default();
    if view.json {
        let mut line = Map::new();
        line.insert("position".to_owned(), event.position.into());
        line.insert(
            "stream".to_owned(),
            format!("{}/{}", event.aggregate_type, event.aggregate_id).into(),
        );
        line.insert("sequence".to_owned(), event.sequence.into());
        line.insert("type".to_owned(), event.event_type.as_str().into());
        line.insert("version".to_owned(), event.event_version.as_str().into());
        line.insert("recordedAt".to_owned(), event.recorded_at.to_rfc3339().into());
        line.insert("metadata".to_owned(), event.metadata.clone());
        if view.payload {
            line.insert("payload".to_owned(), event.payload.clone());
        }
        return say(&Value::Object(line).to_string());
    }
    say(&format!(
        "{:>10} {} {}/{} #{} {} by {} ({})",
        event.position,
        event.recorded_at.format("%Y-%m-%d %H:%M:%S%.3f"),
        plain(&event.aggregate_type),
        plain(&event.aggregate_id),
        event.sequence,
        plain(&event.event_type),
        plain(text("actor")),
        plain(text("correlationId")),
    ));
    if view.payload {
        say(&format!("           {}", plain(&event.payload.to_string())));
    }
}

/// Text from outside without control characters: a terminal obeys those.
pub(super) fn plain(text: &str) -> String {
    text.chars()
        .map(|letter| if letter.is_control() { '\u{fffd}' } else { letter })
        .collect()
}

#[cfg(test)]
mod tests {
    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(super::plain("a\u{1b}[2Jb\nc\u{9b}"), "a\u{fffd}[2Jb\u{fffd}c\u{fffd}");
    }
}
