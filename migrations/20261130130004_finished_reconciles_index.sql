-- Each entitlement is reconciled every quarter of an hour; what has ended is removed after a while.
create index fulfillment_operations_finished_reconciles on fulfillment_operations (completed_at)
    where operation = 'reconcile' and completed_at is not null;
