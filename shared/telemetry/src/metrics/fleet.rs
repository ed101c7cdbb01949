//! The state of the fleet, which a scheduler reads every few seconds. Several schedulers export the
//! same values, so the rules in `deploy/observe` take the maximum instead of the sum.

use prometheus::{GaugeVec, IntGaugeVec};

instruments! {
    /// Values read from Postgres and NATS; they do not describe this process's own work.
    Figures {
        pending: IntGaugeVec = "seven_consumer_pending_messages",
            "Messages pending at a consumer, not yet delivered", ["stage", "casino", "queue"];
        in_flight: IntGaugeVec = "seven_consumer_in_flight_messages",
            "Messages delivered but not yet acknowledged", ["stage", "casino", "queue"];
        stream_bytes: IntGaugeVec = "seven_stream_bytes", "Bytes stored in a stream", ["stream"];
        stream_limit: IntGaugeVec = "seven_stream_limit_bytes",
            "Byte limit of a stream; 0 for none", ["stream"];
        redelivered: IntGaugeVec = "seven_consumer_redelivered_messages",
            "Messages in flight that were delivered more than once", ["stage", "casino", "queue"];
        oldest: GaugeVec = "seven_oldest_waiting_seconds",
            "Age of the oldest row that is due at a stage, in seconds past its due time; 0 for none",
            ["stage", "casino"];
        workers: IntGaugeVec = "seven_workers", "Workers whose last heartbeat is less than 5 s old",
            ["worker"];
        alerts: IntGaugeVec = "seven_alerts_open", "Open alerts (seven alert list)",
            ["alert", "severity", "casino"];
        month_cost: GaugeVec = "seven_month_cost_usd",
            "Cost of a casino in the current month so far, in dollars", ["casino"];
        month_budget: GaugeVec = "seven_month_budget_usd",
            "Monthly budget of a casino, in dollars; 0 for none", ["casino"];
        tickets: IntGaugeVec = "seven_tickets",
            "Tickets of guests on the web that are not closed, by state", ["casino", "state"];
        cases: IntGaugeVec = "seven_cases_of_the_day",
            "Cases that reached a step within the last 24 hours: acknowledged, acknowledged_late, rose (to the next level), resolved",
            ["casino", "severity", "step"];
        case_seconds: GaugeVec = "seven_case_seconds_p95",
            "95th percentile of the seconds from a case's start to the step, over the last 24 hours",
            ["casino", "severity", "step"];
        switches: IntGaugeVec = "seven_switch_on",
            "1 while an operator's or the watch's switch stands", ["casino", "switch"];
        rotation_due: IntGaugeVec = "seven_rotation_due_timestamp_seconds",
            "Unix time in seconds at which a secret must be rotated", ["name"];
        backup: IntGaugeVec = "seven_backup_timestamp_seconds",
            "Unix time in seconds of the last recorded backup; of the database's creation if there was none",
            [];
        drill: IntGaugeVec = "seven_drill_timestamp_seconds",
            "Unix time in seconds of the last passed recovery drill; of the database's creation if there was none",
            [];
        review: IntGaugeVec = "seven_incident_review_timestamp_seconds",
            "Unix time in seconds at which the first outstanding incident review is due; no series if none is",
            [];
        overdue: IntGaugeVec = "seven_alerts_overdue",
            "Open alerts and cases that were not acknowledged in time",
            ["alert", "severity", "casino"];
    }
}
