-- Who did what by hand, written in the transaction of the change itself and never changed afterwards. What the event log cannot say for
-- itself: changes of operational rows, refused calls, exports. The log's own events keep their actor in their metadata.
create table audit_events (
    -- order of writing; also the cursor of readers
    id bigint generated always as identity primary key,
    actor_type text not null
        constraint audit_events_actor_type_known check (actor_type in ('customer', 'operator', 'admin', 'system', 'provider')),
    -- name of the token, of the person or of the program: `bearer`, `cli`, …
    actor_id text not null,
    -- stable name, such as panel.fulfillment.retried
    action text not null
        constraint audit_events_action_length check (length(action) between 1 and 100),
    category text not null
        constraint audit_events_category_known check (category in ('authentication', 'authorization', 'configuration', 'customer',
            'financial', 'support', 'marketing', 'system', 'risk')),
    outcome text not null
        constraint audit_events_outcome_known check (outcome in ('success', 'failure', 'denied')),
    target_type text not null,
    target_id text not null,
    -- why, in the person's own words
    reason text
        constraint audit_events_reason_length check (length(reason) <= 500),
    -- the request's correlation id, as in the events it led to
    request_id text not null,
    -- ids and states only: no payload, no personal data
    metadata jsonb not null default '{}'
        constraint audit_events_metadata_is_object check (jsonb_typeof(metadata) = 'object'),
    -- by the domain's clock
    occurred_at timestamptz not null
);

create trigger audit_events_append_only before update or delete or truncate on audit_events
    for each statement execute function refuse_change();

create index audit_events_occurred on audit_events (occurred_at);
create index audit_events_category on audit_events (category, id);
create index audit_events_actor on audit_events (actor_type, actor_id, id);
create index audit_events_action on audit_events (action, id);
create index audit_events_target on audit_events (target_type, target_id, id);

grant select, insert on audit_events to omniflow_runtime;
