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
    /// The progress of one guest of a campaign.
    ListedState {
        /// The text is still to be released.
        Listed => "listed",
        Released => "released",
        Refused => "refused",
    }
}
