-- The log. The first seven columns are those of stock postgres-es, by name and meaning.
-- Order of columns is a rule, not taste: defaults are evaluated in attribute order, so a writer draws its transaction id (`xid`)
-- before its `position`. The fence of the readers rests on that (design 4); a migration test checks it.
create table events (
    aggregate_type text not null,
    aggregate_id text not null,
    sequence bigint not null
        constraint events_sequence_positive check (sequence > 0),
    event_type text not null,
    event_version text not null,
    payload jsonb not null,
    metadata jsonb not null,
    xid xid8 not null default pg_current_xact_id(),
    position bigint generated always as identity (cache 1)
        constraint events_position_key unique,
    recorded_at timestamptz not null default clock_timestamp(),
    hash bytea
        constraint events_hash_length check (length(hash) = 32),
    constraint events_stream_key primary key (aggregate_type, aggregate_id, sequence)
);

create trigger events_append_only before update or delete or truncate on events
    for each statement execute function refuse_change();

alter table events set (autovacuum_vacuum_insert_scale_factor = 0.05, autovacuum_analyze_scale_factor = 0.05);

grant select, insert on events to omniflow_runtime;
grant select on sequence events_position_seq to omniflow_runtime;
