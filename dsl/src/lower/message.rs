//! Messages of `lower`: what can be wrong with a well-typed program.

use crate::message::messages;

messages! {
    ();
    /// Errors of the lowering.
    LowerError {
        // A bug in this crate, reported without a panic.
        Internal { what: String } => InternalError
            "internal error of the lowering: {what}";
        InitialValueForm => Unsupported
            "an initial value of this form is not supported here",
            help "set it when the program starts";
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
