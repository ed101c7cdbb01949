//! The vocabulary for campaigns.

use crate::text_enum;

text_enum! {
    /// The state of a campaign.
    CampaignState {
        Running => "running",
        Paused => "paused",
        Done => "done",
        Cancelled => "cancelled",
    }
}

text_enum! {
    /// The progress of a campaign's text to one guest.
    ListedState {
        /// The text has not been released yet.
        Listed => "listed",
        Released => "released",
        Refused => "refused",
    }
}
