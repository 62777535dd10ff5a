-- The newest event in the streams of a partner that was deleted by age. A client that has read up to it has missed none: its stream
-- resumes there, however long the partner had no new event. Behind an earlier one, events are missing.
create table removed_partner_events (
  partner_id uuid primary key,
  event_id uuid not null,
  position bigint not null
);
