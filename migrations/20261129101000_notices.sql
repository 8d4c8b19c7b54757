-- What operators should be told, once per (kind, dedupe_key).
create table operator_notices (
    notice_id bigint generated always as identity primary key,
    kind text not null,
    dedupe_key text not null,
    payload jsonb not null,
    status text not null default 'pending'
        constraint operator_notices_status_known check (status in ('pending', 'sent', 'suppressed', 'failed')),
    error_code text,
    created_at timestamptz not null default clock_timestamp(),
    sent_at timestamptz,
    constraint operator_notices_dedupe_key unique (kind, dedupe_key)
);

grant select, insert, update, delete on operator_notices to omniflow_runtime;
