//! Word patterns, written as data, so that lists of phrases are easy to read.
//!
//! A pattern is a row of elements separated by spaces:
//! - `stop|quit` one of these; `do_not` is two words; `@group` stands for a named list of alternatives
//! - `gambl*` a word that begins so; `#` a number, `#9000-9999` by value, `#16d` or `#8-17d` by how many digits it has;
//!   `#code` letters and at least three digits
//! - `?me|us` one of these or nothing; `*all|your` any number of them (at most 12)
//! - `.` any one word; `~4` up to four words, whatever they are; `~4!not|never` up to four words, none of these
//! - `<not|never` no word here, but the words before must not end so; `>until|unless` nor the words after begin so
//! - `^` the beginning and `$` the end of the message, courtesy ("hi", "please", "thank you") aside
//! - `:` here stands a colon, a bracket or the like
//! - `&` between two patterns: both must be found, in any order
//!
//! All patterns of a program are searched for together: see [`program`].

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
