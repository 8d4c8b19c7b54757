-- Answers given to keyed requests. A row is written by the same statement as the effect it answers for.
-- Routes that call a provider claim first (`status` null, `claimed_until` set), call, then answer.
create table idempotency_keys (
    principal text not null,
    key text not null
        constraint idempotency_keys_key_length check (octet_length(key) between 8 and 128),
    -- SHA-256 over method, route, path and canonical body
    fingerprint bytea not null
        constraint idempotency_keys_fingerprint_length check (length(fingerprint) = 32),
    status smallint
        constraint idempotency_keys_status_range check (status between 200 and 599),
    answer jsonb,
    claimed_until timestamptz,
    created_at timestamptz not null default clock_timestamp(),
    constraint idempotency_keys_pkey primary key (principal, key),
    constraint idempotency_keys_answered check ((status is null) = (answer is null))
);

grant select, insert, update, delete on idempotency_keys to omniflow_runtime;
