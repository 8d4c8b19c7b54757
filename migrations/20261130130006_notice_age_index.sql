-- Notices that reached their end are removed after a while.
create index operator_notices_age on operator_notices (created_at);
