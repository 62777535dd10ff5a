-- Wallets ask to be paid in one currency: what a partner earned in others is converted into it once a month.
alter table monthly_payout_settings
  add column converts_others boolean not null default false,
  -- The first day of the last month (UTC) whose conversions are made.
  add column converted_month date;
create unique index monthly_payout_settings_converting on monthly_payout_settings (partner_id) where converts_others;
