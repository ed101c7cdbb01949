//! What a process holds in memory and does not need at rest, given back to the system.
//!
//! A start touches far more of the program than the work after it does, and leaves holes in the heap. The kernel takes neither back by
//! itself while memory is plenty, so that a fleet of idle workers holds many times what it uses. Linux with glibc; elsewhere nothing
//! happens.
//!
//! The one crate with `unsafe` code: two calls into the system, each with the reason why it is sound.

mod maps;

/// Gives back free heap pages, and the pages of the program's own file of which there is no copy of ours. The latter stay in the system's
/// cache, and the next use of each maps it again (about a microsecond for 64 KB). Takes some milliseconds; for moments of rest.
///
/// Returns the bytes of the program's file that were mapped before; zero where the system does not say.
pub fn give_back() -> u64 {
    trim_heap();
    let program = std::fs::read_link("/proc/self/exe").unwrap_or_default().to_string_lossy().into_owned();
    let mapped = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    let clean = maps::clean(&mapped, &program);
    clean.iter().map(|mapping| if unmap(mapping) { mapping.resident } else { 0 }).sum()
}

#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn trim_heap() {
    #[expect(unsafe_code, reason = "the C library has no safe form of it")]
    // SAFETY: takes no pointer, may be called at any time from any thread, and leaves every block that is in use where it is.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn trim_heap() {}

/// False when the kernel refused.
#[cfg(target_os = "linux")]
fn unmap(mapping: &maps::Mapping) -> bool {
    let length = mapping.end - mapping.start;
    #[expect(unsafe_code, reason = "the C library has no safe form of it")]
    // SAFETY: the range is a mapping of the running program, which stays where it is for as long as the process lives. Nobody may write to it and
    // it has no page of our own (`maps::clean`), so that what is read there afterwards comes from the file, byte for byte as before.
    unsafe {
        libc::madvise(std::ptr::with_exposed_provenance_mut(mapping.start), length, libc::MADV_DONTNEED) == 0
    }
}

#[cfg(not(target_os = "linux"))]
fn unmap(_: &maps::Mapping) -> bool {
    false
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    fn kilobytes(name: &str) -> u64 {
        let status = std::fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim().split(' ').next().unwrap().parse().unwrap()
    }

    #[test]
    fn pages_of_the_program_go_and_come_back_as_they_were() {
        let told = || format!("{:?} {}", std::env::args().next(), maps::clean("", "/bin/true").len());
        let (said, before) = (told(), kilobytes("RssFile:"));
        let given = give_back();
        let after = kilobytes("RssFile:");
        assert!(given > 0 && after < before, "{given} given, {before} kB before, {after} kB after");
        assert_eq!(told(), said);
    }

    #[test]
    fn holes_in_the_heap_go() {
        // Every second block stays, so that the heap cannot shrink from its end.
        let mut blocks: Vec<Option<Vec<u8>>> = (0..2_000).map(|n| Some(vec![1; 16_000 + n % 2])).collect();
        let before = kilobytes("RssAnon:");
        blocks.iter_mut().step_by(2).for_each(|block| *block = None);
        give_back();
        let after = kilobytes("RssAnon:");
        assert!(after + 8_000 < before, "{before} kB before, {after} kB after");
        assert!(blocks.iter().flatten().all(|block| block.iter().all(|byte| *byte == 1)));
    }
}
