//! Selects the earlier exchanges a turn is shown as they were written (DATA-24): the newest that
//! fit. Older ones are in the summary.

/// How much of a conversation is shown word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub exchanges: usize,
    /// Of both sides together; four of them are about one token.
    pub characters: usize,
}

impl Window {
    /// Twenty messages of a session under way.
    pub const SESSION: Self = Self { exchanges: 10, characters: 4_000 };
    /// The last ten messages of the session before (DATA-25).
    pub const RESUMED: Self = Self { exchanges: 5, characters: 2_000 };
}

/// The newest exchanges (guest, host) within the window, oldest first. The newest is always among them: a follow-up is about it.
pub fn window(exchanges: &[(String, String)], most: Window) -> &[(String, String)] {
    let mut characters = 0;
    let fits = |(guest, host): &&(String, String)| {
        characters += guest.chars().count() + host.chars().count();
        characters <= most.characters
    };
    let fitting = exchanges.iter().rev().take(most.exchanges).take_while(fits).count();
    &exchanges[exchanges.len() - fitting.max(usize::from(!exchanges.is_empty() && most.exchanges > 0))..]
}
