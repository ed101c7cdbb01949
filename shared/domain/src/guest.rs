//! The vocabulary for a guest: consent, opt-out, deletion and opt-in questions.

use crate::text_enum;

text_enum! {
    /// The most that a guest agreed to receive. The variants are ordered from least to most.
    ConsentTier {
        None => "none",
        Transactional => "transactional",
        Informational => "informational",
        Marketing => "marketing",
    }
}

text_enum! {
    /// The STOP or START in force for a guest (D7).
    SuppressionState {
        /// Neither a STOP nor a START is in force.
        Clear => "clear",
        Stopped => "stopped",
        OptedIn => "opted_in",
    }
}

text_enum! {
    /// How long ago a guest wrote, and whether the guest is being deleted.
    GuestStatus {
        Active => "active",
        Warm => "warm",
        Archived => "archived",
        PendingDeletion => "pending_deletion",
    }
}

text_enum! {
    /// The state of a deletion request.
    DeletionState {
        Pending => "pending",
        Withdrawn => "withdrawn",
        /// The rows are being erased; the guest can no longer withdraw the request.
        Running => "running",
        Done => "done",
    }
}

text_enum! {
    /// The state of an opt-in question.
    PromptState {
        Pending => "pending",
        Granted => "granted",
        Declined => "declined",
    }
}

text_enum! {
    /// A result from the reassigned-numbers database.
    NumberCheck {
        Same => "same",
        Reassigned => "reassigned",
        NoData => "no_data",
    }
}

text_enum! {
    /// A material change that a new disclosure must mention to guests.
    MaterialChange {
        CampaignStart => "outbound_campaign_start",
        ProactiveOffer => "proactive_offer",
        BehaviorModel => "behavior_model_change",
    }
}

text_enum! {
    /// The reason why a text discloses that an AI writes it.
    DisclosureKind {
        /// This guest has never received a disclosure.
        First => "first",
        /// A new session began: the guest was silent for longer than a session lasts.
        Session => "session",
        /// A material change occurred.
        Again => "again",
    }
}

text_enum! {
    /// The reason that a guest gave for opting out.
    OptOutReason {
        /// The texts were meant for somebody else.
        WrongNumber => "wrong_number",
        /// The guest never agreed, or does not want us to have the number.
        Privacy => "privacy",
        /// The texts come too often.
        TooMany => "too_many",
        /// The texts come at a bad time: at night, at work.
        BadTime => "bad_time",
        /// The guest does not visit, or does not care for what we offer.
        NotInterested => "not_interested",
        /// The guest gave no reason that we can read.
        NotGiven => "not_given",
    }
}
