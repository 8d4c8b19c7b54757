create table read.deliveries (
    order_id uuid primary key,
    customer_id uuid not null,
    provider text not null,
    product_code text not null,
    state text not null,
    attempts integer not null,
    provider_reference text,
    failure_class text,
    error_code text,
    refund_owed_minor bigint not null default 0,
    currency text not null,
    owed_at timestamptz not null,
    closed_at timestamptz,
    last_position bigint not null
);
alter table read.deliveries owner to omniflow_runtime;
create index deliveries_state on read.deliveries (state, owed_at);
