-- A stored answer is removed after a while, but the key of a placed order stays usable for ever: its answer is only shortened to
-- {"placedOrder": id}, and a repeat of the request gets the order as it then is instead of placing a second one.
alter table idempotency_keys
    -- nothing more is removed of this row
    add column shortened boolean not null default false;

create index idempotency_keys_age on idempotency_keys (created_at) where not shortened;
