//! Log levels that an operator may raise at run time.

use crate::text_enum;

text_enum! {
    /// A level below INFO.
    LogLevel {
        Debug => "debug",
        Trace => "trace",
    }
}
