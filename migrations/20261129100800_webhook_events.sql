-- What a provider told us, stored before it is acted upon and before it is answered.
-- A call with a bad signature is kept by digest only: anybody can send those, nobody may fill the disk with them.
create table webhook_events (
    id bigint generated always as identity primary key,
    provider text not null,
    event_key text not null,
    signature_valid boolean not null,
    body_sha256 bytea not null
        constraint webhook_events_digest_length check (length(body_sha256) = 32),
    raw_body bytea,
    status text not null default 'received'
        constraint webhook_events_status_known check (status in ('received', 'processed', 'ignored', 'failed')),
    code text,
    attempts integer not null default 0,
    delivery_count integer not null default 1,
    next_try_at timestamptz not null default clock_timestamp(),
    received_at timestamptz not null default clock_timestamp(),
    processed_at timestamptz,
    retain_until timestamptz not null default clock_timestamp() + interval '30 days',
    constraint webhook_events_provider_event_key unique (provider, event_key),
    constraint webhook_events_invalid_has_no_body check (signature_valid or raw_body is null)
);

create index webhook_events_open on webhook_events (next_try_at) where status in ('received', 'failed') and signature_valid;

grant select, insert, update, delete on webhook_events to omniflow_runtime;
