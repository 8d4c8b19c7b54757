//! Applying many events at once: folded per row in memory, then written by one statement.

use std::{
    collections::{BTreeMap, BTreeSet},
    panic::{AssertUnwindSafe, catch_unwind},
};

use domain::log::Recorded;
use sqlx::PgConnection;
use uuid::Uuid;

use crate::{
    error::Stop,
    projection::{Projection, Row, RowChange, Unfit},
};

/// Applies events to the rows that the search path shows. Events before one that cannot be projected are applied; that one is answered.
///
/// Repeating it changes nothing: every row knows its last event.
///
/// # Errors
/// What the database says; nothing was written then.
pub async fn apply_in<P: Projection>(
    connection: &mut PgConnection,
    events: &[Recorded<P::Event>],
) -> Result<Option<Stop>, sqlx::Error> {
    let context = P::context_in(connection, events).await?;
    let (changes, mut stop) = changes_of::<P>(events, &context);
    let rows = P::load_in(connection, &keys_to_load(&changes)).await?;
    let mut fold = Fold::<P> {
        rows: rows.into_iter().map(|row| (row.key(), row)).collect(),
        changed: BTreeSet::new(),
    };
    for (position, change) in changes {
        if let Err(unfit) = fold.apply(position, change) {
            stop = Some(stop_at(position, unfit));
            break;
        }
    }
    let rows = fold.changed();
    if !rows.is_empty() {
        P::save_in(connection, &rows).await?;
    }
    Ok(stop)
}

type Change<P> = (i64, RowChange<<P as Projection>::Row>);

fn changes_of<P: Projection>(events: &[Recorded<P::Event>], context: &P::Context) -> (Vec<Change<P>>, Option<Stop>) {
    let mut changes = Vec::with_capacity(events.len());
    for event in events {
        // A panic is a defect of the projection; it stops this read model at this event and nothing else of the process.
        let change = catch_unwind(AssertUnwindSafe(|| P::change(event, context))).unwrap_or_else(|_| Err(panicked()));
        match change {
            Ok(RowChange::Nothing) => {}
            Ok(change) => changes.push((event.position, change)),
            Err(unfit) => return (changes, Some(stop_at(event.position, unfit))),
        }
    }
    (changes, None)
}

/// Keys whose row must exist before: those whose first change is not the one that makes them.
fn keys_to_load<R: Row>(changes: &[(i64, RowChange<R>)]) -> Vec<Uuid> {
    let mut made = BTreeSet::new();
    let mut wanted = BTreeSet::new();
    for (_, change) in changes {
        match change {
            RowChange::Nothing => {}
            RowChange::Insert(row) => {
                made.insert(row.key());
            }
            RowChange::Amend(key, _) => {
                if !made.contains(key) {
                    wanted.insert(*key);
                }
            }
        }
    }
    wanted.into_iter().collect()
}

struct Fold<P: Projection> {
    rows: BTreeMap<Uuid, P::Row>,
    changed: BTreeSet<Uuid>,
}

impl<P: Projection> Fold<P> {
    fn apply(&mut self, position: i64, change: RowChange<P::Row>) -> Result<(), Unfit> {
        match change {
            RowChange::Nothing => {}
            RowChange::Insert(row) => {
                let key = row.key();
                if self.rows.get(&key).is_none_or(|known| known.last_position() < position) {
                    self.rows.insert(key, row);
                    self.changed.insert(key);
                }
            }
            RowChange::Amend(key, amendment) => {
                let row = self
                    .rows
                    .get_mut(&key)
                    .ok_or_else(|| Unfit::unknown(&format!("row {key}")))?;
                if row.last_position() < position {
                    catch_unwind(AssertUnwindSafe(|| amendment(row))).map_err(|_| panicked())?;
                    row.move_to(position);
                    self.changed.insert(key);
                }
            }
        }
        Ok(())
    }

    fn changed(mut self) -> Vec<P::Row> {
        self.changed.iter().filter_map(|key| self.rows.remove(key)).collect()
    }
}

fn panicked() -> Unfit {
    Unfit {
        code: "projection_panicked",
        detail: "the projection panicked".to_owned(),
    }
}

fn stop_at(position: i64, unfit: Unfit) -> Stop {
    Stop {
        position,
        code: unfit.code,
        detail: unfit.detail,
    }
}
