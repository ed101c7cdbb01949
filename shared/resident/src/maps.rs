//! `/proc/self/smaps` (proc(5)), read.

/// A range of addresses and how many bytes of it are in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) resident: u64,
}

/// Mappings of the program's file that nobody may write to, with something in memory and none of it a copy of our own: a page that the
/// loader corrected, or a debugger, would be lost.
pub(crate) fn clean(smaps: &str, program: &str) -> impl Iterator<Item = Mapping> {
    let mut lines = smaps.lines().peekable();
    std::iter::from_fn(move || {
        loop {
            let head = lines.next()?;
            let Some((start, end)) = unwritable(head, program) else { continue };
            let (mut resident, mut own) = (None, None);
            while let Some(line) = lines.next_if(|line| range(line).is_none()) {
                match line.split_once(':') {
                    Some(("Rss", amount)) => resident = kilobytes(amount),
                    Some(("Anonymous", amount)) => own = kilobytes(amount),
                    _ => {}
                }
            }
            // Who does not say how much is our own is not trusted.
            if let (Some(resident @ 1..), Some(0)) = (resident, own) {
                return Some(Mapping { start, end, resident: resident * 1_024 });
            }
        }
    })
}

/// From `55d0-55e0 r-xp 00002000 fe:00 247030   /usr/bin/cat`: the path has the line's first slash.
fn unwritable(head: &str, program: &str) -> Option<(usize, usize)> {
    let (fields, path) = head.split_at(head.find('/')?);
    let rights = fields.split_whitespace().nth(1)?;
    (path == program && rights.starts_with("r-") && rights.ends_with('p')).then(|| range(head)).flatten()
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

    #[test]
    fn only_clean_pages_of_files_are_given_back() {
        let none_own = "Anonymous:         0 kB\n";
        let program = "/usr/bin/the seven (deleted)";
        let cases = [
            ("r-xp 00002000 fe:00 247030                     /usr/bin/the seven (deleted)", 32, none_own, true),
            ("r--p 00000000 fe:00 247030                     /usr/bin/the seven (deleted)", 32, none_own, true),
            // Corrected by the loader and then made read-only.
            ("r--p 00000000 fe:00 247030 /usr/bin/the seven (deleted)", 32, "Anonymous: 4 kB\n", false),
            ("rw-p 00000000 fe:00 247030 /usr/bin/the seven (deleted)", 32, none_own, false),
            ("r--s 00000000 fe:00 247030 /usr/bin/the seven (deleted)", 32, none_own, false),
            ("---p 00000000 fe:00 247030 /usr/bin/the seven (deleted)", 32, none_own, false),
            // May be unmapped while we look.
            ("r-xp 00000000 fe:00 247030 /usr/lib/libc.so.6", 32, none_own, false),
            ("r--p 00000000 00:00 0", 32, none_own, false),
            ("r-xp 00000000 00:00 0          [vdso]", 8, none_own, false),
            ("r-xp 00002000 fe:00 247030 /usr/bin/the seven (deleted)", 0, none_own, false),
            // A kernel that does not say.
            ("r-xp 00002000 fe:00 247030 /usr/bin/the seven (deleted)", 32, "", false),
        ];
        let entries = cases.map(|(head, resident, own, given)| {
            (format!("1000-9000 {head}\nSize: 64 kB\nRss: {resident} kB\n{own}VmFlags: rd mr mw me\n"), resident, given)
        });
        let whole: String = entries.iter().map(|(entry, ..)| entry.as_str()).collect();
        assert_eq!(clean(&whole, program).count(), 2);
        for (entry, resident, given) in entries {
            let found: Vec<_> = clean(&entry, program).collect();
            let mapping = Mapping { start: 0x1000, end: 0x9000, resident: resident * 1_024 };
            assert_eq!(found, Vec::from_iter(given.then_some(mapping)), "{entry}");
        }
        assert_eq!(clean("", program).count(), 0);
    }
}
