create table read.entitlements (
    entitlement_id uuid primary key,
    subscription_id uuid not null,
    customer_id uuid not null,
    plan_code text not null,
    starts_at timestamptz not null,
    ends_at timestamptz not null,
    grace_seconds bigint not null,
    traffic_allowance_bytes bigint,
    device_limit integer,
    squad_ids uuid[] not null,
    desired_version bigint not null,
    applied_version bigint not null,
    remote_user_id bigint,
    remote_status text,
    open_operations integer not null,
    created_at timestamptz not null,
    last_position bigint not null
);
alter table read.entitlements owner to omniflow_runtime;
create index entitlements_customer on read.entitlements (customer_id);
create index entitlements_subscription on read.entitlements (subscription_id);
