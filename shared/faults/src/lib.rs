//! Faults on purpose, for tests and `./scripts/chaos --mutants`: places at which a process dies ([`failpoint!`]) and promises that it
//! breaks ([`mutant!`]). Without the feature `armed` the macros leave nothing behind, names included (`scripts/product` looks).

#[cfg(feature = "armed")]
pub mod armed;

/// Dies at a named place as if by `kill -9`, or stops there until SIGCONT, where [`armed::failpoint`] was told so.
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! failpoint {
    ($name:literal) => {
        $crate::armed::failpoint($name)
    };
}

/// Nothing: this build has no faults.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! failpoint {
    ($name:literal) => {};
}

/// Whether this process breaks the named promise.
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {
        $crate::armed::mutant($name)
    };
}

/// False: this build has no faults.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {
        false
    };
}

/// The first block in a build with faults, the second in one without.
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! where_armed {
    ($armed:block else $product:block) => {
        $armed
    };
}

/// The first block in a build with faults, the second in one without.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! where_armed {
    ($armed:block else $product:block) => {
        $product
    };
}
