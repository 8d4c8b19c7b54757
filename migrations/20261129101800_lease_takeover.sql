-- A lease is taken by one statement, and what it replaced must be known afterwards: a lease that ended unreleased may have left a
-- request in flight, and the operation that held it has to push once more.
alter table subscription_leases
    add column taken_over boolean not null default false,
    add column previous_operation_id uuid;

create index subscription_leases_unreleased on subscription_leases (expires_at) where released_at is null;
create index subscription_leases_released on subscription_leases (released_at) where released_at is not null;
