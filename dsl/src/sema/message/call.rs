//! Messages of `sema/check/call`.
use crate::sema::{
    check::Tables,
    message::{Fact, Given, messages},
    ty::Ty,
    typed::FunctionSpace,
};
use ir::{diagnostic::Diagnostic, span::Span};

/// The types of a call's arguments; `None` for a list in braces.
pub(crate) struct GivenTypes(pub(crate) Vec<Option<Ty>>);

impl Fact<Tables> for GivenTypes {
    fn shown(&self, tables: &Tables) -> String {
        let text = |ty: &Option<Ty>| ty.as_ref().map_or("{…}".to_string(), |ty| ty.shown(tables));
        let types: Vec<String> = self.0.iter().map(text).collect();
        match types.len() {
            0 => "called without arguments".to_string(),
            _ => format!("called with ({})", types.join(", ")),
        }
    }
}

/// Shows the candidate functions, at most four of them: where each is declared, and its signature.
pub(crate) fn with_candidates(
    mut diagnostic: Diagnostic,
    mut candidates: impl ExactSizeIterator<Item = (Span, String)>,
) -> Diagnostic {
    for (declared, signature) in candidates.by_ref().take(4) {
        diagnostic = diagnostic.label(declared, format!("candidate `{signature}`"));
    }
    match candidates.len() {
        0 => diagnostic,
        more => diagnostic.note(format!("and {more} more")),
    }
}

/// Why there is no atomic operation on a type.
pub(crate) enum NoAtomic {
    /// The operation exists for this pointer without `volatile`.
    Volatile(Ty),
    Constant,
    Signed64,
    /// The pointers that it exists for.
    Other(Vec<Ty>),
}

impl Fact<Tables> for NoAtomic {
    fn shown(&self, tables: &Tables) -> String {
        match self {
            NoAtomic::Volatile(ty) => {
                format!(
                    "atomics need no `volatile`: cast it away, `({})`",
                    ty.shown(tables)
                )
            }
            NoAtomic::Constant => "a constant cannot be changed".to_string(),
            NoAtomic::Signed64 => "cast the address: `(unsigned long long *)`".to_string(),
            NoAtomic::Other(forms) => {
                let forms: Vec<_> = forms
                    .iter()
                    .map(|ty| format!("`{}`", ty.shown(tables)))
                    .collect();
                format!("it exists for {}", forms.join(", "))
            }
        }
    }
}

messages! {
    /// Calls and launches.
    CallError {
        TemplateNeedsArguments { name: String } => TemplateArgument
            "`{name}` is a template of a class and needs its arguments `<…>`";
        NotAFunction { name: String, declared: Option<Span> } => WrongKindOfName
            "`{name}` is not a function",
            label declared "declared here";
        ArgumentCount { shown: String, expected: String, given: Given, declared: Span } => WrongArgumentCount
            "`{shown}` takes {expected}, but {given} given",
            label declared "declared here";
        KernelWithoutLaunch { name: String, declared: Span, given: String } => KernelWithoutLaunch
            "the kernel `{name}` is called without a launch configuration",
            label declared "declared `__global__` here",
            help "say how many blocks and threads: `{name}<<<blocks, threads>>>({given}";
        HostFunctionInDevice { name: String, declared: Span } => HostCallInDevice
            "device code cannot call the host function `{name}`",
            label declared "declared here, for the host only",
            help "declare `{name}` with `__device__`, or with `__host__ __device__` for both sides";
        LibraryInDevice { name: String } => HostCallInDevice
            "device code cannot call the host function `{name}`",
            help "use arrays and pointers: C++'s library is for host code";
        DeviceFunctionInHost { name: String, declared: Span } => DeviceCallInHost
            "host code cannot call the `__device__` function `{name}`",
            label declared "declared here, for the device only",
            help "declare `{name}` with `__host__ __device__` for both sides, or call it from a kernel";
        BuiltinArgumentCount { name: String, expected: String, given: Given, lacks_kind: bool } => WrongArgumentCount
            "`{name}` takes {expected}, but {given} given",
            help "the last one is the direction: `cudaMemcpyHostToDevice` or `cudaMemcpyDeviceToHost`" if lacks_kind;
        AtomicNeedsAddress { name: String, ty: Ty, snippet: String } => NoOverload
            "`{name}` needs the address of what it changes, not {ty:#}",
            help "write `&{snippet}`";
        NoAtomicFor { name: String, ty: Ty, pointer: Span, why: NoAtomic } => NoOverload
            "`{name}` has no form for `{ty}`",
            label pointer "this is `{ty}`",
            help "{why}";
        DeviceFunctionOnly { name: String, is_barrier: bool } => DeviceOnly
            "`{name}` cannot be called in host code",
            at "only threads of a kernel can call it",
            help "the host waits for a kernel with `cudaDeviceSynchronize()`" if is_barrier;
        NotForNumbers { name: String, ty: Ty } => NoOverload
            "`{name}` is for numbers, not for `{ty}`",
            at "this is `{ty}`";
        UnsupportedInDevice { name: String, what: &'static str } => UnsupportedBuiltin
            "`{name}` is not supported yet in device code ({what})";
        AmbiguousForNvcc { name: String, a: Ty, b: Ty } => AmbiguousCall
            "nvcc cannot choose {name:#} for `{a}` and `{b}`",
            help "cast one of them to the other's type";
        CannotWriteThrough { name: String, ty: Ty } => NoOverload
            "`{name}` cannot write through `{ty}`";
        FormatArgumentMissing { conversion: String, n_wants: usize, n_given: usize, place: Span } => FormatMismatch
            "`%{conversion}` has no argument: the format needs {n_wants}, got {n_given}",
            label place "this format";
        FormatMismatch { conversion: String, ty: Ty, place: Span, right: Option<&'static str> } => FormatMismatch
            "`%{conversion}` does not print {ty:#}",
            at "this is `{ty}`",
            label place "this format",
            help "write `%{right}`" if right;
        FormatArgumentExtra { place: Span, n_wants: usize } => FormatMismatch
            "the format has no conversion for this argument",
            label place "this format needs {n_wants}";
        NoBody { name: String, declared: Span } => UndefinedFunction
            "`{name}` is declared but has no body",
            label declared "declared here",
            help "define it in this file, or `#include` the file that does";
        HostCallInDevice { name: String, waits: bool } => HostCallInDevice
            "device code cannot call `{name}`",
            at "a host function",
            help "launched work runs after the kernel; since CUDA 12 a kernel cannot wait for it" if waits;
        NotAddressOfPointer { position: usize, name: String, ty: Ty, pointer: Option<String>, declared: Option<Span> } => TypeMismatch
            "argument {position} of `{name}` must be the address of a pointer, not {ty:#}",
            at "this is `{ty}`",
            label declared "the variable whose address that is",
            help "pass where the pointer is to be stored: `&{pointer}`" if pointer;
        NotDeviceVariable { name: String, declared: Span } => BadSymbol
            "`{name}` is not a `__device__` or `__constant__` variable",
            label declared "declared here",
            help "use `cudaMemcpy` with pointers";
        LocalAsSymbol { name: String, declared: Span } => BadSymbol
            "`{name}` is not a `__device__` or `__constant__` variable",
            label declared "a variable of this function",
            help "use `cudaMemcpy` with pointers";
        KernelMustBeNamed { name: String } => BadKernelArgument
            "this must name a kernel",
            help "`{name}(kernel, …)`";
        NotAKernel { name: String } => BadKernelArgument
            "`{name}` is not a kernel";
        FunctionIsNoKernel { name: String, space: FunctionSpace, declared: Span } => BadKernelArgument
            "`{name}` is {space}, not a kernel",
            label declared "declared here";
        LaunchInDevice => LaunchInDevice
            "a kernel cannot launch through a pointer here",
            help "name the kernel: `kernel<<<…>>>(…)`";
        LaunchOfValue => LaunchOfNonKernel
            "only kernels can be launched, and this is not a kernel";
        LaunchOfNonKernel { name: String, declared: Span } => LaunchOfNonKernel
            "`{name}` is not a kernel",
            label declared "declared here";
        LaunchOfFunction { name: String, space: FunctionSpace, declared: Span } => LaunchOfNonKernel
            "`{name}` is {space} and cannot be launched",
            label declared "declared here",
            help "declare it `__global__`, or call it without `<<<…>>>`: `{name}(…)`";
        LaunchSizeType { what: &'static str, ty: Ty } => LaunchConfig
            "{what} must be an integer or a `dim3`, not {ty:#}";
        LaunchSizeFloating { what: &'static str, ty: Ty } => LaunchConfig
            "{what} is {ty:#}, whose fraction is dropped",
            help "round it up to an integer: `(n + threads - 1) / threads`";
        LaunchSizeTooSmall { what: &'static str, value: i64 } => LaunchConfig
            "{what} is {value}, but must be at least 1";
        LaunchSharedBytesType { ty: Ty } => LaunchConfig
            "the third launch value is the number of bytes of dynamic shared memory, not {ty:#}";
        LaunchStreamType { ty: Ty } => LaunchConfig
            "the fourth launch value is a stream, not {ty:#}",
            help "write 0 for the default stream, or leave it out";
        NoTemplate { name: String } => TemplateArgument
            "`{name}` is not a template and takes no arguments `<…>`";
        AmbiguousAddress { name: String } => AmbiguousOverload
            "`{name}` is overloaded, and nothing here selects one of its functions",
            help "cast an argument to the type you mean";
        AmbiguousInstance { name: String } => TemplateArgument
            "nothing here selects an instance of the template `{name}`",
            help "write its arguments: `{name}<…>`";
        KernelAddressInDevice { name: String } => WrongKindOfName
            "`{name}` is a kernel, and device code has no pointers to kernels";
        DeviceAddressInHost { name: String, declared: Span } => DeviceCallInHost
            "host code cannot take the address of the `__device__` function `{name}`",
            label declared "declared here, for the device only",
            help "store its address in a `__device__` variable, and copy that with `cudaMemcpyFromSymbol`";
        FunctionArgumentCount {
            name: String, expected: String, given: Given, extra: Option<Span>, missing: Option<Span>, parameter: String,
            space: FunctionSpace, declared: Span,
        } => WrongArgumentCount
            "`{name}` takes {expected}, but {given} given",
            label extra "first extra argument",
            label missing "no argument for `{parameter}`",
            label declared "{space} declared here";
        NoExchangeFor { name: String, ty: Ty, value: Span, forms: &'static str } => NoOverload
            "`{name}` has no form for `{ty}`",
            label value "this is `{ty}`",
            help "it exists for {forms}";
        NotASymbol { name: String, called: String } => BadSymbol
            "`{name}` is not a variable",
            help "`{called}` takes the variable's name: `{called}(name, …)`";
        SymbolMustBeNamed { called: String } => BadSymbol
            "this must name a device variable",
            help "`{called}` takes the variable's name: `{called}(name, …)`";
        Ambiguous { name: String, call: GivenTypes } => AmbiguousOverload
            "this call of `{name}` is ambiguous",
            at "{call}",
            help "cast an argument to the type you mean";
        AmbiguousWithBuiltin { name: String, call: GivenTypes } => AmbiguousOverload
            "this call of `{name}` is ambiguous (CUDA's own function fits as well)",
            at "{call}",
            help "cast an argument to the type you mean";
        NeitherFits { name: String, call: GivenTypes } => NoMatchingFunction
            "neither this `{name}` nor CUDA's own takes these arguments",
            at "{call}";
        NoneFits { n: usize, name: String, call: GivenTypes } => NoMatchingFunction
            "none of the {n} functions `{name}` takes these arguments",
            at "{call}";
        TemplateDoesNotFit { name: String, call: GivenTypes } => NoMatchingFunction
            "the template `{name}` does not fit these arguments",
            at "{call}";
        LaunchTooFewValues => LaunchConfig
            "a launch needs at least the number of blocks and of threads per block",
            help "`<<<blocks, threads, bytes of dynamic shared memory, stream>>>`";
        LaunchTooManyValues { n: usize } => LaunchConfig
            "a launch takes at most 4 values between `<<<` and `>>>`, not {n}",
            help "`<<<blocks, threads, bytes of dynamic shared memory, stream>>>`";
    }
}
