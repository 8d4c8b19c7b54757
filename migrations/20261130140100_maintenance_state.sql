-- The one window of maintenance. No row is a window that was never opened. Times are the commands' own.
create table maintenance_state (
    -- there is one row at most
    singleton boolean primary key default true
        constraint maintenance_state_single check (singleton),
    -- counts every change: a writer names the one it decided on
    version bigint not null
        constraint maintenance_state_version_positive check (version > 0),
    active boolean not null,
    -- what opened the window, or closed it last
    source text not null
        constraint maintenance_state_source_known check (source in ('manual', 'remnawave', 'database')),
    -- for operators
    reason text not null default ''
        constraint maintenance_state_reason_length check (char_length(reason) <= 200),
    -- for customers; empty is the built-in text
    notice_ru text not null default ''
        constraint maintenance_state_notice_ru_length check (char_length(notice_ru) <= 1000),
    notice_en text not null default ''
        constraint maintenance_state_notice_en_length check (char_length(notice_en) <= 1000),
    expected_return_at timestamptz,
    -- of the window that is open, or was open last; changing an open window keeps it
    activated_at timestamptz,
    -- of the last closing
    cleared_at timestamptz,
    updated_at timestamptz not null,
    constraint maintenance_state_activated check (not active or activated_at is not null)
);

grant select, insert, update on maintenance_state to omniflow_runtime;
