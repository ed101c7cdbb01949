//! Breakages on purpose, for `./scripts/chaos --mutants`: each takes one promise away, and the chaos suite must notice. Only a build
//! with the feature `mutants` has them; `SEVEN_MUTANT` chooses one. Here, because the library nearest to the database needs them too.

use std::sync::OnceLock;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mutant {
    /// The last look refuses nothing because of a STOP, a pause or an earlier text.
    NoLastLook,
    /// Ingress answers 200 and publishes a moment later; nobody looks at the provider's record.
    AckBeforePublish,
    /// The gate publishes a moment after its commit, and not again for a duplicate; nothing sweeps behind it.
    SilentDuplicate,
    /// A doubtful send goes out again, whatever its class.
    BlindResend,
    /// The gate notes a text as done, then works; nobody looks at the provider's record.
    DoneBeforeEffect,
    /// A turn marks all open texts answered, also those it did not read.
    AllAnswered,
    /// A turn commits whatever its epoch.
    NoEpoch,
    /// Sweeps come at every round.
    NoBackoff,
    /// A START counts from when we read it.
    StartFromNow,
    /// The gate gives every answer, however often it gave it just now.
    AnswersAlways,
    /// A deletion that is due destroys without reading what is on the bus.
    ErasesUnread,
    /// A STOP to a number that was handed on stays with the casino that has it now.
    ForgetsFormer,
}

impl Mutant {
    pub const ALL: [(Self, &'static str); 12] = [
        (Self::NoLastLook, "no_last_look"),
        (Self::AckBeforePublish, "ack_before_publish"),
        (Self::SilentDuplicate, "silent_duplicate"),
        (Self::BlindResend, "blind_resend"),
        (Self::DoneBeforeEffect, "done_before_effect"),
        (Self::AllAnswered, "all_answered"),
        (Self::NoEpoch, "no_epoch"),
        (Self::NoBackoff, "no_backoff"),
        (Self::StartFromNow, "start_from_now"),
        (Self::AnswersAlways, "answers_always"),
        (Self::ErasesUnread, "erases_unread"),
        (Self::ForgetsFormer, "forgets_former"),
    ];
}

/// Whether this build has mutants at all.
pub const fn has_mutants() -> bool {
    cfg!(feature = "mutants")
}

/// Whether this process is that mutant; never without the feature.
pub fn mutant(which: Mutant) -> bool {
    static CHOSEN: OnceLock<Option<Mutant>> = OnceLock::new();
    has_mutants()
        && *CHOSEN.get_or_init(|| {
            let name = std::env::var("SEVEN_MUTANT").ok()?;
            Mutant::ALL.iter().find(|(_, known)| *known == name).map(|(mutant, _)| *mutant)
        }) == Some(which)
}
