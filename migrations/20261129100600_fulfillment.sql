-- Operational state of the fulfillment queue: neither a stream nor a projection (design 5). Terminal facts are events.
create table fulfillment_operations (
    operation_id uuid primary key,
    entitlement_id uuid not null,
    subscription_id uuid not null,
    order_id uuid,
    operation text not null,
    status text not null default 'pending'
        constraint fulfillment_operations_status_known
            check (status in ('pending', 'running', 'retrying', 'succeeded', 'failed', 'cancelled')),
    -- desired-state version that the operation was opened for
    version bigint not null
        constraint fulfillment_operations_version_positive check (version > 0),
    idempotency_key text not null
        constraint fulfillment_operations_idempotency_key_key unique,
    correlation_id text not null,
    effective_at timestamptz,
    attempt_count integer not null default 0
        constraint fulfillment_operations_attempts_not_negative check (attempt_count >= 0),
    next_attempt_at timestamptz not null default clock_timestamp(),
    last_error_code text,
    -- a request of this operation was sent and its answer never came: it may have landed, or may still land
    unanswered boolean not null default false,
    cancel_requested boolean not null default false,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    completed_at timestamptz,
    constraint fulfillment_operations_completed
        check ((completed_at is not null) = (status in ('succeeded', 'failed', 'cancelled')))
);

create index fulfillment_operations_entitlement on fulfillment_operations (entitlement_id, created_at);
create index fulfillment_operations_due on fulfillment_operations (next_attempt_at)
    where status in ('pending', 'running', 'retrying');
create unique index fulfillment_operations_one_open_reconcile on fulfillment_operations (subscription_id)
    where operation = 'reconcile' and status in ('pending', 'running', 'retrying');

-- One writer to the panel per subscription at a time. Times are the database's.
create table subscription_leases (
    subscription_id uuid primary key,
    token uuid not null,
    operation_id uuid not null,
    expires_at timestamptz not null,
    -- null until its holder recorded an outcome: a lease that ends unreleased may have a request in flight
    released_at timestamptz
);

-- What happened to an operation, without request or response bodies. A repeated hold, wait, snooze or refusal is one row with a count.
create table fulfillment_history (
    operation_id uuid not null references fulfillment_operations (operation_id),
    entry integer not null,
    kind text not null,
    status text not null,
    attempt integer not null,
    error_code text,
    correlation_id text not null,
    repeat_count integer not null default 1,
    first_at timestamptz not null default clock_timestamp(),
    last_at timestamptz not null default clock_timestamp(),
    constraint fulfillment_history_pkey primary key (operation_id, entry)
);

grant select, insert, update, delete on fulfillment_operations, subscription_leases, fulfillment_history to omniflow_runtime;
