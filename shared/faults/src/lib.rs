//! Deliberate faults for tests and `./scripts/chaos --mutants`: [`failpoint!`] ends the process,
//! [`mutant!`] breaks a promise.
//!
//! Without the feature `armed` the macros leave nothing in the binary, not even names;
//! `scripts/product` checks that.

#[cfg(feature = "armed")]
pub mod armed;

/// Ends the process here as `kill -9` does, or stops it until SIGCONT, if this point is armed (see
/// [`armed::failpoint`]).
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! failpoint {
    ($name:literal) => {
        $crate::armed::failpoint($name)
    };
}

/// Does nothing, because this build has no faults.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! failpoint {
    ($name:literal) => {};
}

/// Returns true if this process runs the named mutant, which breaks a promise.
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {
        $crate::armed::mutant($name)
    };
}

/// Returns false, because this build has no faults.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! mutant {
    ($name:literal) => {
        false
    };
}

/// Selects the first block, because this build has faults.
#[cfg(feature = "armed")]
#[macro_export]
macro_rules! where_armed {
    ($armed:block else $product:block) => {
        $armed
    };
}

/// Selects the second block, because this build has no faults.
#[cfg(not(feature = "armed"))]
#[macro_export]
macro_rules! where_armed {
    ($armed:block else $product:block) => {
        $product
    };
}
