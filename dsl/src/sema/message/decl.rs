//! Messages of `sema/check/decl`.
use crate::sema::{
    message::messages,
    ty::{QualTy, Ty},
    typed::FunctionSpace,
};
use ir::span::Span;

messages! {
    /// Declarations.
    DeclError {
        NoSuchName { name: String } => UnknownName
            "there is no `{name}`";
        DeclaredTwice { name: String, first: Span } => Redefinition
            "`{name}` is declared twice in this scope",
            label first "first declaration",
            help "rename one of them, or remove the second type to assign to the first";
        AutoNeedsPointer { ty: Ty } => TypeMismatch
            "`auto *` needs a pointer, not {ty:#}";
        DeclaredAsFunction { name: String, place: Span } => BadDeclaration
            "`{name}` is declared as a function here, not as a variable",
            label place "empty parentheses make it a function",
            help "remove the parentheses: `{name};`";
        FunctionDefinedTwice { name: String, first: Span } => Redefinition
            "the function `{name}` is defined twice",
            label first "first definition";
        FunctionWithSpace => MisplacedSpace
            "a function has no memory space";
        SecondMain { first: Span } => Redefinition
            "there is only one `main`",
            label first "first declaration";
        AlreadySomethingElse { name: String, first: Span } => Redefinition
            "`{name}` already names something else",
            label first "first declaration";
        KernelReference { name: String } => KernelReference
            "the parameter `{name}` is a reference: the kernel gets the argument's address, which is wrong unless it is in managed memory",
            help "pass it by value, or pass a pointer to device memory";
        KernelRvalueReference { name: String } => KernelReference
            "the parameter `{name}` refers to a temporary value of the host, which a kernel cannot reach",
            help "pass it by value";
        KernelWithResult { name: String, ty: Ty } => KernelResult
            "the kernel `{name}` returns `{ty}`, but a kernel returns nothing",
            help "make it `void` and write the result through a pointer parameter";
        IncompleteResult { ty: Ty } => IncompleteType
            "a function cannot return `{ty}`";
        DefaultMissing { early: Span } => BadDeclaration
            "this parameter needs a default argument: one before it has one",
            label early "this one has a default argument";
        DefaultTwice { first: Span } => Redefinition
            "this default argument is given twice",
            label first "first one";
        LaunchBoundsOnFunction => MisplacedSpace
            "`__launch_bounds__` is for kernels";
        LaunchBoundsValue { n: i64 } => NotConstant
            "{n} is not a possible number of threads";
        MainOnDevice { space: FunctionSpace } => BadMain
            "`main` runs on the host and cannot be {space}";
        MainResult { ty: Ty } => BadMain
            "`main` returns `int`, not `{ty}`",
            help "write `int main()`";
        MainParameters => BadMain
            "`main` takes no parameters, or two",
            help "write `int main()` or `int main(int argc, char **argv)`";
        MissingReturn { name: String, end: Span, ty: Ty } => MissingReturn
            "`{name}` may end without returning a value",
            label end "return a `{ty}` before this";
        ArrayFromSingleValue { name: String, ty: QualTy } => BadInitialiser
            "the array `{name}` of type `{ty}` cannot be initialised with a single value",
            help "write a list: `{name}[…] = {{ … }}`";
        StringTooLong { needed: u64, name: String, size: u64 } => BadInitialiser
            "this string needs {needed} characters with its final NUL, but `{name}` has {size}";
        ArrayWithoutElements { name: String } => BadArraySize
            "the array `{name}` would have no elements";
        Dim3TooManySizes => BadInitialiser
            "a `dim3` has only three sizes";
        Dim3PlainSizes => BadInitialiser
            "a `dim3` takes up to three plain sizes",
            help "write `dim3 name(x, y, z);`";
        SingleValue { name: String } => BadInitialiser
            "`{name}` is a single value and takes only one";
        TooManyValues { name: String } => BadInitialiser
            "there are more values here than `{name}` has elements or members";
        IndexOutside { n: i64 } => BadInitialiser
            "index {n} is outside of this array";
        DesignatorOfNonStruct { name: String } => BadInitialiser
            "`.{name}` is for structs, and this is not one";
        IndexDesignatorOfNonArray => BadInitialiser
            "`[index] =` is for arrays, and this is not one";
        RecordDefinedTwice { word: &'static str, name: String, declared: Span } => Redefinition
            "`{word} {name}` is defined twice",
            label declared "first definition";
        OtherKindOfRecord { name: String, word: &'static str, declared: Span } => Redefinition
            "`{name}` is not a {word}",
            label declared "declared here";
        TypeTooLarge => IncompleteType
            "this type is too large";
        IncompleteMember { name: String, ty: Ty, is_record: bool } => IncompleteType
            "member `{name}` has the incomplete type `{ty}`",
            help "a struct can hold a pointer to itself, but not itself" if is_record;
        MemberTwice { name: String, first: Span } => Redefinition
            "there are two members called `{name}`",
            label first "first one";
        BadAlignment { n: i64 } => NotConstant
            "{n} is not an alignment",
            help "an alignment is a power of two, at most 65536";
        NotIntegerConstant { what: &'static str, ty: Ty } => NotConstant
            "{what} must be an integer constant, not {ty:#}";
        BitFieldType { ty: Ty } => NotConstant
            "a bit-field must be an integer or an enumeration, not {ty:#}";
        BitFieldWidth { n: i64 } => NotConstant
            "{n} is not the width of a bit-field",
            help "a bit-field has at least 1 bit; one without a name may have 0, and ends the bytes that the others share";
        NoSuchEnum { name: String, near: Option<String> } => UnknownType
            "there is no `enum {name}`",
            help "did you mean `{near}`?" if near;
        EnumDefinedTwice { name: String, declared: Span } => Redefinition
            "`{name}` is defined twice",
            label declared "first definition";
        UnexpandedPack { name: String } => WrongKindOfName
            "`{name}` is a parameter pack and is not expanded here";
        TemplateNeedsArguments { name: String, declared: Span } => TemplateArgument
            "`{name}` is a template and needs arguments `<…>`",
            label declared "declared here";
        UnsupportedType { name: String, what: &'static str } => UnsupportedBuiltin
            "`{name}` is not supported yet ({what})";
        NoSuchType { name: String, near: Option<String> } => UnknownType
            "there is no type `{name}`",
            help "did you mean `{near}`?" if near;
        OpenInnerDimension => BadArraySize
            "only the first dimension of an array may be left open",
            help "write the size of this dimension";
        ArrayOf { ty: Ty } => IncompleteType
            "an array cannot have elements of type `{ty}`";
        ArrayOfIncomplete { ty: Ty } => IncompleteType
            "the size of the element type `{ty}` is not known here";
        ArrayTooLarge => BadArraySize
            "this array is larger than a terabyte";
        ArraySizeType { ty: Ty } => BadArraySize
            "the size of an array must be an integer, not {ty:#}";
        ArraySizeNegative { value: i64 } => BadArraySize
            "an array cannot have {value} elements";
        ArraySizeZero => BadArraySize
            "an array cannot have 0 elements",
            help "dynamic shared memory is declared with empty brackets: `extern __shared__ int a[];`";
        VariableLength { place: Span } => VariableLength
            "the size of an array must be known when the program is compiled",
            label place "known only when the program runs",
            help "make it a `const` with a constant value or a `#define`, or allocate the array with `malloc`";
        VariableLengthInDevice { place: Span } => VariableLength
            "the size of an array must be known when the program is compiled",
            label place "known only when the program runs",
            help "make it a constant, or use dynamic shared memory: `extern __shared__ int a[];`";
        GlobalOnVariable => MisplacedSpace
            "`__global__` stands before a variable, but only functions can be kernels",
            help "a variable in the device's memory is `__device__`";
        NoStaticMember { name: String } => UnknownName
            "no class declares a static member `{name}`";
        StaticMemberType { name: String, a: Ty, b: Ty } => ConflictingDeclaration
            "`{name}` is {a:#} here and {b:#} in its class";
        SharedTypesDiffer { name: String, now: QualTy, before: QualTy, first: Span } => Redefinition
            "`{name}` has elements of type `{now}` here, and of type `{before}` in another declaration",
            label first "this declaration means the same variable",
            note "all `extern __shared__` declarations of one name mean one variable, also in different kernels and in instances of one template",
            help "give the arrays different names, or declare `extern __shared__ unsigned char {name}[];` everywhere and cast the pointer";
        PrivateStorage { name: String, is_copy: bool, is_new: bool } => PrivateTempStorage
            "`{name}` is a variable of each thread, but CUB's threads meet in it",
            note "what one thread stores there the others do not see",
            help "make it another name for the shared memory: `auto &{name} = …`" if is_copy,
            help "put `__shared__` before its type" if is_new;
        SharedAlignmentsDiffer { name: String, now: u64, before: u64, first: Span } => SharedAlignment
            "`{name}` is aligned to {now} bytes here, and to {before} bytes in another declaration",
            label first "this declaration means the same variable",
            help "use the larger alignment everywhere";
        SpaceInFunction { text: String } => MisplacedSpace
            "`{text}` variables cannot be declared in a function",
            help "move the declaration to the top of the file";
        SharedInHost => MisplacedSpace
            "shared memory cannot be declared in a host function",
            help "declare it in a `__global__` or `__device__` function";
        StaticInDevice { name: String } => MisplacedSpace
            "the static variable `{name}` of a function for host and device is not supported",
            help "make it a `__device__` variable at the top of the file";
        SharedWithConstructor { ty: Ty } => SharedInitialiser
            "a shared object cannot have the type `{ty}`: its constructor has effects",
            note "every thread of the block would run it",
            help "use a plain struct, or shared memory for its members";
        SharedArraySizeMissing { name: String, place: Span, element: QualTy } => SharedWithoutExtern
            "the size of the shared array `{name}` is missing",
            label place "without `extern` it is a static array, whose size is part of the declaration",
            help "for dynamic shared memory write `extern __shared__ {element} {name}[];` and give its size in bytes as the third launch argument";
        ExternSharedSize { name: String, extern_span: Span } => ExternSharedSize
            "the size of the dynamic shared array `{name}` has no effect",
            label extern_span "with `extern` the size comes from the launch",
            help "remove `extern` for a static array, or leave the brackets empty for a dynamic one";
        SharedInitialiser { name: String } => SharedInitialiser
            "the shared variable `{name}` cannot have an initialiser",
            note "every thread of the block would run it",
            help "let one thread assign it: `if (threadIdx.x == 0) {name} = …; __syncthreads();`";
        ConstantWithoutValue { name: String } => BadInitialiser
            "the constant `{name}` has no value",
            help "give it one: `{name} = …`";
        InitialiserNotConstant { name: String } => NotConstant
            "the initial value of `{name}` must be a constant",
            at "known only when the program runs",
            help "assign to `{name}` at the start of `main`";
        ExternSharedPointer { name: String, pointee: QualTy, extern_span: Span } => ExternSharedPointer
            "dynamic shared memory must be an array, but `{name}` is a pointer",
            label extern_span "this declares the block's dynamic shared memory itself",
            help "write `extern __shared__ {pointee} {name}[];`: an array is not a pointer";
        ExternSharedNoArray { name: String, ty: QualTy, extern_span: Span } => ExternSharedPointer
            "dynamic shared memory must be an array, but `{name}` is {ty:#}",
            label extern_span "this declares the block's dynamic shared memory itself",
            help "write `extern __shared__ {ty} {name}[];`, or remove `extern` for one shared `{ty}`";
        ArraySizeMissing { name: String } => IncompleteType
            "the size of the array `{name}` is missing";
        VoidVariable { name: String } => IncompleteType
            "the variable `{name}` cannot have type `void`";
        IncompleteVariable { name: String, ty: Ty } => IncompleteType
            "`{name}` has the incomplete type `{ty}`";
        NothingToBind { ty: Ty } => BadDeclaration
            "`{ty}` has no members to bind names to";
        BindingCount { n_names: usize, ty: Ty, n_members: u64 } => BadDeclaration
            "{n_names} names are bound, but `{ty}` has {n_members} members";
        MemberNotUnderstood { name: String } => Unsupported
            "dslc does not understand the member `{name}`";
        EnumeratorTooLarge { value: i64, ty: Ty } => NotConstant
            "the value {value} does not fit the enumeration's `{ty}`",
            help "give the enumeration a larger type: `enum E : long`";
        VoidParameter => IncompleteType
            "a parameter cannot have type `void`";
        IncompleteParameter { ty: Ty } => IncompleteType
            "this parameter has the incomplete type `{ty}`";
        TooManyParameterBytes { n_bytes: u64, most: u64 } => TooManyParameterBytes
            "the kernel's parameters take {n_bytes} bytes; the limit is {most}",
            help "copy it to device memory and pass a pointer";
        OtherResult { name: String, declared: Span } => ConflictingDeclaration
            "`{name}` is declared with another result type",
            label declared "first declaration";
        OtherSpace { name: String, space: FunctionSpace, before: FunctionSpace, declared: Span } => ConflictingDeclaration
            "`{name}` is {space} here, but was {before} before",
            label declared "first declaration";
        StaticAssertion { text: String } => StaticAssert
            "{text}",
            at "this is false";
        StaticAssertionFails { condition: String } => StaticAssert
            "`{condition}` does not hold",
            at "this is false";
    }
}
