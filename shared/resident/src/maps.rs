//! `/proc/self/smaps` (proc(5)), read.

/// A range of addresses and how many bytes of it are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) resident: u64,
}

/// Mappings of the running program that nobody may write to, with something in memory and none of it, in memory or swapped out, a copy of our
/// own: a page that the loader corrected, or a debugger, would be lost.
///
/// The program lies in one row of mappings, with its code among them. Whoever reads its file maps it elsewhere, and unmaps it again.
pub(crate) fn clean(smaps: &str, program: &str) -> Vec<Mapping> {
    let all = entries(smaps);
    let Some(code) = all.iter().position(|entry| entry.path == program && entry.rights.contains('x')) else {
        return Vec::new();
    };
    let joined =
        |left: &Entry<'_>, right: &Entry<'_>| left.end == right.start && left.path == program && right.path == program;
    let first = (0..code).rev().take_while(|at| joined(&all[*at], &all[at + 1])).last().unwrap_or(code);
    let last = (code + 1..all.len()).take_while(|at| joined(&all[at - 1], &all[*at])).last().unwrap_or(code);
    let given = all[first..=last].iter().filter(|entry| entry.is_clean());
    given.map(|entry| Mapping { start: entry.start, end: entry.end, resident: entry.resident * 1_024 }).collect()
}

/// One mapping, as a head and a line for each figure tell of it.
#[derive(Debug, Default)]
struct Entry<'a> {
    start: usize,
    end: usize,
    rights: &'a str,
    path: &'a str,
    /// Kilobytes in memory; of our own, in memory and swapped out: none where that is not said.
    resident: u64,
    own: Option<u64>,
    swapped: Option<u64>,
}

impl Entry<'_> {
    fn is_clean(&self) -> bool {
        let reads_only = self.rights.starts_with("r-") && self.rights.ends_with('p');
        reads_only && self.resident > 0 && (self.own, self.swapped) == (Some(0), Some(0))
    }
}

fn entries(smaps: &str) -> Vec<Entry<'_>> {
    let mut all: Vec<Entry<'_>> = Vec::new();
    for line in smaps.lines() {
        if let Some((start, end)) = range(line) {
            // `55d0-55e0 r-xp 00002000 fe:00 247030   /usr/bin/cat`: the path has the line's first slash.
            let (fields, path) = line.split_at(line.find('/').unwrap_or(line.len()));
            let rights = fields.split_whitespace().nth(1).unwrap_or_default();
            all.push(Entry { start, end, rights, path, ..Entry::default() });
        } else if let (Some(entry), Some((what, amount))) = (all.last_mut(), line.split_once(':')) {
            match what {
                "Rss" => entry.resident = kilobytes(amount).unwrap_or_default(),
                "Anonymous" => entry.own = kilobytes(amount),
                "Swap" => entry.swapped = kilobytes(amount),
                _ => {}
            }
        }
    }
    all
}

fn range(line: &str) -> Option<(usize, usize)> {
    let (start, end) = line.split_whitespace().next()?.split_once('-')?;
    Some((usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?))
}

fn kilobytes(amount: &str) -> Option<u64> {
    amount.trim().strip_suffix(" kB")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "/usr/bin/the seven (deleted)";

    /// A mapping of sixteen pages, this far from the program's first.
    fn mapping(at: usize, rights: &str, path: &str, figures: &str) -> String {
        let (start, end) = (0x10_000 + at * 0x10_000, 0x20_000 + at * 0x10_000);
        format!(
            "{start:x}-{end:x} {rights} 00002000 fe:00 247030      {path}\nSize: 64 kB\n{figures}\nVmFlags: rd mr mw me\n"
        )
    }

    const CLEAN: &str = "Rss:        32 kB\nAnonymous:         0 kB\nSwap: 0 kB";

    #[test]
    fn clean_mappings_of_the_program_are_given_back() {
        let whole = [
            mapping(0, "r--p", PROGRAM, CLEAN),
            mapping(1, "r-xp", PROGRAM, CLEAN),
            // Corrected by the loader and then made read-only; in memory, or swapped out.
            mapping(2, "r--p", PROGRAM, "Rss: 32 kB\nAnonymous: 4 kB\nSwap: 0 kB"),
            mapping(3, "r--p", PROGRAM, "Rss: 32 kB\nAnonymous: 0 kB\nSwap: 4 kB"),
            mapping(4, "rw-p", PROGRAM, CLEAN),
            mapping(5, "r--p", PROGRAM, CLEAN),
            // Somebody who reads symbols; a library; nobody's file.
            mapping(7, "r--p", PROGRAM, CLEAN),
            mapping(8, "r-xp", "/usr/lib/libc.so.6", CLEAN),
            mapping(9, "r-xp", "", CLEAN),
        ]
        .concat();
        let starts: Vec<usize> = clean(&whole, PROGRAM).iter().map(|mapping| mapping.start).collect();
        assert_eq!(starts, [0x10_000, 0x20_000, 0x60_000]);
        assert_eq!(clean(&whole, PROGRAM)[1], Mapping { start: 0x20_000, end: 0x30_000, resident: 32 * 1_024 });
        assert_eq!(clean(&whole, "/usr/bin/other"), []);
    }

    #[test]
    fn what_may_be_ours_alone_stays() {
        let code = |rights: &str, figures: &str| clean(&mapping(0, rights, PROGRAM, figures), PROGRAM).len();
        assert_eq!(code("r-xp", CLEAN), 1);
        assert_eq!(code("r-xs", CLEAN), 0, "shared");
        assert_eq!(code("rwxp", CLEAN), 0);
        assert_eq!(code("r-xp", "Rss: 0 kB\nAnonymous: 0 kB\nSwap: 0 kB"), 0, "nothing in memory");
        assert_eq!(code("r-xp", "Rss: 32 kB"), 0, "a kernel that does not say");
        assert_eq!(code("r-xp", "Rss: 32 kB\nAnonymous: 0 kB"), 0);
        assert_eq!(clean("", PROGRAM), []);
    }
}
