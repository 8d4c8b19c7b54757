-- How far each read model has followed the log. The row and the read model move in one transaction.
create table projection_checkpoints (
    name text primary key,
    position bigint not null default 0
        constraint projection_checkpoints_position_not_negative check (position >= 0),
    updated_at timestamptz not null default clock_timestamp(),
    -- the event that stopped the projection, null while it runs
    failed_position bigint,
    failed_code text,
    failed_at timestamptz
);

grant select, insert, update, delete on projection_checkpoints to omniflow_runtime;
