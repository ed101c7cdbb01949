//! Searches a text for all patterns of a program; [`super::program`] explains masks and slots.

use super::{
    program::{ClassId, Lists, Part, Pattern, Program, Reach, Step, Uses},
    reading::{Reading, WINDOW},
};

/// Buffers that successive searches reuse, to save allocations.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    /// For each symbol, then each slot, the words of the window at which it occurs. All zero
    /// between searches.
    masks: Vec<u64>,
    /// The indexes of the masks that are not zero.
    touched: Vec<u32>,
    /// For each pattern, the number of the last window in which it was tried.
    tried: Vec<u64>,
    window: u64,
    /// The rules that matched in the current window; `rules` has those of the whole text.
    found: Vec<u32>,
    rules: Vec<u32>,
    /// The patterns tried and the masks touched; tests check that this grows only with the text.
    #[cfg(test)]
    pub(crate) work: u64,
}

/// Distance in words between the starts of two windows. Windows overlap, so a match of up to 23
/// words always lies in one window. It must stay `MARGIN` words away from the window's cut ends,
/// because the words beside it may exclude it.
const STRIDE: usize = 30;
const MARGIN: usize = 4;

/// A window of a text, as bit masks over the positions between its words.
struct View<'a> {
    masks: &'a [u64],
    all: u64,
    starts: u64,
    ends: u64,
    opening: u64,
    closing: u64,
    labels: u64,
}

impl Uses {
    /// Marks where the slots below `end` occur, using the first `symbols` entries of `touched`.
    fn mark(
        &self,
        phrases: &Lists,
        symbols: usize,
        end: u32,
        masks: &mut [u64],
        touched: &mut Vec<u32>,
    ) {
        let set = |masks: &mut [u64], touched: &mut Vec<u32>, slot: u32, mask: u64| {
            let here = &mut masks[slot as usize];
            if *here == 0 {
                touched.push(slot);
            }
            *here |= mask;
        };
        for at in 0..symbols {
            let symbol = touched[at];
            let mask = masks[symbol as usize];
            self.slots_of
                .before(symbol, end)
                .for_each(|slot| set(masks, touched, *slot, mask));
            for &phrase in self.phrases_of.get(symbol) {
                let words = phrases.get(phrase).iter().enumerate();
                let mask = words.fold(u64::MAX, |mask, (at, word)| {
                    mask & masks[*word as usize] >> at
                });
                if mask != 0 {
                    self.slots_of_phrase
                        .before(phrase, end)
                        .for_each(|slot| set(masks, touched, *slot, mask));
                }
            }
        }
    }
}

impl Program {
    /// Returns the numbers of the rules that match, in ascending order.
    pub(crate) fn search<'s>(
        &self,
        reading: &Reading,
        scratch: &'s mut Scratch,
        part: Part,
    ) -> &'s [u32] {
        let reach = self.reach(part);
        scratch.masks.resize(self.masks, 0);
        scratch.tried.resize(self.patterns.len(), 0);
        scratch.rules.clear();
        let words = reading.folded.len();
        let (mut start, mut from) = (0, 0);
        loop {
            let end = words.min(start + WINDOW);
            if words <= WINDOW {
                self.look(reading, start..end, 0..reading.seen.len(), reach, scratch);
                break;
            }
            from += reading.seen[from..].partition_point(|(at, _)| (*at as usize) < start);
            let to = from + reading.seen[from..].partition_point(|(at, _)| (*at as usize) < end);
            self.look(reading, start..end, from..to, reach, scratch);
            if end == words {
                break;
            }
            start += STRIDE;
        }
        scratch.rules.sort_unstable();
        scratch.rules.dedup();
        &scratch.rules
    }

    fn look(
        &self,
        reading: &Reading,
        window: std::ops::Range<usize>,
        seen: std::ops::Range<usize>,
        reach: Reach,
        scratch: &mut Scratch,
    ) {
        for &(at, symbol) in &reading.seen[seen] {
            let mask = &mut scratch.masks[symbol as usize];
            if *mask == 0 {
                scratch.touched.push(symbol);
            }
            *mask |= 1 << (at as usize - window.start);
        }
        let symbols = scratch.touched.len();
        let Scratch { masks, touched, .. } = scratch;
        self.anchors
            .mark(&self.phrases, symbols, reach.masks, masks, touched);
        let anchors = touched.len();
        self.others
            .mark(&self.phrases, symbols, reach.masks, masks, touched);
        scratch.window += 1;
        let view = self.view(reading, &window, &scratch.masks);
        for &mask in &scratch.touched[..anchors] {
            for &number in self.anchored.before(mask, reach.patterns) {
                if std::mem::replace(&mut scratch.tried[number as usize], scratch.window)
                    == scratch.window
                {
                    continue;
                }
                #[cfg(test)]
                {
                    scratch.work += 1;
                }
                if self.found(&self.patterns[number as usize], &view) {
                    scratch.found.push(self.patterns[number as usize].rule);
                }
            }
        }
        if !scratch.found.is_empty() {
            let Scratch { masks, touched, .. } = scratch;
            self.excuses
                .mark(&self.phrases, symbols, reach.masks, masks, touched);
            let view = self.view(reading, &window, &scratch.masks);
            for rule in scratch.found.drain(..) {
                if !self.unless[rule as usize]
                    .iter()
                    .any(|other| self.found(other, &view))
                {
                    scratch.rules.push(rule);
                }
            }
        }
        #[cfg(test)]
        {
            scratch.work += scratch.touched.len() as u64;
        }
        for mask in scratch.touched.drain(..) {
            scratch.masks[mask as usize] = 0;
        }
    }

    fn view<'a>(
        &self,
        reading: &Reading,
        window: &std::ops::Range<usize>,
        masks: &'a [u64],
    ) -> View<'a> {
        let length = window.len();
        let all = u64::MAX >> (63 - length);
        let (first, last) = (window.start == 0, window.end == reading.folded.len());
        let labels = (0..length).filter(|at| reading.folded.tokens()[window.start + at].gap.label);
        let mut view = View {
            masks,
            all,
            starts: if first { all } else { all << MARGIN },
            ends: if last { all } else { all >> MARGIN },
            opening: u64::from(first),
            closing: if last { 1 << length } else { 0 },
            labels: labels.fold(0, |mask, at| mask | 1 << at),
        };
        loop {
            let opening = view.opening | self.after(self.courtesy, view.opening, &view);
            let before = self.classes[self.courtesy].iter();
            let closing = before.fold(view.closing, |all, &(words, mask)| {
                all | masks[mask as usize] & view.closing >> words
            });
            if (opening, closing) == (view.opening, view.closing) {
                return view;
            }
            (view.opening, view.closing) = (opening, closing);
        }
    }

    fn found(&self, pattern: &Pattern, view: &View<'_>) -> bool {
        pattern.parts.iter().all(|steps| {
            let mut at = view.starts & view.all;
            for step in steps {
                if at == 0 {
                    return false;
                }
                at = self.step(*step, at, view);
            }
            at & view.ends != 0
        })
    }

    /// Advances all partial matches by one step. The bits of `at` are the positions that they have
    /// reached; the result has the positions after the step.
    fn step(&self, step: Step, at: u64, view: &View<'_>) -> u64 {
        match step {
            Step::One(class) => self.after(class, at, view),
            Step::Optional(class) => at | self.after(class, at, view),
            Step::Many(class) => self.repeat(at, view, |at| self.after(class, at, view)),
            Step::NotAfter(class) => at & !self.after(class, view.all, view),
            Step::NotBefore(class) => at & !self.at(class, view),
            Step::Words(most, without) => {
                let free = without.map_or(view.all, |class| view.all & !self.at(class, view));
                (0..most).fold(at, |at, _| at | (at & free) << 1 & view.all)
            }
            Step::Any => at << 1 & view.all,
            Step::Start => at & view.opening,
            Step::End => at & view.closing,
            Step::Label => at & view.labels,
        }
    }

    /// Repeats a step at most twelve times; no real sentence needs more.
    fn repeat(&self, mut at: u64, view: &View<'_>, step: impl Fn(u64) -> u64) -> u64 {
        for _ in 0..12 {
            let next = (at | step(at)) & view.all;
            if next == at {
                break;
            }
            at = next;
        }
        at
    }

    fn after(&self, class: ClassId, at: u64, view: &View<'_>) -> u64 {
        self.classes[class].iter().fold(0, |all, &(words, mask)| {
            all | (at & view.masks[mask as usize]) << words
        }) & view.all
    }

    fn at(&self, class: ClassId, view: &View<'_>) -> u64 {
        self.classes[class]
            .iter()
            .fold(0, |all, &(_, mask)| all | view.masks[mask as usize])
    }
}
