create table read.operations_view (
    operation_id uuid primary key,
    entitlement_id uuid not null,
    subscription_id uuid not null,
    order_id uuid,
    operation text not null,
    state text not null,
    version bigint not null,
    error_code text,
    attempts integer,
    correlation_id text not null,
    opened_at timestamptz not null,
    closed_at timestamptz,
    last_position bigint not null
);
alter table read.operations_view owner to omniflow_runtime;
create index operations_view_entitlement on read.operations_view (entitlement_id);
create index operations_view_state on read.operations_view (state, opened_at);
