//! The integration tests are the binary `it`; cargo wants a library or a binary beside it.
