-- Operators list failed operations, newest first; there are few among very many that succeeded. Ids of operations are UUIDv7: their order is
-- that of opening.
create index fulfillment_operations_failed on fulfillment_operations (operation_id) where status = 'failed';
