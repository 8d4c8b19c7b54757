-- What sending a notice needs. A notice is leased, sent outside of any transaction, and recorded under the lease's token.
alter table operator_notices
    drop constraint operator_notices_status_known,
    add constraint operator_notices_status_known
        check (status in ('pending', 'sending', 'sent', 'suppressed', 'failed')),
    add constraint operator_notices_kind_known
        check (kind in ('purchase', 'renewal', 'topup', 'refund', 'fulfillment_failure', 'incident', 'backup', 'security',
                        'campaign_test', 'notice_test', 'anomaly')),
    add constraint operator_notices_sent_known check ((status = 'sent') = (sent_at is not null)),
    -- Requests that count; a person's retry begins again at 0.
    add column attempts integer not null default 0,
    -- Requests of which nobody knows whether they were carried out.
    add column unanswered integer not null default 0,
    -- When it was queued, or queued again by a person: its age counts from here.
    add column queued_at timestamptz not null default clock_timestamp(),
    -- Not to be sent before.
    add column next_attempt_at timestamptz not null default clock_timestamp(),
    -- The last request for it, which the group's pace counts.
    add column attempted_at timestamptz,
    -- Who sends it, until when. `pending` under a lease was not sent yet; `sending` may have been.
    add column lease_token uuid,
    add column leased_until timestamptz;

-- Already sent ones are as old as they are, not as this migration.
update operator_notices set queued_at = created_at, next_attempt_at = created_at;

create index operator_notices_waiting on operator_notices (next_attempt_at) where status in ('pending', 'sending');
create index operator_notices_sent_lately on operator_notices (sent_at) where status = 'sent';
create index operator_notices_attempted_lately on operator_notices (attempted_at) where attempted_at is not null;
