//! What can be wrong with a program that compiles: messages of `lint`.
use crate::diagnostic::message::messages;

messages! {
    ();
    /// More memory than there is. `part`: the bytes of the largest variable, if there are others.
    LimitError {
        Local { kernel: String, bytes: u64, limit: u64, part: Option<u64> } => TooMuchLocal
            "the kernel `{kernel}` takes {bytes} bytes of local memory for each thread; the limit is {limit}",
            at "all of it is here",
            at "{part} of them are here" if part,
            help "use global memory instead, a part of one allocation for each thread";
        Constant { bytes: u64, limit: u64, largest: String, part: u64 } => TooMuchConstant
            "the program's `__constant__` variables take {bytes} bytes; the limit is {limit}",
            at "`{largest}` takes {part}",
            help "make it a `__device__` variable";
    }
}
