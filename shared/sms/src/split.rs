//! Splits a reply into a few texts of one segment each, cut where a reader would pause.

use unicode_segmentation::UnicodeSegmentation;

use crate::{
    encoding::{Encoding, septets},
    segments::measure,
    transliterate::transliterate,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shaped {
    /// The texts in sending order, one segment each.
    pub texts: Vec<String>,
    /// True if part of the reply did not fit into the last text and was left out.
    pub truncated: bool,
}

impl Shaped {
    /// Shapes a reply into texts of one segment if `segments` is true; otherwise keeps it as one
    /// message.
    pub fn of(text: &str, segments: bool, max_texts: usize) -> Self {
        if segments {
            return shape(text, max_texts);
        }
        Self {
            texts: vec![text.trim().to_owned()],
            truncated: false,
        }
    }
}

/// Transliterates a reply, joins its lines and cuts it into at most `max_texts` texts. Cuts at the
/// end of a sentence or at a comma. If these cuts would truncate the reply and cuts at spaces would
/// not, cuts at spaces.
pub fn shape(text: &str, max_texts: usize) -> Shaped {
    let line = one_line(&transliterate(text));
    let mut texts = Vec::new();
    let mut rest = line.as_str();
    while !rest.is_empty() && texts.len() < max_texts {
        let left = max_texts - texts.len() - 1;
        let cuts = Cuts::of(rest);
        let affordable = |cut: &Cut| {
            left == 0 || fits(&rest[cut.next..], left) || !fits(&rest[cuts.word.next..], left)
        };
        let cut = match cuts.whole {
            true => Cut {
                end: rest.len(),
                next: rest.len(),
            },
            false => cuts
                .sentence
                .filter(affordable)
                .or(cuts.comma.filter(|cut| left > 0 && affordable(cut)))
                .unwrap_or(cuts.word),
        };
        texts.push(rest[..cut.end].to_owned());
        rest = &rest[cut.next..];
    }
    Shaped {
        texts,
        truncated: !rest.is_empty(),
    }
}

/// Joins words with single spaces. Leaves out a space that would form one grapheme with its
/// neighbour. Otherwise a text that is cut there would begin or end with that space.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split_whitespace() {
        if let (Some(before), Some(after)) = (line.chars().next_back(), word.chars().next())
            && parts(before, after)
        {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

fn parts(before: char, after: char) -> bool {
    before.is_ascii() && after.is_ascii()
        || String::from_iter([before, ' ', after])
            .graphemes(true)
            .any(|g| g == " ")
}

/// Returns whether `rest` fits into `texts` texts if it is cut between words. Such cuts need the
/// fewest texts: if `rest` does not fit with them, it fits with no others.
fn fits(mut rest: &str, texts: usize) -> bool {
    for _ in 0..texts {
        let cuts = Cuts::of(rest);
        if cuts.whole {
            return true;
        }
        rest = &rest[cuts.word.next..];
    }
    rest.is_empty()
}

/// A cut: one text ends at `end`, the next begins at `next`; a space between them is dropped.
#[derive(Debug, Clone, Copy)]
struct Cut {
    end: usize,
    next: usize,
}

struct Cuts {
    /// True if the rest fits into one text.
    whole: bool,
    /// The last end of a sentence, if it lies after the first 40 % of the characters that fit into
    /// one text.
    sentence: Option<Cut>,
    /// The last comma, if it lies after the first 60 % of the characters that fit into one text. A
    /// cut at a comma keeps a name in a list whole.
    comma: Option<Cut>,
    /// The last space, or else the last grapheme that fits.
    word: Cut,
}

impl Cuts {
    /// Finds the cuts in the longest beginning of `rest` that takes one segment.
    fn of(rest: &str) -> Self {
        let mut load = Load::default();
        let mut spaces = Vec::new();
        let mut full = rest.len();
        for (at, cluster) in rest.grapheme_indices(true) {
            // The space after the last word that fits is not sent, so it need not fit.
            if cluster == " " {
                spaces.push(at);
            }
            if !load.take(cluster) {
                full = at;
                break;
            }
        }
        let hard = if full > 0 { full } else { first_chars(rest) };
        let word = spaces.last().map_or(
            Cut {
                end: hard,
                next: hard,
            },
            |&at| Cut {
                end: at,
                next: at + 1,
            },
        );
        let last = |percent: usize, pause: &dyn Fn(usize) -> bool| {
            let past = |at: usize| {
                rest[..at].chars().count() * 100 > rest[..full].chars().count() * percent
            };
            spaces
                .iter()
                .rev()
                .find(|&&at| pause(at))
                .filter(|&&at| past(at))
                .map(|&at| Cut {
                    end: at,
                    next: at + 1,
                })
        };
        let sentence = last(40, &|at| ends_sentence(&rest[..at], &rest[at + 1..]));
        let comma = last(60, &|at| rest[..at].ends_with(','));
        Self {
            whole: full == rest.len(),
            sentence,
            comma,
            word,
        }
    }
}

/// The units of the characters so far, in both alphabets. Only this text's characters decide which
/// alphabet applies.
#[derive(Default)]
struct Load {
    septets: usize,
    units: usize,
    beyond_gsm: bool,
}

impl Load {
    fn take(&mut self, cluster: &str) -> bool {
        for c in cluster.chars() {
            self.units += c.len_utf16();
            match septets(c) {
                Some(n) => self.septets += n,
                None => self.beyond_gsm = true,
            }
        }
        if self.beyond_gsm {
            self.units <= Encoding::Ucs2.single()
        } else {
            self.septets <= Encoding::Gsm7.single()
        }
    }
}

/// Returns the index at which a grapheme that does not fit into one text is cut: between two of its
/// characters. No other cut splits a grapheme.
fn first_chars(rest: &str) -> usize {
    let mut end = 0;
    for c in rest.chars() {
        let next = end + c.len_utf8();
        if end > 0 && measure(&rest[..next]).segments > 1 {
            break;
        }
        end = next;
    }
    end
}

/// Abbreviations whose full stop does not end a sentence.
const ABBREVIATIONS: &[&str] = &[
    "a.m", "p.m", "am", "pm", "st", "mr", "mrs", "ms", "dr", "jr", "sr", "ave", "av", "blvd", "rd",
    "hwy", "ste", "apt", "dept", "ext", "vs", "etc", "e.g", "i.e", "approx", "min", "max", "sra",
    "srta", "ud", "uds", "dra", "p.ej", "ee.uu", "u.s", "u.s.a",
];

/// Returns whether a reader would pause between two words. The reader does if `before` ends a
/// sentence and is neither an abbreviation nor a list number.
fn ends_sentence(before: &str, after: &str) -> bool {
    let core = before.trim_end_matches(['"', '\'', ')', ']']);
    let Some(stop) = core
        .chars()
        .next_back()
        .filter(|c| matches!(c, '.' | '?' | '!' | ';'))
    else {
        return false;
    };
    if stop != '.' {
        return true;
    }
    let (earlier, token) = core.rsplit_once(' ').unwrap_or(("", core));
    let word = token[..token.len() - 1]
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .to_lowercase();
    if word.is_empty() || word.ends_with('.') {
        return true;
    }
    let initial = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    let numbered = word == "no" && after.starts_with(|c: char| c.is_ascii_digit());
    let list_item = word.len() <= 2
        && word.bytes().all(|b| b.is_ascii_digit())
        && (earlier.is_empty() || earlier.ends_with(['.', '?', '!', ';', ':']));
    !(initial || numbered || list_item || ABBREVIATIONS.contains(&word.as_str()))
}

#[cfg(test)]
#[path = "split_tests.rs"]
mod tests;
