-- Processes run as this role (`SET ROLE`), not as the owner: it has no right to change or remove what is append-only.
-- Roles belong to the cluster, so another database of the same cluster may have made it already, or be making it now.
do $$
begin
    if not exists (select from pg_roles where rolname = 'omniflow_runtime') then
        create role omniflow_runtime nologin;
    end if;
exception
    when duplicate_object or unique_violation then null;
end
$$;

do $$
begin
    if not pg_has_role(current_user, 'omniflow_runtime', 'MEMBER') then
        execute format('grant omniflow_runtime to %I', current_user);
    end if;
end
$$;

grant usage on schema public to omniflow_runtime;
grant select, insert on installation to omniflow_runtime;
