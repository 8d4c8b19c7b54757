//! One query for up to three streams and, where the request carries a key, its stored answer.
//!
//! Keyed selects joined by `union all` probe one index each and need no sort; a join on arrays would be planned anew each time.

use sqlx::PgConnection;

use crate::{codec::JsonText, idempotency::KeyedRequest};

/// A row of the load.
#[derive(Debug)]
pub(crate) struct StreamRow {
    /// Which of the asked streams, from 0; −1 is the key's row.
    pub(crate) stream: i32,
    /// Place in the stream; of the key's row, the stored status or 0.
    pub(crate) sequence: i64,
    pub(crate) position: i64,
    pub(crate) event_type: String,
    /// Of the key's row: `claimed` while a claim holds it.
    pub(crate) event_version: String,
    /// Of the key's row: the stored answer.
    pub(crate) payload: JsonText,
    /// Absent in rows of foreign writers; of the key's row, the fingerprint.
    pub(crate) hash: Option<Vec<u8>>,
    /// Only read where the hash has to be computed.
    pub(crate) metadata: Option<JsonText>,
}

/// What the query found.
#[derive(Debug)]
pub(crate) struct Found {
    /// Rows of each asked stream, by sequence.
    pub(crate) streams: Vec<Vec<StreamRow>>,
    /// The row of the key.
    pub(crate) key: Option<StreamRow>,
}

/// The statement for one stream, with the branches of further streams and the key added.
/// `$1`, `$2` are the key (null where there is none: an index probe by null reads nothing), then come three parameters a stream.
macro_rules! rows {
    ($connection:expr, $key:expr, [$($branch:literal)*], [$($bind:expr),*]) => {{
        let (principal, key) = $key;
        sqlx::query_as!(
            StreamRow,
            r#"select 0 as "stream!", sequence as "sequence!", position as "position!", event_type as "event_type!",
                event_version as "event_version!", payload as "payload!: JsonText", hash,
                case when hash is null then metadata end as "metadata: JsonText"
            from events where aggregate_type = $3 and aggregate_id = $4 and sequence > $5"#
            $(+ $branch)*
            + r#" union all
            select -1, coalesce(status, 0)::bigint, 0, '',
                case when status is null and claimed_until > clock_timestamp() then 'claimed' else '' end,
                coalesce(answer, 'null'), fingerprint, null
            from idempotency_keys where principal = $1 and key = $2"#,
            principal, key, $($bind),*
        )
        .fetch_all($connection)
        .await
    }};
}

/// Most streams of one unit of work.
pub(crate) const MOST_STREAMS: usize = 3;

/// One stream of the query, with the sequence that is known already (0: all of it).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) aggregate_type: &'a str,
    pub(crate) aggregate_id: &'a str,
    pub(crate) after: i64,
}

/// Reads the streams, at most [`MOST_STREAMS`], and the key's row.
pub(crate) async fn load(
    connection: &mut PgConnection,
    key: Option<&KeyedRequest>,
    streams: &[Wanted<'_>],
) -> Result<Vec<StreamRow>, sqlx::Error> {
    let key = (key.map(|it| it.principal.as_str()), key.map(|it| it.key.as_str()));
    match streams {
        [a] => rows!(connection, key, [], [a.aggregate_type, a.aggregate_id, a.after]),
        [a, b] => rows!(
            connection,
            key,
            [" union all
            select 1, sequence, position, event_type, event_version, payload, hash, case when hash is null then metadata end
            from events where aggregate_type = $6 and aggregate_id = $7 and sequence > $8"],
            [a.aggregate_type, a.aggregate_id, a.after, b.aggregate_type, b.aggregate_id, b.after]
        ),
        [a, b, c, ..] => rows!(
            connection,
            key,
            [" union all
            select 1, sequence, position, event_type, event_version, payload, hash, case when hash is null then metadata end
            from events where aggregate_type = $6 and aggregate_id = $7 and sequence > $8"
            " union all
            select 2, sequence, position, event_type, event_version, payload, hash, case when hash is null then metadata end
            from events where aggregate_type = $9 and aggregate_id = $10 and sequence > $11"],
            [
                a.aggregate_type, a.aggregate_id, a.after, b.aggregate_type, b.aggregate_id, b.after, c.aggregate_type,
                c.aggregate_id, c.after
            ]
        ),
        // A keyed request that touches no stream still looks its key up.
        [] => rows!(connection, key, [], ["", "", 0]),
    }
}

impl Found {
    /// Distributes the rows to their streams.
    pub(crate) fn sort(rows: Vec<StreamRow>, streams: usize) -> Self {
        let mut found = Self {
            streams: (0..streams).map(|_| Vec::new()).collect(),
            key: None,
        };
        for row in rows {
            match usize::try_from(row.stream) {
                Ok(stream) => {
                    if let Some(rows) = found.streams.get_mut(stream) {
                        rows.push(row);
                    }
                }
                Err(_) => found.key = Some(row),
            }
        }
        for rows in &mut found.streams {
            // An append of keyed index scans gives them in order; nothing in SQL promises it.
            if !rows.is_sorted_by_key(|row| row.sequence) {
                rows.sort_by_key(|row| row.sequence);
            }
        }
        found
    }
}
