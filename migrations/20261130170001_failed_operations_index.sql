-- Failed operations are counted for metrics every few seconds, beside any number that succeeded.
create index fulfillment_operations_failed_since on fulfillment_operations (updated_at) where status = 'failed';
