-- Side effects that a committed change owes. Handed over by row state (`published_at`), never by a cursor.
create table outbox (
    id bigint generated always as identity primary key,
    topic text not null,
    -- '<aggregate type>/<aggregate id>', or '<table>/<key>' for what plain tables announce
    stream text not null,
    -- of the event that caused the row; null where a plain table announces
    position bigint,
    payload jsonb not null,
    -- correlation id, causation id, trace context: never part of the arguments of a unique job
    headers jsonb not null default '{}',
    created_at timestamptz not null default clock_timestamp(),
    published_at timestamptz,
    parked boolean not null default false,
    attempts integer not null default 0
        constraint outbox_attempts_not_negative check (attempts >= 0),
    last_error text
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000);

create index outbox_pending on outbox (id) where published_at is null and not parked;
create index outbox_parked on outbox (stream, id) where parked;

-- Streams that a failing row blocks, with the row that does it. One failing row never blocks another stream.
create table outbox_blocked (
    stream text primary key,
    row_id bigint not null references outbox (id),
    attempts integer not null default 0,
    code text not null,
    detail text,
    blocked_at timestamptz not null default clock_timestamp(),
    next_try_at timestamptz not null
);

grant select, insert, update, delete on outbox, outbox_blocked to omniflow_runtime;
