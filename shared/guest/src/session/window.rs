//! Selects the newest exchanges, which a turn's prompt shows word for word. Older exchanges appear
//! only in the summary.

/// How much of a conversation a prompt shows word for word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    pub exchanges: usize,
    /// Maximum number of characters of the guest's and the host's texts together; four characters
    /// are about one token.
    pub characters: usize,
}

impl Window {
    /// Ten exchanges, for a session in progress.
    pub const SESSION: Self = Self {
        exchanges: 10,
        characters: 4_000,
    };
    /// The last five exchanges of the previous session.
    pub const RESUMED: Self = Self {
        exchanges: 5,
        characters: 2_000,
    };
}

/// Returns the newest exchanges (guest, host) that fit the window, oldest first. The newest
/// exchange is included even if it is too long, because a follow-up question may refer to it.
pub fn window(exchanges: &[(String, String)], most: Window) -> &[(String, String)] {
    let mut characters = 0;
    let fits = |(guest, host): &&(String, String)| {
        characters += guest.chars().count() + host.chars().count();
        characters <= most.characters
    };
    let fitting = exchanges
        .iter()
        .rev()
        .take(most.exchanges)
        .take_while(fits)
        .count();
    &exchanges
        [exchanges.len() - fitting.max(usize::from(!exchanges.is_empty() && most.exchanges > 0))..]
}
