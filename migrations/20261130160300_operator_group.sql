-- The one group, who of the processes writes to it now, and until when nobody may.
create table operator_group (
    singleton boolean primary key default true constraint operator_group_is_one check (singleton),
    -- As the settings name it.
    configured_chat_id bigint not null,
    -- The same, or the id that it got when it became a supergroup.
    chat_id bigint not null,
    -- Whose turn it is to send, until when.
    turn_token uuid,
    turn_until timestamptz,
    -- Nothing is sent before, and why.
    paused_until timestamptz,
    pause_code text,
    -- Failures in a row that were not one notice's own.
    pauses integer not null default 0
);

grant select, insert, update, delete on operator_group to omniflow_runtime;
