select relation.relname::text as name, relation.relrowsecurity as enabled,
  relation.relforcerowsecurity as forced,
       exists (select from pg_policy policy where policy.polrelid = relation.oid
         and not policy.polpermissive and policy.polcmd = '*'
        and policy.polroles = array['seven_pinned'::regrole::oid]
          and pg_get_expr(policy.polqual, relation.oid) = 'seven_may(casino_id)') as held,
       (select coalesce(array_agg(privilege), '{}')
         from unnest(array['TRUNCATE', 'REFERENCES', 'TRIGGER']) privilege
         where has_table_privilege(relation.oid, privilege)) as rights,
       (select coalesce(array_agg(concat_ws('|', policy.polcmd,
         coalesce(pg_get_expr(policy.polqual, relation.oid), 'nothing'),
        coalesce(pg_get_expr(policy.polwithcheck, relation.oid), 'nothing'))), '{}')
          from pg_policy policy where policy.polrelid = relation.oid
            and policy.polpermissive) as policies
from pg_class relation where relation.relkind in ('r', 'p', 'v', 'm', 'f')
  and relation.relnamespace = 'public'::regnamespace
order by 1
