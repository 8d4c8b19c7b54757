-- Run before the migrations, which then find the role there. On PostgreSQL 16 and later the right to SET ROLE is one of its own.
do $$
declare
    may_set boolean;
begin
    begin
        if not exists (select from pg_roles where rolname = 'omniflow_runtime') then
            create role omniflow_runtime nologin;
        end if;
    exception
        when duplicate_object or unique_violation then null;
    end;
    if current_setting('server_version_num')::integer >= 160000 then
        execute $q$select pg_has_role(current_user, 'omniflow_runtime', 'SET')$q$ into may_set;
    else
        may_set := pg_has_role(current_user, 'omniflow_runtime', 'MEMBER');
    end if;
    if not may_set then
        execute format('grant omniflow_runtime to %I', current_user);
    end if;
end
$$;
