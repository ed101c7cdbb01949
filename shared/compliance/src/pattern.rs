//! Word patterns, written as data and matched over folded words, so that a phrase list reads like a phrase list.
//!
//! A pattern is a row of elements separated by spaces:
//! - `stop|quit` one of these; `do_not` is two words; `@group` stands for a named list of alternatives
//! - `?me|us` one of these or nothing; `*all|your` any number of them
//! - `<not|never` first element only: the match must not follow one of these; `>until|unless` last only: nor precede
//! - `^` the beginning and `$` the end of the message, courtesy ("hi", "please", "thank you") aside

/// Named alternatives: `(name, "word|word")`; a group may use groups that stand before it in the list.
pub(crate) type Groups = &'static [(&'static str, &'static str)];

#[derive(Debug)]
pub(crate) struct Pattern {
    elements: Vec<Element>,
}

#[derive(Debug)]
enum Element {
    One(Alternatives),
    Optional(Alternatives),
    Many(Alternatives),
    NotAfter(Alternatives),
    NotBefore(Alternatives),
    Start,
    End,
}

type Alternatives = Vec<Vec<&'static str>>;

/// Tells how many words of courtesy stand at the beginning of these words, if any.
pub(crate) type Courtesy = fn(&[String]) -> Option<usize>;

impl Pattern {
    pub(crate) fn parse(text: &'static str, groups: Groups) -> Self {
        let elements = text.split_whitespace().map(|element| {
            let list = |rest| alternatives(rest, groups);
            match element.split_at_checked(1) {
                Some(("^", "")) => Element::Start,
                Some(("$", "")) => Element::End,
                Some(("?", rest)) => Element::Optional(list(rest)),
                Some(("*", rest)) => Element::Many(list(rest)),
                Some(("<", rest)) => Element::NotAfter(list(rest)),
                Some((">", rest)) => Element::NotBefore(list(rest)),
                _ => Element::One(list(element)),
            }
        });
        Self { elements: elements.collect() }
    }

    pub(crate) fn is_in(&self, text: &Text<'_>) -> bool {
        (0..text.words.len()).any(|at| text.matches(&self.elements, at))
    }
}

fn alternatives(list: &'static str, groups: Groups) -> Alternatives {
    let mut out = Alternatives::new();
    for one in list.split('|') {
        match one.strip_prefix('@') {
            None => out.push(one.split('_').collect()),
            Some(name) => {
                let known = groups.iter().find(|(group, _)| *group == name);
                debug_assert!(known.is_some(), "no group @{name}");
                out.extend(known.map(|(_, list)| alternatives(list, groups)).unwrap_or_default());
            }
        }
    }
    // Twice the same alternative would double the ways to try.
    let mut seen = Alternatives::new();
    out.retain(|one| {
        !seen.contains(one) && {
            seen.push(one.clone());
            true
        }
    });
    out
}

/// `*` takes at most this many: a sentence has no more, and matching stays shallow on any input.
const MANY: usize = 12;

/// A text to search, with its courtesy marked once.
#[derive(Debug)]
pub(crate) struct Text<'a> {
    words: &'a [String],
    /// By position: nothing but courtesy stands before it, or from it on.
    opening: Vec<bool>,
    closing: Vec<bool>,
}

impl<'a> Text<'a> {
    pub(crate) fn new(words: &'a [String], courtesy: Courtesy) -> Self {
        let end = words.len();
        let lengths: Vec<Option<usize>> = (0..end).map(|at| courtesy(&words[at..])).collect();
        let (mut opening, mut closing) = (vec![false; end + 1], vec![false; end + 1]);
        opening[0] = true;
        closing[end] = true;
        for at in 0..end {
            if let (true, Some(length)) = (opening[at], lengths[at]) {
                opening[at + length] = true;
            }
        }
        for at in (0..end).rev() {
            closing[at] = lengths[at].is_some_and(|length| closing[at + length]);
        }
        Self { words, opening, closing }
    }

    fn matches(&self, elements: &[Element], at: usize) -> bool {
        let Some((first, rest)) = elements.split_first() else { return true };
        match first {
            Element::One(list) => self.after(list, at).any(|next| self.matches(rest, next)),
            Element::Optional(list) => self.many(list, rest, at, 1),
            Element::Many(list) => self.many(list, rest, at, MANY),
            Element::NotAfter(list) => {
                !list.iter().any(|one| ends_with(&self.words[..at], one)) && self.matches(rest, at)
            }
            Element::NotBefore(list) => self.after(list, at).next().is_none() && self.matches(rest, at),
            Element::Start => self.opening[at] && self.matches(rest, at),
            Element::End => self.closing[at] && self.matches(rest, at),
        }
    }

    fn many(&self, list: &Alternatives, rest: &[Element], at: usize, left: usize) -> bool {
        (left > 0 && self.after(list, at).any(|next| self.many(list, rest, next, left - 1))) || self.matches(rest, at)
    }

    /// Where each alternative that stands here ends.
    fn after(&self, list: &Alternatives, at: usize) -> impl Iterator<Item = usize> {
        list.iter().filter(move |one| starts_with(&self.words[at..], one)).map(move |one| at + one.len())
    }
}

/// Whether `words` begin with this phrase.
pub(crate) fn starts_with(words: &[String], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && words.iter().zip(phrase).all(|(word, one)| word == one)
}

fn ends_with(words: &[String], phrase: &[&str]) -> bool {
    words.len() >= phrase.len() && starts_with(&words[words.len() - phrase.len()..], phrase)
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUPS: Groups = &[("end", "stop|quit"), ("both", "@end|do_not")];

    fn found(pattern: &'static str, text: &str) -> bool {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Pattern::parse(pattern, GROUPS).is_in(&Text::new(&words, |words| (words[0] == "please").then_some(1)))
    }

    #[test]
    fn elements() {
        for (pattern, yes, no) in [
            ("a b|c", "x a c x", "a x b"),
            ("a ?b c", "a b c", "a b b c"),
            ("a *b|d c", "a b d b c", "a b x c"),
            ("@both now", "do not now", "do now"),
            ("<not|do_not stop", "now stop", "do not stop"),
            ("stop >the|for_now", "stop for ever", "stop for now"),
            ("^ stop $", "please stop please please", "please stop now"),
            ("a *b b", "a b b", "a"),
        ] {
            assert!(found(pattern, yes), "{pattern} in {yes}");
            assert!(!found(pattern, no), "{pattern} not in {no}");
        }
    }
}
