//! Activity of guests and of the host, per casino (OBS-26 to OBS-28).

use prometheus::{HistogramVec, IntCounterVec};

use super::{
    TimedVec,
    define::{SEARCH, SHARES, SLOW},
};

instruments! {
    /// Counts only; no guest identity is recorded.
    Guests {
        sessions: IntCounterVec = "seven_sessions_total", "Conversations begun or taken up again", ["casino"];
        long_sessions: IntCounterVec = "seven_long_sessions_total", "Sessions that came to their sixteenth turn: perhaps a loop (OBS-27)", ["casino"];
        opt_outs: IntCounterVec = "seven_opt_outs_total", "Guests who left, by how they said it", ["casino", "method"];
        opt_ins: IntCounterVec = "seven_opt_ins_total", "Guests who came back, by how they said it", ["casino", "method"];
        unknown_area_codes: IntCounterVec = "seven_unknown_area_codes_total", "New guests whose number's area code the table does not know: the strictest window holds", ["casino"];
        fields: IntCounterVec = "seven_profile_fields_total", "Fields of profiles learnt in turns", ["casino"];
        completeness: HistogramVec = "seven_profile_completeness_ratio", "Share of a profile that is filled, at the beginning of a session", ["casino"], SHARES;
        offers: IntCounterVec = "seven_offers_total", "Offers by event (issued, redeemed)", ["casino", "event"];
        handoffs: IntCounterVec = "seven_handoffs_total", "Handovers from one agent to another", ["casino"];
        tokens: IntCounterVec = "seven_turn_tokens_total", "Tokens that turns used", ["casino", "direction"];
        cost: IntCounterVec = "seven_turn_cost_nano_usd_total", "Billionths of a dollar that turns cost", ["casino"];
        steps: IntCounterVec = "seven_steps_total", "Turns' calls of hosted models, by what they were for and outcome (ok or the kind of error)", ["step", "outcome"];
        step_seconds: TimedVec = "seven_step_seconds", "Seconds of a turn's call of a model, by what it was for (OBS-26)", ["step"], SLOW;
        step_tokens: IntCounterVec = "seven_step_tokens_total", "Tokens of turns' calls of models, by what they were for (OBS-34)", ["step", "direction"];
        step_cost: IntCounterVec = "seven_step_cost_nano_usd_total", "Billionths of a dollar of turns' calls of models, by what they were for (OBS-41)", ["step"];
        drafts: IntCounterVec = "seven_drafts_total", "Turns that hosted models drafted, by how the draft passed (at_once, after_retry, no)", ["casino", "outcome"];
        retrievals: IntCounterVec = "seven_retrievals_total", "Questions to the content by outcome (found, zero) and what found it (vector, keyword)", ["casino", "outcome", "source"];
        retrieval_score: HistogramVec = "seven_retrieval_score", "Best similarity of what a question found, 0 to 1; 0 for nothing (OBS-28, RAG-43), by whether the question was short or longer than 80 characters (OBS-16)", ["casino", "length"], SHARES;
        retrieval_diversity: HistogramVec = "seven_retrieval_diversity", "Categories for each row that a question found, 0.2 (five rows of one) to 1 (OBS-16)", ["casino"], SHARES;
        retrieval_seconds: TimedVec = "seven_retrieval_seconds", "Seconds until a question can be searched for: its vector (RAG-43)", ["casino"], SEARCH;
        ungrounded: IntCounterVec = "seven_ungrounded_replies_total", "Replies that no row of content stands behind", ["casino"];
    }
}
