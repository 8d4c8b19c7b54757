create table read.orders (
    order_id uuid primary key,
    customer_id uuid not null,
    operation text not null,
    state text not null,
    currency text not null,
    subtotal_minor bigint not null,
    discount_minor bigint not null,
    wallet_minor bigint not null,
    external_minor bigint not null,
    paid_minor bigint not null,
    entitlement_id uuid,
    subscription_id uuid,
    expires_at timestamptz not null,
    created_at timestamptz not null,
    paid_at timestamptz,
    fulfilled_at timestamptz,
    -- how many payments were seen that did not settle the order (underpaid, overpaid, other currency, duplicate)
    attention_count integer not null default 0,
    last_position bigint not null
);
alter table read.orders owner to omniflow_runtime;
create index orders_customer on read.orders (customer_id, created_at desc);
create index orders_created on read.orders (created_at desc, order_id desc);
