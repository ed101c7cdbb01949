//! See the module's tests.
