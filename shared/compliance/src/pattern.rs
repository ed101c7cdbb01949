//! Word patterns, written as data so that lists of phrases are easy to read.
//!
//! A pattern is a row of elements separated by spaces:
//! - `stop|quit`: one of these; `do_not`: these two words; `@group`: a named list of alternatives
//! - `gambl*`: a word that begins with these letters
//! - `#code`: a word of letters and at least three digits
//! - `#`: a number; `#9000-9999`: one in this range; `#16d`, `#8-17d`: one with this many digits
//! - `?me|us`: one of these or nothing; `*all|your`: up to 12 of these
//! - `.`: any one word; `~4`: up to four words; `~4!not|never`: up to four words, none of these
//! - `<not|never`: none of these directly before here; `>until|unless`: none directly after
//! - `^`, `$`: the beginning and the end of the message, apart from courtesy such as "please"
//! - `:`: a colon, a bracket or a similar sign
//! - `&` between two patterns: both must be found, in any order

mod lexicon;
mod parse;
mod program;
mod reading;
mod search;
#[cfg(test)]
mod tests;
mod typo;

pub(crate) use self::{
    parse::{Groups, Problem},
    program::{Builder, Part, Program, Rule},
    reading::{Reading, Symbol},
    search::Scratch,
};
