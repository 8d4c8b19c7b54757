//! Handing rows over: one statement inserts all effects of a batch and marks its rows.

use std::collections::HashSet;

use store::outbox::Pending;

use super::{Effect, PublisherError, Refused, holder::Holder};

/// A row with what handing it over does.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) row: Pending,
    pub(super) effects: Vec<Effect>,
}

/// A row that cannot be handed over.
#[derive(Debug)]
pub(super) struct Bad {
    pub(super) row: Pending,
    pub(super) refused: Refused,
}

/// What became of a batch.
#[derive(Debug, Default)]
pub(super) struct HandedOver {
    pub(super) published: u64,
    pub(super) bad: Vec<Bad>,
    /// Ids of rows left out because an earlier row of their stream is bad.
    pub(super) behind: Vec<i64>,
}

/// Hands a batch over. When the database refuses the data of it, halves are tried until the row is known; any other error counts against no row.
pub(super) async fn hand_over(holder: &mut Holder, rows: Vec<Ready>) -> Result<HandedOver, PublisherError> {
    let mut done = HandedOver::default();
    let mut blocked = HashSet::new();
    // A stack of stretches, the earliest on top: rows of a stream are tried in order.
    let mut stretches = vec![rows];
    while let Some(rows) = stretches.pop() {
        let (mut rows, behind): (Vec<_>, Vec<_>) =
            rows.into_iter().partition(|ready| !blocked.contains(&ready.row.stream));
        done.behind.extend(behind.iter().map(|ready| ready.row.id));
        if rows.is_empty() {
            continue;
        }
        match statement(holder, &rows).await {
            Ok(answer) => {
                holder.is_mine(answer.backend)?;
                tracing::trace!(rows = answer.published, queues = answer.woken, "handed over");
                done.published = done
                    .published
                    .saturating_add(u64::try_from(answer.published).unwrap_or(0));
            }
            Err(error) => {
                let refused = refusal(&error).ok_or(error)?;
                let later = rows.split_off(rows.len() / 2);
                if rows.is_empty() {
                    for Ready { row, .. } in later {
                        blocked.insert(row.stream.clone());
                        done.bad.push(Bad {
                            row,
                            refused: refused.clone(),
                        });
                    }
                } else {
                    stretches.push(later);
                    stretches.push(rows);
                }
            }
        }
    }
    Ok(done)
}

/// SQLSTATE classes 22 and 23 are about the data; everything else is about the moment.
fn refusal(error: &sqlx::Error) -> Option<Refused> {
    let refusal = error.as_database_error()?;
    let state = refusal.code()?;
    let code = match state.get(..2)? {
        "22" => "row_data_refused",
        "23" => "row_constraint_refused",
        _ => return None,
    };
    Some(Refused {
        code,
        detail: format!("SQLSTATE {state} {}", refusal.constraint().unwrap_or_default())
            .trim_end()
            .to_owned(),
    })
}

struct Answer {
    published: i64,
    backend: i32,
    /// Queues whose workers were told.
    woken: i64,
}

#[expect(
    clippy::as_conversions,
    reason = "this is how sqlx is told that an array's elements may be null"
)]
async fn statement(holder: &mut Holder, rows: &[Ready]) -> Result<Answer, sqlx::Error> {
    let backend = holder.backend();
    let ids: Vec<i64> = rows.iter().map(|ready| ready.row.id).collect();
    let jobs = Jobs::of(rows);
    let notices = Notices::of(rows);
    sqlx::query_as!(
        Answer,
        r#"with handed as (
             update outbox set published_at = clock_timestamp(), parked = false
              where id = any($1) and published_at is null and pg_backend_pid() = $2
             returning id),
           job as (
             insert into public.river_job (args, kind, max_attempts, metadata, queue, unique_key, unique_states)
             select j.args::jsonb, j.kind, j.max_attempts, j.metadata::jsonb, j.queue, j.unique_key, j.unique_states::bit(8)
               from unnest($3::bigint[], $4::text[], $5::text[], $6::smallint[], $7::text[], $8::text[], $9::bytea[], $10::integer[])
                    with ordinality as j(row_id, args, kind, max_attempts, metadata, queue, unique_key, unique_states, place)
               join handed on handed.id = j.row_id order by j.place
             on conflict (unique_key) where unique_key is not null and unique_states is not null
                    and public.river_job_state_in_bitmask(unique_states, state) do nothing
             returning queue),
           notice as (
             insert into operator_notices (kind, dedupe_key, payload)
             select n.kind, n.dedupe_key, n.payload::jsonb
               from unnest($11::bigint[], $12::text[], $13::text[], $14::text[]) with ordinality as n(row_id, kind, dedupe_key, payload, place)
               join handed on handed.id = n.row_id order by n.place
             on conflict (kind, dedupe_key) do nothing)
           select (select count(*) from handed) as "published!", pg_backend_pid() as "backend!",
                  (select count(pg_notify('public.river_insert', json_build_object('queue', q.queue)::text))
                     from (select distinct queue from job) q) as "woken!""#,
        &ids,
        backend,
        &jobs.row_ids,
        &jobs.args,
        &jobs.kinds,
        &jobs.max_attempts,
        &jobs.metadata,
        &jobs.queues,
        &jobs.unique_keys as &[Option<Vec<u8>>],
        &jobs.unique_states as &[Option<i32>],
        &notices.row_ids,
        &notices.kinds,
        &notices.dedupe_keys,
        &notices.payloads,
    )
    .fetch_one(holder.connection())
    .await
}

#[derive(Default)]
struct Jobs {
    row_ids: Vec<i64>,
    args: Vec<String>,
    kinds: Vec<String>,
    max_attempts: Vec<i16>,
    metadata: Vec<String>,
    queues: Vec<String>,
    unique_keys: Vec<Option<Vec<u8>>>,
    unique_states: Vec<Option<i32>>,
}

impl Jobs {
    fn of(rows: &[Ready]) -> Self {
        let mut jobs = Self::default();
        for Ready { row, effects } in rows {
            for effect in effects {
                if let Effect::Job(job) = effect {
                    jobs.row_ids.push(row.id);
                    jobs.args.push(job.args_json.clone());
                    jobs.kinds.push(job.kind.to_owned());
                    jobs.max_attempts.push(job.max_attempts);
                    jobs.metadata.push(job.metadata_json.clone());
                    jobs.queues.push(job.queue.clone());
                    jobs.unique_keys.push(job.unique_key.clone());
                    jobs.unique_states.push(job.unique_states);
                }
            }
        }
        jobs
    }
}

#[derive(Default)]
struct Notices {
    row_ids: Vec<i64>,
    kinds: Vec<String>,
    dedupe_keys: Vec<String>,
    payloads: Vec<String>,
}

impl Notices {
    fn of(rows: &[Ready]) -> Self {
        let mut notices = Self::default();
        for Ready { row, effects } in rows {
            for effect in effects {
                if let Effect::Notice(notice) = effect {
                    notices.row_ids.push(row.id);
                    notices.kinds.push(notice.kind.to_owned());
                    notices.dedupe_keys.push(notice.dedupe_key.clone());
                    notices.payloads.push(notice.payload.to_string());
                }
            }
        }
        notices
    }
}
