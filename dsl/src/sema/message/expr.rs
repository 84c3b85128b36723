//! Messages of `sema/check/expr`.
use std::sync::Arc;

use crate::sema::{
    check::Tables,
    message::{Fact, messages},
    ty::{QualTy, Ty},
};
use ir::span::Span;

/// What has to be a constant.
pub(crate) enum Needed {
    /// A noun.
    Of(&'static str),
    ArraySize,
    Case,
    Constexpr(Arc<str>),
    Initial(Arc<str>),
}

impl Fact<Tables> for Needed {
    fn shown(&self, _: &Tables) -> String {
        match self {
            Needed::Of(what) => format!("{what} must be a constant"),
            Needed::ArraySize => {
                "the size of an array must be known when the program is compiled".to_string()
            }
            Needed::Case => "a `case` needs a constant".to_string(),
            Needed::Constexpr(name) => {
                format!("the value of the `constexpr` variable `{name}` is not a constant")
            }
            Needed::Initial(name) => format!("the initial value of `{name}` must be a constant"),
        }
    }
}

/// What a pointer is converted for.
pub(crate) enum Use {
    Initial(String),
    Assignment,
    Argument(usize, String),
    Return(String),
    Conversion(Ty),
}

impl Fact<Tables> for Use {
    fn shown(&self, tables: &Tables) -> String {
        match self {
            Use::Initial(name) => format!("the initial value of `{name}`"),
            Use::Assignment => "this assignment".to_string(),
            Use::Argument(n, function) => format!("argument {n} of `{function}`"),
            Use::Return(function) => format!("the value returned by `{function}`"),
            Use::Conversion(to) => format!("the conversion to `{}`", to.shown(tables)),
        }
    }
}

/// What was probably meant by a value of the wrong type.
pub(crate) enum Conversion {
    Address(String),
    Pointee(String),
    Cast(Ty),
}

impl Fact<Tables> for Conversion {
    fn shown(&self, tables: &Tables) -> String {
        match self {
            Conversion::Address(text) => format!("pass its address: `&{text}`"),
            Conversion::Pointee(text) => format!("read what it points to: `*{text}`"),
            Conversion::Cast(to) => format!(
                "to read the bytes as another type, write a cast: `({})`",
                to.shown(tables)
            ),
        }
    }
}

/// What was probably meant by an operator that its operands do not have.
pub(crate) enum OperandCure {
    EnumClass,
    Fmod,
    Fmodf,
    Members,
}

impl Fact<Tables> for OperandCure {
    fn shown(&self, _: &Tables) -> String {
        match self {
            OperandCure::EnumClass => {
                "an `enum class` is not a number: convert it with `static_cast<int>(…)`"
            }
            OperandCure::Fmod => {
                "use `fmod` (or `fmodf`) for the remainder of floating-point numbers"
            }
            OperandCure::Fmodf => "use `fmodf`",
            OperandCure::Members => "combine the members one by one: `a.x + b.x`",
        }
        .to_string()
    }
}

messages! {
    /// Expressions.
    ExprError {
        BracesOutsideInitialiser => BadInitialiser
            "a list in braces can only initialise a variable",
            help "name the type before the braces' contents, as in `make_float2(1, 2)` or `dim3(4, 4)`";
        TemplateAsValue { name: String } => WrongKindOfName
            "`{name}` is a template, but a value is needed here";
        UnexpandedPack { name: String } => WrongKindOfName
            "`{name}` is a parameter pack and is not expanded here",
            help "write `{name}...` among the arguments of a call, or a fold such as `({name} + ...)`";
        TypeAsValue { name: String } => WrongKindOfName
            "`{name}` is a type, but a value is needed here";
        DeviceVariableInHost { name: String, declared: Span } => DeviceVariableInHost
            "host code cannot use the device variable `{name}` directly",
            label declared "declared here, in the device's memory",
            help "copy it: `cudaMemcpyFromSymbol(&value, {name}, sizeof({name}))` or `cudaMemcpyToSymbol({name}, &value, sizeof({name}))`";
        SharedVariableInHost { name: String, declared: Span } => DeviceVariableInHost
            "host code cannot use the shared variable `{name}`",
            label declared "it exists once in each block, while the kernel runs";
        FunctionNotCalled { name: String } => WrongKindOfName
            "`{name}` is a function and is not called here",
            help "call it: `{name}(…)`";
        DeviceNameInHost { name: String } => DeviceOnly
            "`{name}` does not exist in host code",
            at "only threads of a kernel have it";
        UnsupportedBuiltin { name: String, what: &'static str } => UnsupportedBuiltin
            "`{name}` is not supported yet ({what})";
        NoConstructor { ty: Ty, n_args: usize, is_vector: bool } => BadInitialiser
            "`{ty}` has no constructor with {n_args} arguments",
            help "write `make_{ty}(…)`" if is_vector;
        Dim3Arguments { n_args: usize } => WrongArgumentCount
            "`dim3` takes at most 3 sizes, not {n_args}";
        SizeUnknown { ty: Ty, is_array: bool } => IncompleteType
            "the size of `{ty}` is not known",
            help "the size of dynamic shared memory is chosen at the launch; pass it to the kernel" if is_array;
        IndexType { ty: Ty } => BadOperand
            "an index must be an integer, not {ty:#}",
            at "this is `{ty}`";
        NoAddress { text: String } => NotAPlace
            "`{text}` has no address",
            at "only variables, elements and members have one";
        BitFieldAddress { text: String } => NotAPlace
            "`{text}` is a bit-field and has no address",
            help "copy it to a variable, or make it an ordinary member";
        BitFieldReference { text: String, parameter: Option<Span> } => NotAPlace
            "`{text}` is a bit-field, to which a reference cannot be bound",
            label parameter "the parameter",
            help "copy it to a variable, or let the reference be to `const`";
        BitFieldSize { text: String } => NotAPlace
            "`{text}` is a bit-field and has no size in bytes",
            help "`sizeof` works on its type";
        HostVariableAddressInDevice { name: String, declared: Span } => HostVariableInDevice
            "device code cannot take the address of the host variable `{name}`",
            label declared "declared here, in the host's memory";
        PointerHasNoMembers { text: String, name: String } => UnknownMember
            "`{text}` is a pointer and has no members",
            help "write `{text}->{name}`";
        NotAPointer { text: String, name: String } => UnknownMember
            "`{text}` is not a pointer",
            help "write `{text}.{name}`";
        HasNoMembers { ty: Ty } => UnknownMember
            "{ty:#} has no members";
        ValueChanged { text: String, done: &'static str } => NotAPlace
            "`{text}` cannot be {done}",
            at "this is a value, not a variable";
        WholeArrayChanged { text: String, done: &'static str } => NotAPlace
            "the array `{text}` cannot be {done} as a whole",
            help "assign to its elements in a loop, or use `memcpy` on the host";
        ConstantMemoryWritten { name: String, declared: Span } => ConstantMemoryWrite
            "kernels cannot write to the `__constant__` variable `{name}`",
            label declared "declared here",
            help "declare it `__device__` to write to it, or fill it from the host with `cudaMemcpyToSymbol`";
        ConstChanged { text: String, done: &'static str, declared: Option<Span> } => NotAPlace
            "`{text}` is `const` and cannot be {done}",
            label declared "declared `const` here";
        CastOf { name: String, to: Ty, from: Ty, reinterprets: bool, converts: bool } => BadCast
            "`{name}` cannot convert {from:#} to `{to}`",
            help "`reinterpret_cast` reads the same bytes as another type" if reinterprets,
            help "`static_cast` converts numbers" if converts;
        ConditionType { ty: Ty } => BadOperand
            "a condition must be a number or a pointer, not `{ty}`";
        EnumWithoutCast { ty: Ty } => EnumWithoutCast
            "nvcc refuses to convert a number to `{ty}` without a cast",
            help "write `({ty})` before it, or the enumerator's name";
        VoidPointerWithoutCast { ty: Ty } => VoidPointerWithoutCast
            "nvcc refuses to convert a `void *` to `{ty}` without a cast",
            help "write `({ty})` before it";
        NoValue => TypeMismatch
            "this has no value, but one is needed here";
        Cast { from: Ty, to: Ty, cuts_pointer: bool } => BadCast
            "{from:#} cannot be cast to `{to}`",
            help "a pointer has 64 bits: cast it to `size_t` or `long` first" if cuts_pointer;
        NotPrintable { ty: Ty } => TypeMismatch
            "{ty:#} cannot be printed";
        Operands { op_text: String, a: Ty, b: Ty, left: Span, right: Span, cure: Option<OperandCure> } => BadOperand
            "`{op_text}` cannot be applied to `{a}` and `{b}`",
            label left "`{a}`",
            label right "`{b}`",
            help "{cure}" if cure;
        ShiftCount { ty: Ty, value: i64, width: u64, count: Span } => ShiftCount
            "this shifts {ty:#} by {value}, but it has {width} bits",
            label count "the shift count";
        DividesByZero { right: Span } => DividesByZero
            "this divides by zero",
            label right "always 0";
        Operand { symbol: &'static str, ty: Ty, value: Span } => BadOperand
            "`{symbol}` cannot be applied to `{ty}`",
            label value "`{ty}`";
        CannotBe { ty: Ty, done: &'static str } => BadOperand
            "{ty:#} cannot be {done}";
        ReferenceDropsQualifier { text: String, word: &'static str, parameter: Option<Span> } => DropsQualifier
            "`{text}` is `{word}`, but this reference to it is not",
            label parameter "the parameter",
            help "make it a reference to `{word}`";
        ReturnsTemporary { name: String, text: String } => DanglingReference
            "`{name}` returns a reference, but `{text}` is a temporary that ends with the call",
            help "return by value: remove the `&`";
        ReturnsLocal { name: String, text: String, declared: Span } => DanglingReference
            "`{name}` returns a reference to its own variable `{text}`, which ends with the call",
            label declared "declared here",
            help "return by value: remove the `&`";
        ReferenceWithoutInitialiser { name: String } => BadInitialiser
            "the reference `{name}` is not initialised",
            help "bind it to a variable: `{name} = …`";
        UsedBeforeDeclaration { name: String, later: Span } => UsedBeforeDeclaration
            "`{name}` is used before it is declared",
            label later "declared here",
            help "move `{name}` up, or declare a prototype before this use";
        UnknownName { what: &'static str, name: String, near: Option<String> } => UnknownName
            "there is no {what} `{name}`",
            at "not declared here",
            help "did you mean `{near}`?" if near;
        UnsupportedName { name: String, near: Option<String> } => UnsupportedBuiltin
            "`{name}` is not supported yet",
            help "did you mean `std::{near}`?" if near;
        UnknownMember {
            of: String, name: String, declared: Option<Span>, near: Option<String>, members: Option<String>,
        } => UnknownMember
            "{of} has no member `{name}`",
            label declared "the type is declared here",
            help "did you mean `{near}`?" if near,
            help "its members are {members}" if members;
        Unsupported { construct: String } => Unsupported
            "{construct} is not supported yet";
        HostConstantInDevice { name: String, declared: Span } => HostVariableInDevice
            "device code cannot use the host variable `{name}`",
            label declared "declared here, in the host's memory",
            help "make it `__constant__`, or pass it to the kernel; kernels can use only `const` numbers with a constant value directly: `{name}`";
        HostVariableInDevice { name: String, declared: Span } => HostVariableInDevice
            "device code cannot use the host variable `{name}`",
            label declared "declared here, in the host's memory",
            help "pass it to the kernel as an argument, or declare it `__device__` or `__constant__`";
        ReferenceToOtherType { wanted: QualTy, text: String, found: QualTy, parameter: Option<Span>, not_array: bool } => TypeMismatch
            "a reference to `{wanted}` cannot name `{text}`, which is of type `{found}`",
            label parameter "the parameter",
            help "a reference to `const` can name a value" if not_array;
        ReferenceToValue { wanted: QualTy, text: String, parameter: Option<Span>, not_array: bool } => NotAPlace
            "a reference to `{wanted}` needs a variable, but `{text}` is only a value",
            label parameter "the parameter",
            help "a reference to `const` can name a value" if not_array;
        ReferenceMisplaced { what: &'static str } => BadDeclaration
            "{what}";
        NotConstant { what: Needed, place: Option<Span>, reason: &'static str } => NotConstant
            "{what}",
            label place "{reason}";
        ConstantDivision { what: &'static str } => ConstantDivision
            "{what} divides by zero";
        InitialDivision { name: String } => ConstantDivision
            "the initial value of `{name}` divides by zero";
        SizeOfPointer { text: String, name: String } => SizeOfPointer
            "`sizeof({text})` is the size of the pointer, 8 bytes, not of the data for `{name}`",
            at "the size of a pointer",
            help "multiply the number of elements by `sizeof(*{text})`, the size of one";
        SizeOfVoidPointer { text: String, name: String } => SizeOfPointer
            "`sizeof({text})` is the size of the pointer, 8 bytes, not of the data for `{name}`",
            at "the size of a pointer",
            help "give the number of bytes";
        VoidPointerHasNoElements { done: &'static str } => BadOperand
            "a `void *` cannot be {done}: the size of its elements is unknown",
            help "cast it to the type of its elements first, as in `((float *)p)[i]`";
        PointerToIncomplete { ty: Ty, done: &'static str } => BadOperand
            "`{ty}` is incomplete, so a pointer to it cannot be {done}";
        NoArrayOrPointer { ty: Ty, done: &'static str } => BadOperand
            "{ty:#} cannot be {done}: it is neither an array nor a pointer";
        FunctionChanged { text: String, done: &'static str } => WrongKindOfName
            "`{text}` is a function and cannot be {done}";
        IndexOutOfBounds { index: String, text: String, n: u64, last: u64 } => IndexOutOfBounds
            "index {index} is outside of `{text}`, which has {n} elements",
            help "valid indices are 0 to {last}";
        DropsConst { use_of: Use, from: Ty, to: Ty, parameter: Option<Span> } => DropsQualifier
            "{use_of} drops `const`: the data could then be changed",
            at "`{from}`, but `{to}` is expected",
            label parameter "the parameter",
            help "declare the target as a pointer to `const` too";
        DropsVolatile { use_of: Use, from: Ty, to: Ty, parameter: Option<Span> } => DropsQualifier
            "{use_of} drops `volatile`: accesses through it would no longer be volatile",
            at "`{from}`, but `{to}` is expected",
            label parameter "the parameter",
            help "declare the target as a pointer to `volatile` too";
        InitialType { name: String, from: Ty, to: Ty, cure: Option<Conversion> } => TypeMismatch
            "`{name}` is of type `{to}`, but its initial value is of type `{from}`",
            at "this is `{from}`",
            help "{cure}" if cure;
        AssignedType { from: Ty, to: Ty, cure: Option<Conversion> } => TypeMismatch
            "{from:#} cannot be assigned to {to:#}",
            at "this is `{from}`",
            help "{cure}" if cure;
        ArgumentType { n: usize, function: String, from: Ty, to: Ty, parameter: Option<Span>, cure: Option<Conversion> } => TypeMismatch
            "argument {n} of `{function}` expects `{to}`, got `{from}`",
            at "this is `{from}`",
            label parameter "the parameter is `{to}`",
            help "{cure}" if cure;
        ReturnedType { function: String, from: Ty, to: Ty, cure: Option<Conversion> } => TypeMismatch
            "`{function}` returns `{to}`, but this is of type `{from}`",
            at "this is `{from}`",
            help "{cure}" if cure;
        OperandType { from: Ty, to: Ty, cure: Option<Conversion> } => TypeMismatch
            "{from:#} cannot be used as {to:#}",
            at "this is `{from}`",
            help "{cure}" if cure;
    }
}
