//! Selects the newest earlier exchanges that fit into a turn's prompt word for word (DATA-24).
//! Older ones are in the summary.

/// How much of a conversation is shown word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub exchanges: usize,
    /// Limit for the texts of both sides together; four characters are about one token.
    pub characters: usize,
}

impl Window {
    /// Twenty messages, for a session in progress.
    pub const SESSION: Self = Self { exchanges: 10, characters: 4_000 };
    /// The last ten messages of the previous session (DATA-25).
    pub const RESUMED: Self = Self { exchanges: 5, characters: 2_000 };
}

/// Returns the newest exchanges (guest, host) within the window, oldest first. The newest is always
/// included, because a follow-up question refers to it.
pub fn window(exchanges: &[(String, String)], most: Window) -> &[(String, String)] {
    let mut characters = 0;
    let fits = |(guest, host): &&(String, String)| {
        characters += guest.chars().count() + host.chars().count();
        characters <= most.characters
    };
    let fitting = exchanges.iter().rev().take(most.exchanges).take_while(fits).count();
    &exchanges[exchanges.len() - fitting.max(usize::from(!exchanges.is_empty() && most.exchanges > 0))..]
}
