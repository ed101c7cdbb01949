//! Activity of guests and of the host, per casino.

use prometheus::{HistogramVec, IntCounterVec};

use super::{
    TimedVec,
    define::{SEARCH, SHARES, STEPS},
};

instruments! {
    /// Metrics about guests. None of them identifies a guest.
    Guests {
        sessions: IntCounterVec = "seven_sessions_total", "Conversations started or resumed",
        ["casino"];
        long_sessions: IntCounterVec = "seven_long_sessions_total",
            "Sessions that reached 16 turns, which may be a loop", ["casino"];
        opt_outs: IntCounterVec = "seven_opt_outs_total", "Guests who opted out, by method",
            ["casino", "method"];
        opt_ins: IntCounterVec = "seven_opt_ins_total", "Guests who opted in again, by method",
            ["casino", "method"];
        unknown_area_codes: IntCounterVec = "seven_unknown_area_codes_total",
            "New guests whose area code is unknown; the strictest quiet hours apply to them",
            ["casino"];
        fields: IntCounterVec = "seven_profile_fields_total", "Profile fields learned in turns",
            ["casino"];
        completeness: HistogramVec = "seven_profile_completeness_ratio",
            "Share of profile fields that are known at the start of a session", ["casino"], SHARES;
        offers: IntCounterVec = "seven_offers_total", "Offers by event (issued, redeemed)",
            ["casino", "event"];
        handoffs: IntCounterVec = "seven_handoffs_total", "Handovers from one agent to another",
            ["casino"];
        tokens: IntCounterVec = "seven_turn_tokens_total", "Tokens used by turns",
            ["casino", "direction"];
        cost: IntCounterVec = "seven_turn_cost_nano_usd_total",
            "Cost of turns in billionths of a dollar", ["casino"];
        steps: IntCounterVec = "seven_steps_total",
            "Turns' calls of hosted models, by purpose and outcome (ok or the kind of error)",
            ["step", "outcome"];
        step_seconds: TimedVec = "seven_step_seconds",
            "Duration of a step of a turn in seconds: guardrails (the first reader), retrieval (the search without its vector), or a model call by purpose",
            ["step", "channel"], STEPS;
        step_tokens: IntCounterVec = "seven_step_tokens_total",
            "Tokens of turns' model calls, by purpose", ["step", "direction"];
        step_cost: IntCounterVec = "seven_step_cost_nano_usd_total",
            "Cost of turns' model calls in billionths of a dollar, by purpose", ["step"];
        drafts: IntCounterVec = "seven_drafts_total",
            "Turns drafted by hosted models, by whether the draft passed its checks (at_once, after_retry, no)",
            ["casino", "outcome"];
        hosted_turns: IntCounterVec = "seven_hosted_turns_total",
            "Turns for which a hosted model is set up, by who answered: model, or why the offline host did",
            ["casino", "outcome"];
        retrievals: IntCounterVec = "seven_retrievals_total",
            "Content searches by outcome (found, zero) and method (vector, keyword)",
            ["casino", "outcome", "source"];
        retrieval_score: HistogramVec = "seven_retrieval_score",
            "Similarity of the best row found for a question, 0 to 1, 0 for none; by length of the question (80 characters or less, or more)",
            ["casino", "length"], SHARES;
        retrieval_diversity: HistogramVec = "seven_retrieval_diversity",
            "Distinct categories per row found for a question, from 0.2 (five rows of one category) to 1",
            ["casino"], SHARES;
        retrieval_seconds: TimedVec = "seven_retrieval_seconds",
            "Seconds until a question's vector is computed", ["casino"], SEARCH;
        ungrounded: IntCounterVec = "seven_ungrounded_replies_total",
            "Replies without a content row as their source", ["casino"];
    }
}
