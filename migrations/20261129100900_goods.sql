-- When a delivery is next due, for the schedule pass. The Delivery stream is the truth about what is owed and what happened.
create table goods_deliveries (
    order_id uuid primary key,
    provider text not null,
    status text not null default 'pending'
        constraint goods_deliveries_status_known
            check (status in ('pending', 'submitted', 'delivered', 'failed', 'cancelled', 'needs_review')),
    attempt_count integer not null default 0,
    next_attempt_at timestamptz not null default clock_timestamp(),
    failure_class text,
    last_error_code text,
    provider_reference text,
    correlation_id text not null,
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp()
);

create index goods_deliveries_due on goods_deliveries (next_attempt_at) where status in ('pending', 'submitted');

-- Who receives the goods: personal data, so it is not in the log. Erasing the row leaves the facts of the delivery intact.
create table delivery_recipients (
    order_id uuid primary key,
    username text not null,
    telegram_user_id bigint,
    created_at timestamptz not null default clock_timestamp()
);

-- What has been spent at a provider, for the ceiling that is checked before a submission.
create table goods_spending (
    order_id uuid not null,
    attempt integer not null,
    provider text not null,
    cost_minor bigint not null
        constraint goods_spending_cost_not_negative check (cost_minor >= 0),
    currency text not null,
    reserved_at timestamptz not null default clock_timestamp(),
    -- false once the attempt is known not to have been executed
    counted boolean not null default true,
    constraint goods_spending_pkey primary key (order_id, attempt)
);

create index goods_spending_window on goods_spending (provider, currency, reserved_at) where counted;

grant select, insert, update, delete on goods_deliveries, delivery_recipients, goods_spending to omniflow_runtime;
