//! The vocabulary of a casino's content: revisions of items, where they come from, and what a guard
//! finds about them (D31).

use crate::text_enum;

text_enum! {
    /// The state of a revision. Only published revisions reach guests.
    RevisionState {
        /// The editor has saved the revision but not submitted it.
        Draft => "draft",
        /// The revision waits for a review by a person other than the editor.
        Review => "review",
        /// The revision will be published at its scheduled time.
        Scheduled => "scheduled",
        /// The revision reaches guests, or did until a later one was published.
        Published => "published",
        /// A check or a person refused the revision.
        Rejected => "rejected",
        /// The revision was withdrawn before it was published.
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
        /// One of the casino's own programs, which calls the webhook.
        Api => "api",
    }
}

text_enum! {
    /// A finding of a check or a guard about a revision.
    ContentFinding {
        /// A field cannot be parsed, or does not belong to the category.
        Invalid => "invalid",
        /// A second person must review every change of this category.
        Category => "category",
        /// The value of a promotion reaches the pack's limit.
        LargePromotion => "large_promotion",
        /// A price changed by more than the share that the pack allows.
        PriceJump => "price_jump",
        /// Opening hours moved by more than the pack allows.
        HoursJump => "hours_jump",
        /// A price or the opening hours were removed.
        FactsGone => "facts_gone",
        /// Another item of the category has the same name.
        NameTaken => "name_taken",
        /// The category would be left without an active item.
        LastActive => "last_active",
        /// More of the category's items would be switched off within an hour than the pack allows.
        ManyOff => "many_off",
    }
}
