//! Changes of casinos' content, and the time until guests get them.

use prometheus::{HistogramVec, IntCounterVec, IntGaugeVec};

instruments! {
    Content {
        edits: IntCounterVec = "seven_content_edits_total",
            "Edits of content by source and outcome", ["source", "outcome"];
        sheets: IntCounterVec = "seven_content_sheets_total",
            "Nightly readings of whole spreadsheets by outcome", ["outcome"];
        propagation: HistogramVec = "seven_content_propagation_seconds",
            "Seconds from publishing a change until the first process answers with it", ["casino"],
            PROPAGATION;
        step: HistogramVec = "seven_content_step_seconds",
            "Seconds of a change's steps: sheet (from the edit in the spreadsheet to its call), stored (from the call to its answer), vectors (from its announcement until they are stored)",
            ["step"], PROPAGATION;
        waiting: IntGaugeVec = "seven_content_waiting",
            "Revisions that wait, by state (review, scheduled, rejected)", ["casino", "state"];
    }
}

/// Buckets in seconds; the goal is that guests get a change within 30 seconds (CMS-57).
const PROPAGATION: &[f64] = &[0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0];
