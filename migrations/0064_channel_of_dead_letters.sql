-- By which channel the guest writes whom a dead letter is about (WEB-65); null where nobody could tell, and for older letters.
alter table dead_letters add column channel text;
