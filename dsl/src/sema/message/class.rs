//! Messages of `sema/check/class`.
use crate::sema::{message::messages, ty::Ty, typed::FunctionSpace};
use ir::span::Span;

messages! {
    /// Classes and their members.
    ClassError {
        IncompleteBase { ty: Ty } => IncompleteType
            "`{ty}` is not a complete class and cannot be a base";
        KernelAsMember { name: String } => MisplacedSpace
            "the kernel `{name}` cannot be a member of a class";
        NotOfAClass { name: String } => UnknownType
            "`{name}` does not begin with the name of a class";
        NoSuchMemberFunction { owner: String, last: String, other: Option<Span> } => ConflictingDeclaration
            "the class `{owner}` declares no such function `{last}`",
            label other "declared with other parameters here";
        DefinedTwice { name: String, first: Span } => Redefinition
            "the function `{name}` is defined twice",
            label first "first definition";
        SpaceDiffers { name: String, space: FunctionSpace, declared_space: FunctionSpace, declared: Span } => ConflictingDeclaration
            "`{name}` is {space} here, but {declared_space} in its class",
            label declared "declared here";
        ElementCountType { ty: Ty } => TypeMismatch
            "the number of elements must be an integer, not {ty:#}";
        DeleteOfNonPointer { word: &'static str, ty: Ty } => BadOperand
            "`{word}` takes a pointer, not {ty:#}";
        DeleteOfIncomplete { word: &'static str, ty: Ty } => IncompleteType
            "`{word}` of a pointer to `{ty}`, which is incomplete here";
        ConstructorNeedsArguments { name: String, ty: Ty } => BadInitialiser
            "`{name}` needs arguments: `{ty}` has no default constructor",
            help "give them, as in `{name}(…)`";
        OuterVariable { name: String, declared: Span } => UnknownName
            "`{name}` is a variable of the function around this class",
            label declared "declared here",
            help "pass it to the constructor, or as an argument";
        NotCaptured { name: String, declared: Span } => UnknownName
            "the lambda does not capture `{name}`",
            label declared "declared here",
            help "write `[{name}]` to copy it, or `[=]` to copy everything the lambda uses";
        MemberIsNoTemplate { name: String } => TemplateArgument
            "`{name}` is not a template and takes no arguments `<…>`";
        NotCallable { ty: Ty } => WrongKindOfName
            "{ty:#} is not a function and cannot be called";
        Deleted { name: String, declared: Span } => NotAccessible
            "`{name}` is deleted and cannot be used",
            label declared "declared `= delete` here";
        NotAccessible { shown: String, word: &'static str, class: String, declared: Option<Span> } => NotAccessible
            "`{shown}` is a {word} member of `{class}`",
            label declared "the class is declared here",
            help "use a function of the class, or declare the member after `public:`";
        NoObject { what: String } => NoObject
            "{what} needs an object, but there is none here";
        CopiesByValue { owner: String } => TypeMismatch
            "a constructor of `{owner}` cannot take {owner:#} by value",
            at "passing the value would call this constructor to copy it",
            help "take it by reference: `const {owner} &`";
        InitialisedTwice { name: String } => UnknownMember
            "`{name}` is initialised twice";
        NoMemberToInitialise { class: String, name: String } => UnknownMember
            "`{class}` has no member `{name}` to initialise";
        CannotBeVirtual { name: String } => ConflictingDeclaration
            "`{name}` cannot be virtual",
            help "only member functions with an object, and destructors, can be";
        OverridesNothing { name: String } => ConflictingDeclaration
            "`{name}` says `override`, but no base class has a virtual function with this name and these parameters",
            help "compare the parameters, and `const` after them, with those in the base class";
        OverridesFinal { name: String, declared: Span } => ConflictingDeclaration
            "`{name}` overrides a function that is `final`",
            label declared "declared `final` here";
        OverrideResult { name: String, declared: Span } => ConflictingDeclaration
            "`{name}` returns another type than the function it overrides",
            label declared "the function it overrides";
        OverrideSpace { name: String, space: FunctionSpace, before: FunctionSpace, declared: Span } => ConflictingDeclaration
            "`{name}` is {space}, but the function it overrides is {before}",
            label declared "the function it overrides",
            help "write the same words, such as `__device__`, before both";
        PureWithoutVirtual { name: String } => ConflictingDeclaration
            "`{name}` says `= 0`, but it is not virtual",
            help "write `virtual` before it";
        Abstract { ty: Ty, name: String, declared: Span } => BadInitialiser
            "an object of `{ty}` cannot be made: `{name}` is left to derived classes",
            label declared "declared `= 0` here";
        NotAList { ty: Ty } => BadInitialiser
            "a list cannot give the members of `{ty}`, because it has virtual functions",
            help "write a constructor that takes the values";
        TemplateDoesNotFit { name: String } => NoMatchingFunction
            "the template `{name}` does not fit these arguments";
    }
}
