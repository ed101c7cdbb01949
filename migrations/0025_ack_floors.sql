-- Up to which message of the bus a casino's are acknowledged, for stages whose messages leave no open row (D25): where a consumer that the
-- bus has lost begins again. Written by the scheduler, which reads it for the metrics anyway; numbers and times only.
create table ack_floors (
  casino_id   text not null,
  stage       text not null check (stage in ('gate', 'receipts')),
  sequence    bigint not null,
  acked_at    timestamptz not null,
  stream_made timestamptz not null,
  primary key (casino_id, stage)
);
grant select, insert, update, delete on ack_floors to seven_app;
