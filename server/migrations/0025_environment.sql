-- To which environment the database belongs. The first start writes the row; then no process of the other one uses the database.
create table environment (
  id int primary key default 1 check (id = 1),
  name text not null check (name in ('production', 'sandbox'))
);

-- A database with partners has been started. Each start of the sandbox ensures this key, which `swapyard partners` cannot make.
insert into environment (name)
select case when exists (select 1 from api_keys where id = 'sandbox' and created_by = 'sandbox') then 'sandbox' else 'production' end
where exists (select 1 from partners);
