//! A job as the row River would write for it, for statements that insert many, or that insert inside a caller's own transaction.

use riverqueue::{
    JobArgs, UniqueOpts,
    encoding::encode_args,
    protocol::{UniqueKeyInput, unique_key, unique_states_bitmask},
};
use serde_json::{Map, Value};

use crate::QueueError;

/// The columns of `river_job` that are not defaults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkJob {
    /// `kind`
    pub kind: &'static str,
    /// `args`: JSON text exactly as River encodes it.
    pub args_json: String,
    /// `metadata`: JSON text of an object.
    pub metadata_json: String,
    /// `queue`
    pub queue: String,
    /// `max_attempts`
    pub max_attempts: i16,
    /// `unique_key`, for kinds that are unique.
    pub unique_key: Option<Vec<u8>>,
    /// `unique_states`, to be cast through `integer` to `bit(8)`.
    pub unique_states: Option<i32>,
}

/// Encodes a job the way the official client does, so that both agree about uniqueness.
///
/// # Errors
/// [`QueueError::Encoding`] when the arguments cannot be written as JSON; [`QueueError::Client`] when River refuses them.
pub fn bulk_row<A: JobArgs>(args: &A, metadata: &Map<String, Value>) -> Result<BulkJob, QueueError> {
    let encoded = encode_args(args)?;
    let options = A::default_insert_opts();
    let queue = options.queue().unwrap_or(riverqueue::QUEUE_DEFAULT).to_owned();
    let none = UniqueOpts::new();
    let unique = options.unique().unwrap_or(&none);
    let key = unique_key(&UniqueKeyInput {
        encoded_args: &encoded,
        kind: A::KIND,
        // Only keys with a period look at the time, and none of ours has one.
        now: riverqueue::jiff::Timestamp::UNIX_EPOCH,
        opts: unique,
        queue: &queue,
        scheduled_at: None,
        unique_fields: A::unique_fields(),
    })?;
    Ok(BulkJob {
        kind: A::KIND,
        args_json: encoded.get().to_owned(),
        metadata_json: serde_json::to_string(metadata)?,
        max_attempts: options
            .max_attempts()
            .and_then(|attempts| i16::try_from(attempts).ok())
            .unwrap_or(25),
        unique_states: key.is_some().then(|| i32::from(unique_states_bitmask(unique))),
        unique_key: key.map(|key| key.to_vec()),
        queue,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FulfillmentArgs;

    #[test]
    fn a_fulfillment_job_is_unique_while_it_is_live() {
        let row = bulk_row(
            &FulfillmentArgs {
                operation_id: uuid::Uuid::from_u128(1),
            },
            &Map::new(),
        )
        .unwrap();
        assert_eq!(
            (row.kind, row.queue.as_str(), row.max_attempts),
            ("fulfillment", "critical", 12)
        );
        assert_eq!(row.unique_states, Some(0b1111_0001));
        assert_eq!(row.unique_key.as_ref().map(Vec::len), Some(32));
        assert_eq!(row.metadata_json, "{}");
    }
}
