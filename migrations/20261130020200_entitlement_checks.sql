-- When each entitlement was compared with the panel, and what the panel showed. Times are the domain's clock: they are compared with bounds
-- and buckets of the reconcile pass, which has no other.
create table entitlement_checks (
    entitlement_id uuid primary key,
    subscription_id uuid not null,
    -- the panel's key of the user, as last recorded: hints of the panel name it
    remote_user_id bigint,
    -- {status, expireAt, trafficLimitBytes, usedTrafficBytes, deviceLimit, squads}; null while nothing was read or nobody was there
    observed jsonb,
    observed_at timestamptz,
    -- the panel was last known to agree
    reconciled_at timestamptz,
    -- a reconcile was last opened by the pass: one that keeps failing must not stand before the others
    tried_at timestamptz
);

create index entitlement_checks_remote_user on entitlement_checks (remote_user_id) where remote_user_id is not null;

grant select, insert, update, delete on entitlement_checks to omniflow_runtime;
