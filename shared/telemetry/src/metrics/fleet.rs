//! The state of the fleet, read by a scheduler every few seconds. Several schedulers export the
//! same figures, so the rules take the highest.

use prometheus::{GaugeVec, IntGaugeVec};

instruments! {
    /// Figures read from Postgres and NATS, not from this process's own work.
    Figures {
        pending: IntGaugeVec = "seven_consumer_pending_messages", "Messages that wait on a consumer, not delivered yet", ["stage", "casino", "lane"];
        in_flight: IntGaugeVec = "seven_consumer_in_flight_messages", "Messages delivered and not acknowledged", ["stage", "casino", "lane"];
        stream_bytes: IntGaugeVec = "seven_stream_bytes", "Bytes that a stream holds", ["stream"];
        stream_limit: IntGaugeVec = "seven_stream_limit_bytes", "Bytes that a stream may hold, 0 without a limit", ["stream"];
        redelivered: IntGaugeVec = "seven_consumer_redelivered_messages", "Of the messages in flight, those delivered more than once", ["stage", "casino", "lane"];
        oldest: GaugeVec = "seven_oldest_waiting_seconds", "Age of the oldest row that waits for a stage, beyond the time it was put off to; 0 for none", ["stage", "casino"];
        workers: IntGaugeVec = "seven_workers", "Workers that said within 5 s that they live", ["worker"];
        alerts: IntGaugeVec = "seven_alerts_open", "Open alerts (seven alert list)", ["alert", "severity", "casino"];
        month_cost: GaugeVec = "seven_month_cost_usd", "Dollars that a casino has cost in this month so far (OBS-32)", ["casino"];
        month_budget: GaugeVec = "seven_month_budget_usd", "Dollars that a casino may cost in a month; 0 for no budget", ["casino"];
        switches: IntGaugeVec = "seven_switch_on", "1 while an operator's or the watch's switch stands", ["casino", "switch"];
        rotation_due: IntGaugeVec = "seven_rotation_due_timestamp_seconds", "When a secret of the fleet is due to be changed, in seconds since 1970 (SEC-131)", ["name"];
        backup: IntGaugeVec = "seven_backup_timestamp_seconds", "When the last backup was noted, in seconds since 1970; the database's beginning when none was (DEP-31)", [];
        drill: IntGaugeVec = "seven_drill_timestamp_seconds", "When a recovery was last drilled and passed, in seconds since 1970; the database's beginning when none was (DEP-33)", [];
        review: IntGaugeVec = "seven_incident_review_timestamp_seconds", "When the first review of an incident that is owed is due, in seconds since 1970; no series when none is (OBS-19)", [];
        overdue: IntGaugeVec = "seven_alerts_overdue", "Open alerts, cases among them, that nobody acknowledged in time (SEC-153)", ["alert", "severity", "casino"];
    }
}
