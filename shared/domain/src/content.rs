//! The vocabulary of a casino's content: revisions of items, where they come from, and what a guard
//! finds about them (D31).

use crate::text_enum;

text_enum! {
    /// The state of a revision. Guests get published ones only.
    RevisionState {
        /// Saved by its editor, and not ready yet.
        Draft => "draft",
        /// Waits for a person who is not the editor.
        Review => "review",
        /// Will be published at its time.
        Scheduled => "scheduled",
        /// Guests get it, or got it until a later revision was published.
        Published => "published",
        /// Refused, by a check or by a person.
        Rejected => "rejected",
        /// Taken back before it was published.
        Withdrawn => "withdrawn",
    }
}

text_enum! {
    /// Where a revision was written.
    ContentSource {
        Console => "console",
        /// A spreadsheet that calls the webhook.
        Sheet => "sheet",
        /// A file that a person loaded.
        File => "file",
        /// A program of the casino's that calls the webhook.
        Api => "api",
    }
}

text_enum! {
    /// A finding of a check or a guard about a revision.
    ContentFinding {
        /// A field cannot be read, or does not fit the category.
        Invalid => "invalid",
        /// Every change of this category is looked at by a second person.
        Category => "category",
        /// A promotion of the pack's limit or more.
        LargePromotion => "large_promotion",
        /// A price changed by more than the pack's share.
        PriceJump => "price_jump",
        /// Opening hours moved by more than the pack's limit.
        HoursJump => "hours_jump",
        /// A price or the hours were there and are blank now.
        FactsGone => "facts_gone",
        /// Another item of the category has the same name.
        NameTaken => "name_taken",
        /// The category would be left without an active item.
        LastActive => "last_active",
        /// More items of the category would be switched off at once than the pack allows.
        ManyOff => "many_off",
    }
}
