-- The topic of each kind of notice in the operators' group. Another group begins anew.
create table operator_topics (
    kind text primary key
        constraint operator_topics_kind_known
            check (kind in ('purchase', 'renewal', 'topup', 'refund', 'fulfillment_failure', 'incident', 'backup', 'security',
                            'campaign_test', 'notice_test', 'anomaly')),
    chat_id bigint not null,
    topic_id bigint constraint operator_topics_id_positive check (topic_id > 0),
    status text not null default 'pending'
        constraint operator_topics_status_known check (status in ('pending', 'bound', 'failed')),
    -- Why it could not be made; kept until it is.
    last_error_code text,
    -- When making it was tried last.
    tried_at timestamptz,
    constraint operator_topics_bound check ((status = 'bound') = (topic_id is not null))
);

grant select, insert, update, delete on operator_topics to omniflow_runtime;
