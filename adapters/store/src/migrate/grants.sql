-- What the runtime role needs on tables that migrations of others made: River's, and sqlx's own list.
do $$
declare
    one record;
begin
    for one in
        select c.oid::regclass as name, c.relkind
        from pg_class c
        where c.relnamespace = 'public'::regnamespace and c.relname like 'river\_%' and c.relkind in ('r', 'p', 'S')
    loop
        if one.relkind = 'S' then
            execute format('grant usage, select, update on sequence %s to omniflow_runtime', one.name);
        elsif one.name::text = 'river_migration' then
            execute format('grant select on %s to omniflow_runtime', one.name);
        else
            execute format('grant select, insert, update, delete on %s to omniflow_runtime', one.name);
        end if;
    end loop;
end
$$;
grant select on public._sqlx_migrations to omniflow_runtime;
