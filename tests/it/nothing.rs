//! Empty on purpose. The integration tests are the test binary `it`, but cargo demands that a
//! package also has a library or a program.
