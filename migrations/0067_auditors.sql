-- Roles that end by themselves, and auditors, whose role must (SEC-136).

alter table operator_roles add column ends_on date;
alter table operator_roles drop constraint operator_roles_role_check;
alter table operator_roles add constraint operator_roles_role_check
  check (role in ('host', 'marketing', 'editor', 'approver', 'compliance', 'manager', 'admin', 'auditor'));
alter table operator_roles add constraint operator_roles_auditor_ends check (role <> 'auditor' or ends_on is not null);
