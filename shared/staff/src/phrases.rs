//! Sentences for reason codes, which `why` and `message show` print after each code.

/// Pairs of code and sentence; each code occurs once.
pub const SENTENCES: &[(&str, &str)] = &[
    (
        "paused",
        "the conversation or the casino is paused; the text is kept for a person",
    ),
    (
        "conversation_paused",
        "cancelled when a person took the conversation over",
    ),
    (
        "opted_out",
        "the guest is opted out, so an ordinary text gets no answer",
    ),
    (
        "opt_out_repeated",
        "the guest was opted out already; one confirmation was sent for the first STOP",
    ),
    ("opt_in_repeated", "the guest had opted in already"),
    (
        "overtaken_by_newer_word",
        "a newer STOP or START of the guest stands, so this older one changes nothing",
    ),
    (
        "provider_answered",
        "the carrier answered this keyword itself; a second answer would be one too many",
    ),
    (
        "superseded_by_opt_out",
        "the guest texted STOP before this was answered",
    ),
    (
        "superseded_by_delete",
        "the guest asked for deletion before this was answered",
    ),
    (
        "rate_limited",
        "over the limit of texts per minute; the guest was told once in that minute",
    ),
    (
        "casino_limit",
        "over the casino's limit of texts per minute; operators were told",
    ),
    (
        "fleet_limit",
        "over the fleet's limit of texts per minute and the casino's share of it; operators were told",
    ),
    (
        "stale",
        "older than the usefulness limit when its turn came",
    ),
    ("empty", "no text and no media"),
    ("guest_opted_out", "cancelled when the guest texted STOP"),
    (
        "guest_suppressed",
        "the pre-send check found the guest opted out",
    ),
    (
        "guest_asked_for_deletion",
        "cancelled when the guest asked for deletion",
    ),
    (
        "safety_state_missing",
        "the guest has no suppression row, and without it nothing may be sent",
    ),
    ("expired", "its usefulness was over before it could be sent"),
    (
        "earlier_part_failed",
        "an earlier part of the same answer failed",
    ),
    (
        "consent_tier",
        "the guest's consent does not cover this class of text",
    ),
    (
        "no_answer_from_provider",
        "the provider never said whether it took the text; it is not sent again blindly",
    ),
    (
        "doubtful_send_repeated",
        "a safety text whose first send was in doubt is sent once more",
    ),
    (
        "erased_before",
        "a late copy of a text that the guest had deleted",
    ),
    (
        "guest_cried_for_help",
        "cancelled when the guest wrote of an emergency, a crisis or problem gambling",
    ),
    (
        "superseded_by_cry_for_help",
        "the guest wrote of an emergency, a crisis or problem gambling before this was answered",
    ),
    (
        "provider_blocked",
        "the guest is with us, but the provider refused a text since an earlier STOP; the guest's bare START lifts it",
    ),
    (
        "self_excluded",
        "the guest is on the self-exclusion list or has asked for help with gambling: no proactive texts",
    ),
    (
        "self_exclusion_unchecked",
        "the guest's state asks for the casino's self-exclusion list, and none was loaded: `seven guest exclude`",
    ),
    (
        "quiet_hours",
        "waits for the guest's sending window; `seven quiet-hours check` explains it",
    ),
    (
        "content_risk",
        "carriers would probably filter this wording: `seven sms risk` names what to change",
    ),
    ("campaign_cancelled", "its campaign was cancelled"),
    (
        "casino_inactive",
        "waits: the casino is suspended; `seven casino resume` ends that",
    ),
    (
        "killed",
        "waits: `seven pause --kill` is on; `seven status` shows it",
    ),
    (
        "no_conversation",
        "the guest never wrote, so there is no number to write from",
    ),
    ("deletion_pending", "the guest has asked to be forgotten"),
    (
        "unknown_guest",
        "no guest of this casino; a guest comes to be with the first text",
    ),
    (
        "conversation_under_way",
        "waits: the guest is being answered, or a text to the guest has not left yet",
    ),
    (
        "earlier_text_unsent",
        "waits: an earlier text to the guest has not left yet",
    ),
    (
        "reason_lapsed",
        "its reason would have lapsed before the guest's sending window opened",
    ),
    (
        "not_registered",
        "the number's campaign is not approved by the carriers (operational.registration)",
    ),
    (
        "cooldown",
        "another text of this class went to the guest too short a time ago",
    ),
    (
        "cap",
        "the guest has had as many of these texts as the rules allow",
    ),
    (
        "number_reassigned",
        "the number belongs to somebody else now",
    ),
    (
        "number_unchecked",
        "the casino wants the number checked against reassignment first, and it was not",
    ),
    (
        "opt_out_asked",
        "waits: the guest was asked whether they want no more texts, and has not answered",
    ),
    (
        "opt_out_question",
        "resembled an opt-out, so the guest was asked; proactive texts wait for the answer",
    ),
    (
        "reaction",
        "a phone's reaction to a text of ours, or our own words quoted; it needs no answer",
    ),
    (
        "machine",
        "an auto-reply or a carrier's notice; nothing answers it",
    ),
    (
        "answered_recently",
        "the same answer was given a moment ago; it is not repeated in so short a time",
    ),
    (
        "repeated",
        "the same text again within a minute; the first one was answered",
    ),
    (
        "not_a_guest",
        "sent from a short code or from a number of ours; nothing answers it",
    ),
    (
        "provider_stopped",
        "waits: the provider takes nothing of ours (keys or funds); `seven provider list` shows it",
    ),
    (
        "sending_parked",
        "waits: the casino's spend limit at the provider is reached; `seven provider list` shows it",
    ),
    (
        "providers_down",
        "waits: no provider of the casino answers; it goes out in its order when one is back",
    ),
    (
        "no_provider",
        "waits: none of the providers that are set up has a number of this casino",
    ),
    (
        "40300",
        "the carrier blocks this pair of numbers because of a STOP",
    ),
];

/// Returns a reason code followed by its sentence, or the code alone if it has no sentence.
pub fn sentence(code: &str) -> String {
    SENTENCES
        .iter()
        .find(|(known, _)| *known == code)
        .map_or_else(|| code.to_owned(), |(code, text)| format!("{code}: {text}"))
}
