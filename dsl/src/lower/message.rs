//! What can be wrong with a program that is well typed: messages of `lower`.

use crate::message::messages;

messages! {
    ();
    /// What the lowering refuses.
    LowerError {
        // A bug of ours, told without a panic.
        Internal { what: String } => InternalError
            "internal error of the lowering: {what}";
        KernelTooLarge { name: String } => KernelTooLarge
            "the kernel is too large when `{name}` is inlined here",
            help "call it from fewer places, or in a loop";
        ValueTooLarge { limit: u64 } => ValueTooLarge
            "a value of more than {limit} numbers is not moved as one",
            help "pass a pointer to it, or copy it with `memcpy`";
        InitialValueTooLarge { name: String } => InitialValueTooLarge
            "the initial value of `{name}` is too large",
            help "set the last elements when the program starts";
    }
}
