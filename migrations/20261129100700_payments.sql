-- A request for money at a provider. The facts (opened, observed, settled) are events of the Order; this row is how a webhook or a poll finds it.
create table payment_intents (
    intent_id uuid primary key,
    order_id uuid not null,
    -- the entitlement that settling will grant or extend; null for a goods order
    entitlement_id uuid,
    provider text not null,
    status text not null
        constraint payment_intents_status_known
            check (status in ('pending', 'requires_action', 'processing', 'succeeded', 'failed', 'cancelled', 'expired')),
    amount_minor bigint not null
        constraint payment_intents_amount_positive check (amount_minor > 0),
    currency text not null
        constraint payment_intents_currency_shape check (currency ~ '^[A-Z]{3}$'),
    idempotency_key text not null,
    provider_reference text,
    checkout_url text,
    poll_failures integer not null default 0,
    next_poll_at timestamptz not null default clock_timestamp(),
    created_at timestamptz not null default clock_timestamp(),
    updated_at timestamptz not null default clock_timestamp(),
    constraint payment_intents_provider_key unique (provider, idempotency_key),
    constraint payment_intents_provider_reference_key unique (provider, provider_reference)
);

create index payment_intents_order on payment_intents (order_id, created_at);
create index payment_intents_poll on payment_intents (next_poll_at)
    where status in ('pending', 'processing') and provider_reference is not null;

-- One decision by a person about a manual payment.
create table manual_decisions (
    decision_id uuid primary key,
    intent_id uuid not null
        constraint manual_decisions_intent_key unique references payment_intents (intent_id),
    decision text not null
        constraint manual_decisions_decision_known check (decision in ('approved', 'rejected')),
    operator_id text not null,
    reason text not null,
    decided_at timestamptz not null default clock_timestamp()
);

grant select, insert, update, delete on payment_intents to omniflow_runtime;
grant select, insert on manual_decisions to omniflow_runtime;
