-- The last run of each periodic pass: a pass that started less than 0.9 of its interval ago, and did not fail, is not run again.
create table pass_runs (
    task text primary key,
    started_at timestamptz not null,
    finished_at timestamptz,
    outcome text
        constraint pass_runs_outcome_known check (outcome in ('succeeded', 'failed')),
    detail jsonb
);

grant select, insert, update on pass_runs to omniflow_runtime;
