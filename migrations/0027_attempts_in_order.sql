-- Which of two attempts is the later decides what an answer means (doubts, late answers): by when it was written, not by when its
-- transaction began. Texts share transactions, and one may wait for a connection's turn.
alter table send_attempts alter column started_at set default clock_timestamp();
