-- What this database is for, written once. `db migrate` inserts the row with the mode it was given;
-- afterwards nobody can turn a sandbox into a live installation or back (design 3).
create table installation (
    singleton boolean primary key default true
        constraint installation_singleton check (singleton),
    mode text not null
        constraint installation_mode_known check (mode in ('sandbox', 'live')),
    installation_id uuid not null,
    created_at timestamptz not null default clock_timestamp()
);

create function refuse_change() returns trigger language plpgsql as $$
begin
    raise exception '% of % is refused: the table is append-only', tg_op, tg_table_name
        using errcode = 'OF001';
end
$$;

create trigger installation_append_only before update or delete or truncate on installation
    for each statement execute function refuse_change();
