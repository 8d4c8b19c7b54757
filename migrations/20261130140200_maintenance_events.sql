-- Every opening and closing of the window, for ever. Changing the words of an open window is none.
create table maintenance_events (
    id bigint generated always as identity primary key,
    action text not null
        constraint maintenance_events_action_known check (action in ('activated', 'cleared')),
    source text not null
        constraint maintenance_events_source_known check (source in ('manual', 'remnawave', 'database')),
    reason text not null,
    actor_type text not null
        constraint maintenance_events_actor_type_known check (actor_type in ('operator', 'system')),
    -- the operator; nobody for the system
    actor_id text,
    occurred_at timestamptz not null
);

grant select, insert on maintenance_events to omniflow_runtime;
