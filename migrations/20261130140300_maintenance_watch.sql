-- When an API process last took a sample of the dependencies, so that a check can tell that none does. Times are the database's.
create table maintenance_watch (
    -- there is one row at most, of whoever sampled last
    singleton boolean primary key default true
        constraint maintenance_watch_single check (singleton),
    sampled_at timestamptz not null,
    -- whether that process opens and closes windows by itself
    automatic boolean not null,
    -- its pause between samples
    every_seconds integer not null
);

grant select, insert, update on maintenance_watch to omniflow_runtime;
