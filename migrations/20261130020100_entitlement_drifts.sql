-- Where the panel was seen to differ from what it must show (design 5: operational; the facts are events). Times are the events' own.
create table entitlement_drifts (
    id bigint generated always as identity primary key,
    entitlement_id uuid not null,
    subscription_id uuid not null,
    kind text not null
        constraint entitlement_drifts_kind_known
            check (kind in ('missing_remote', 'expiry', 'traffic', 'device_limit', 'squads', 'status')),
    -- {"value": …} or {"exists": …}
    expected jsonb not null,
    observed jsonb not null,
    status text not null default 'open'
        constraint entitlement_drifts_status_known check (status in ('open', 'resolved', 'ignored')),
    detected_at timestamptz not null,
    resolved_at timestamptz,
    constraint entitlement_drifts_resolved check ((resolved_at is not null) = (status <> 'open'))
);

create unique index entitlement_drifts_one_open on entitlement_drifts (entitlement_id, kind) where status = 'open';
create index entitlement_drifts_status on entitlement_drifts (status, id desc);
create index entitlement_drifts_resolved_at on entitlement_drifts (resolved_at) where status <> 'open';

grant select, insert, update, delete on entitlement_drifts to omniflow_runtime;
