//! The tree as compact s-expressions, one line for each item and statement.

use crate::syntax::ast::*;

/// The shown value, or nothing if it is `None`.
fn opt<T>(value: &Option<T>, show: impl FnOnce(&T) -> String) -> String {
    value.as_ref().map_or(String::new(), show)
}

/// The parts of a list, joined by `between`.
fn join<T>(list: &[T], between: &str, show: impl FnMut(&T) -> String) -> String {
    list.iter().map(show).collect::<Vec<_>>().join(between)
}

pub(super) fn unit(unit: &Unit) -> String {
    unit.items
        .iter()
        .map(|item| format!("{}\n", one_item(item)))
        .collect()
}

fn using(using: &Using) -> String {
    match using {
        Using::Namespace(name) => format!("(using-namespace {})", name.node),
        Using::Name(name) => format!("(using {})", name.node),
        Using::NamespaceAlias(name, of) => format!("(namespace {} = {})", name.node, of.node),
    }
}

fn type_name(ty: &TypeName) -> String {
    format!("{}{}", specifiers(&ty.specifiers), parts(&ty.declarator))
}

fn template_param(param: &TemplateParam) -> String {
    let name = param.name.as_ref().map_or("_", |name| &name.node);
    let name = format!("{name}{}", if param.is_pack { "..." } else { "" });
    match &param.kind {
        TemplateParamKind::Type(None) => name,
        TemplateParamKind::Type(Some(default)) => format!("({name} = {})", type_name(default)),
        TemplateParamKind::Value { ty, default: None } => format!("({name} : {})", type_name(ty)),
        TemplateParamKind::Value {
            ty,
            default: Some(default),
        } => format!("({name} : {} = {})", type_name(ty), expr(default)),
        TemplateParamKind::Template => format!("({name} : template)"),
    }
}

fn template_args(args: &Option<Vec<TemplateArg>>) -> String {
    fn one(arg: &TemplateArg) -> String {
        match arg {
            TemplateArg::Type(ty) => format!("type {}", type_name(ty)),
            TemplateArg::Value(value) => expr(value),
            TemplateArg::Expansion(inner) => format!("{}...", one(inner)),
        }
    }
    match args {
        Some(args) => format!("<{}>", join(args, ", ", one)),
        None => String::new(),
    }
}

fn path(path: &Path) -> String {
    let one = |segment: &Segment| format!("{}{}", segment.name.node, template_args(&segment.args));
    join(&path.segments, "::", one)
}

fn one_item(item: &Item) -> String {
    match item {
        Item::Function(f) => function(f),
        Item::Declaration(d) => declaration(d),
        Item::Template(template) => {
            let head = match &template.kind {
                TemplateKind::Generic(params) => join(params, " ", template_param),
                TemplateKind::Specialisation => "specialise".to_string(),
                TemplateKind::Instantiation => "instantiate".to_string(),
            };
            format!("(template ({head}) {})", one_item(&template.item))
        }
        Item::Namespace(namespace) => {
            let name = namespace.name.as_ref().map_or("_", |name| &name.node);
            let items: Vec<_> = namespace.items.iter().map(one_item).collect();
            let inline = if namespace.is_inline { "inline " } else { "" };
            format!("({inline}namespace {name} {})", items.join(" "))
        }
        Item::Using(using) => self::using(using),
        Item::StaticAssert(assertion) => format!("(static_assert {})", expr(&assertion.condition)),
        Item::Unsupported { construct, .. } => format!("(unsupported {construct})"),
    }
}

fn function(f: &Function) -> String {
    let params: Vec<String> = f.params.iter().map(param).collect();
    let dots = if f.variadic { " ..." } else { "" };
    let body = opt(&f.body, |body| block(body, 1));
    let kind = match f.method.kind {
        MethodKind::Plain => String::new(),
        kind => format!(" {kind:?}").to_lowercase(),
    };
    let inits: String = f
        .method
        .inits
        .iter()
        .map(|one| format!(" {}:{}", one.name.node, init(&one.init)))
        .collect();
    let tail = match (f.method.is_const, f.method.is_volatile) {
        (false, false) => "",
        (true, false) => " const",
        (false, true) => " volatile",
        (true, true) => " const volatile",
    };
    let special = opt(&f.method.special, |special| format!(" ={:?}", special.node));
    format!(
        "(fn{kind} {} {}{} ({}{dots}){tail}{special}{inits}{body})",
        f.name.node,
        specifiers(&f.specifiers),
        parts(&f.declarator),
        params.join(", ")
    )
}

fn member(member: &Member) -> String {
    match member {
        Member::Declaration(d) => declaration(d),
        Member::Function(f) => function(f),
        Member::Template(t) => unit(&Unit {
            items: vec![Item::Template(t.clone())],
        })
        .trim_end()
        .to_string(),
        Member::Access(access) => format!("{access:?}:"),
        Member::FriendFunction(f) => format!("(friend {})", function(f)),
        Member::FriendClass(name) => format!("(friend {})", name.node),
        Member::StaticAssert(assertion) => {
            format!("(static_assert {})", expr(&assertion.condition))
        }
    }
}

fn param(param: &Param) -> String {
    format!(
        "{}{}{}",
        specifiers(&param.specifiers),
        parts(&param.declarator) + if param.is_pack { "..." } else { "" },
        named(&param.declarator)
    )
}

fn named(declarator: &Declarator) -> String {
    opt(&declarator.name, |name| format!(" {}", name.node)) + &template_args(&declarator.args)
}

/// The declarator's parts, from the name outwards: `[4]`, `*`.
fn parts(declarator: &Declarator) -> String {
    let mut out = String::new();
    for part in &declarator.parts {
        out += &match part {
            DeclaratorPart::Pointer {
                is_const,
                is_volatile,
                is_restrict,
            } => {
                let words = [(is_const, "c"), (is_volatile, "v"), (is_restrict, "r")];
                let words: String = words
                    .iter()
                    .filter(|(is, _)| **is)
                    .map(|(_, word)| *word)
                    .collect();
                format!("*{words}")
            }
            DeclaratorPart::Reference(_) => "&".to_string(),
            DeclaratorPart::RvalueReference(_) => "&&".to_string(),
            DeclaratorPart::Array(size, _) => format!("[{}]", opt(size, |size| expr(size))),
            DeclaratorPart::Function(params, _) => format!("({})", join(params, ", ", param)),
        };
    }
    if out.is_empty() {
        out
    } else {
        format!(":{out}")
    }
}

fn specifiers(s: &Specifiers) -> String {
    let mut out: Vec<String> = s
        .words
        .iter()
        .map(|word| format!("{:?}", word.node).to_lowercase())
        .collect();
    out.extend(s.is_const.then(|| "const".to_string()));
    out.extend(s.is_volatile.then(|| "volatile".to_string()));
    out.extend(
        s.launch_bounds
            .as_ref()
            .map(|bounds| format!("bounds({})", exprs(&bounds.node))),
    );
    out.extend(
        s.align
            .as_ref()
            .map(|align| format!("align({})", expr(align))),
    );
    out.push(ty(&s.ty.node));
    out.join("+")
}

fn ty(ty: &TypeSpecifier) -> String {
    let sign = |signedness: &Signedness| {
        if *signedness == Signedness::Unsigned {
            "u"
        } else {
            ""
        }
    };
    match ty {
        TypeSpecifier::Void => "void".into(),
        TypeSpecifier::Bool => "bool".into(),
        TypeSpecifier::Char(None) => "char".into(),
        TypeSpecifier::Char(Some(Signedness::Signed)) => "schar".into(),
        TypeSpecifier::Char(Some(Signedness::Unsigned)) => "uchar".into(),
        TypeSpecifier::Short(s) => format!("{}short", sign(s)),
        TypeSpecifier::Int(s) => format!("{}int", sign(s)),
        TypeSpecifier::Long(s) => format!("{}long", sign(s)),
        TypeSpecifier::LongLong(s) => format!("{}llong", sign(s)),
        TypeSpecifier::Float => "float".into(),
        TypeSpecifier::Double => "double".into(),
        TypeSpecifier::Auto => "auto".into(),
        TypeSpecifier::Named(name) => name.to_string(),
        TypeSpecifier::Path(path) => self::path(path),
        TypeSpecifier::Decltype(of) => format!("(decltype {})", expr(of)),
        TypeSpecifier::Record(record) => {
            let word = match (record.is_union, record.is_class) {
                (true, _) => "union",
                (_, true) => "class",
                _ => "struct",
            };
            let bases: String = record
                .bases
                .iter()
                .map(|base| match &base.ty.node {
                    TypeSpecifier::Named(name) => format!(" :{name}"),
                    TypeSpecifier::Path(path) => format!(" :{}", self::path(path)),
                    other => format!(" :{other:?}"),
                })
                .collect();
            let align = opt(&record.align, |align| format!(" align({})", expr(align)));
            let name = opt(&record.name, |name| format!(" {}", name.node));
            let members = opt(&record.members, |members| {
                format!(" {{{}}}", join(members, " ", member))
            });
            format!("({word}{align}{name}{bases}{members})")
        }
        TypeSpecifier::Enum(e) => {
            let name = opt(&e.name, |name| format!(" {}", name.node));
            let values = opt(&e.enumerators, |values| {
                let one = |(name, value): &(Name, Option<Expr>)| match value {
                    Some(value) => format!("{}={}", name.node, expr(value)),
                    None => name.node.to_string(),
                };
                format!(" {{{}}}", join(values, " ", one))
            });
            let scoped = if e.is_scoped { "-class" } else { "" };
            let underlying = opt(&e.underlying, |underlying| {
                format!(" :{}", specifiers(underlying))
            });
            format!("(enum{scoped}{name}{underlying}{values})")
        }
    }
}

fn declaration(d: &Declaration) -> String {
    let mut out = format!("(let {}", specifiers(&d.specifiers));
    for declared in &d.declarators {
        out += &format!(
            " ({}{}",
            named(&declared.declarator).trim_start(),
            parts(&declared.declarator)
        );
        if let Some(init) = &declared.init {
            out += &format!(" = {}", self::init(init));
        }
        out += ")";
    }
    out + ")"
}

fn init(init: &Init) -> String {
    match init {
        Init::Expr(e) => expr(e),
        Init::List(list) => items(&list.node),
        Init::Construct(args) => format!("(init {})", exprs(&args.node)),
    }
}

fn items(items: &[InitItem]) -> String {
    let one = |item: &InitItem| {
        let at = match &item.designator {
            Some(Designator::Member(name)) => format!(".{}=", name.node),
            Some(Designator::Index(index)) => format!("[{}]=", expr(index)),
            None => String::new(),
        };
        at + &init(&item.value)
    };
    format!("{{{}}}", join(items, " ", one))
}

fn block(block: &Block, depth: usize) -> String {
    block.stmts.iter().map(|s| stmt(s, depth)).collect()
}

fn stmt(stmt: &Stmt, depth: usize) -> String {
    let pad = format!("\n{}", "  ".repeat(depth));
    let inner = |s: &Stmt| self::stmt(s, depth + 1);
    let unrolled = |unroll: &Option<Unroll>| match unroll {
        None => String::new(),
        Some(Unroll::Full) => " unroll".to_string(),
        Some(Unroll::Count(n)) => format!(" unroll={n}"),
    };
    let some = |e: &Option<Expr>| e.as_ref().map_or("-".to_string(), expr);
    pad + &match &stmt.kind {
        StmtKind::Empty => "()".into(),
        StmtKind::Expr(e) => expr(e),
        StmtKind::Declaration(d) => declaration(d),
        StmtKind::Block(b) => format!("(block{})", block(b, depth + 1)),
        StmtKind::Using(using) => self::using(using),
        StmtKind::StaticAssert(assertion) => {
            format!("(static_assert {})", expr(&assertion.condition))
        }
        StmtKind::If {
            arms,
            otherwise,
            is_constexpr,
        } => {
            let arms: Vec<String> = arms
                .iter()
                .map(|(cond, body)| format!("{}{}", expr(cond), inner(body)))
                .collect();
            let otherwise = opt(otherwise, |s| format!(" else{}", inner(s)));
            let constexpr = if *is_constexpr { "-constexpr" } else { "" };
            format!("(if{constexpr} {}{otherwise})", arms.join(" elif "))
        }
        StmtKind::While { cond, body, unroll } => {
            format!("(while{} {}{})", unrolled(unroll), expr(cond), inner(body))
        }
        StmtKind::DoWhile { body, cond, unroll } => {
            format!("(do{}{} {})", unrolled(unroll), inner(body), expr(cond))
        }
        StmtKind::For {
            init,
            cond,
            step,
            body,
            unroll,
        } => {
            let init = self::stmt(init, 0);
            format!(
                "(for{} {}; {}; {}{})",
                unrolled(unroll),
                init.trim(),
                some(cond),
                some(step),
                inner(body)
            )
        }
        StmtKind::RangeFor {
            declaration: declared,
            range,
            body,
            unroll,
        } => format!(
            "(for{} {} : {}{})",
            unrolled(unroll),
            declaration(declared),
            expr(range),
            inner(body)
        ),
        StmtKind::Switch { value, body } => format!("(switch {}{})", expr(value), inner(body)),
        StmtKind::Case(value) => format!("(case {})", expr(value)),
        StmtKind::Default => "(default)".into(),
        StmtKind::Break => "(break)".into(),
        StmtKind::Continue => "(continue)".into(),
        StmtKind::Goto(name) => format!("(goto {})", name.node),
        StmtKind::Label(name) => format!("(label {})", name.node),
        StmtKind::Return(None) => "(return)".into(),
        StmtKind::Return(Some(e)) => format!("(return {})", expr(e)),
        StmtKind::Error => "(error)".into(),
    }
}

fn exprs(list: &[Expr]) -> String {
    join(list, " ", expr)
}

pub(super) fn expr(e: &Expr) -> String {
    match &e.kind {
        ExprKind::Int {
            value, unsigned, ..
        } => format!("{value}{}", if *unsigned { "u" } else { "" }),
        ExprKind::Float { value, single } => format!("{value:?}{}", if *single { "f" } else { "" }),
        ExprKind::Char(c) => format!("'{c}'"),
        ExprKind::Str(bytes) => format!("{:?}", String::from_utf8_lossy(bytes)),
        ExprKind::Bool(b) => b.to_string(),
        ExprKind::Nullptr => "nullptr".into(),
        ExprKind::Name(name) => name.to_string(),
        ExprKind::Path(path) => self::path(path),
        ExprKind::Unary(op, a) => format!("({op:?} {})", expr(a)),
        ExprKind::Postfix(op, a) => format!("(Post{op:?} {})", expr(a)),
        ExprKind::Binary(op, a, b) => format!("({:?} {} {})", op.node, expr(a), expr(b)),
        ExprKind::Assign(op, a, b) => {
            let op = op.node.map_or(String::new(), |op| format!("{op:?}"));
            format!("({op}= {} {})", expr(a), expr(b))
        }
        ExprKind::Conditional(c, a, b) => format!("(? {} {} {})", expr(c), expr(a), expr(b)),
        ExprKind::Comma(a, b) => format!("(, {} {})", expr(a), expr(b)),
        ExprKind::Call(f, args) => format!("({} {})", expr(f), exprs(args)),
        ExprKind::Launch {
            callee,
            config,
            args,
        } => format!(
            "(launch {} <{}> {})",
            expr(callee),
            exprs(&config.node),
            exprs(args)
        ),
        ExprKind::Index(a, i) => format!("{}[{}]", expr(a), expr(i)),
        ExprKind::Member(a, name) => format!("{}.{}", expr(a), name.node),
        ExprKind::Arrow(a, name) => format!("{}->{}", expr(a), name.node),
        ExprKind::Instance(a, args) => format!("{}{}", expr(a), template_args(&Some(args.clone()))),
        ExprKind::Expansion(a) => format!("{}...", expr(a)),
        ExprKind::Element(a, i) => format!("{}...{i}", expr(a)),
        ExprKind::Asm(asm) => {
            let operands = asm.outputs.iter().chain(&asm.inputs);
            let operands: Vec<String> = operands.map(|(_, operand)| expr(operand)).collect();
            format!("(asm {})", operands.join(" "))
        }
        ExprKind::SizeofPack(name) => format!("(sizeof... {})", name.node),
        ExprKind::Fold(fold) => {
            let init = opt(&fold.init, |init| format!(" {}", expr(init)));
            let side = if fold.is_left { "left" } else { "right" };
            format!(
                "(fold-{side} {:?} {}{init})",
                fold.operator.node,
                expr(&fold.pattern)
            )
        }
        ExprKind::Cast(ty, a) => format!("(cast {} {})", type_name(ty), expr(a)),
        ExprKind::Construct(ty, args) => format!("(new {} {})", type_name(ty), exprs(args)),
        ExprKind::Braced(ty, list) => format!("(new {} {})", type_name(ty), items(list)),
        ExprKind::NamedCast(word, ty, a) => {
            format!("({word:?}-cast {} {})", type_name(ty), expr(a)).to_lowercase()
        }
        ExprKind::This => "this".into(),
        ExprKind::Lambda(l) => {
            let mut captures: Vec<String> =
                l.default.iter().map(|kind| format!("{kind:?}")).collect();
            captures.extend(l.captures.iter().map(|capture| {
                let amp = if capture.kind == CaptureKind::Reference {
                    "&"
                } else {
                    ""
                };
                let init = opt(&capture.init, |e| format!("={}", expr(e)));
                format!("{amp}{}{init}", capture.name.node)
            }));
            let params: Vec<String> = l.params.iter().map(param).collect();
            let result = opt(&l.result, |ty| format!(" -> {}", type_name(ty)));
            format!(
                "(lambda [{}] ({}){result}{})",
                captures.join(" "),
                params.join(", "),
                block(&l.body, 1)
            )
        }
        ExprKind::IsTrivial(ty) => format!("(is-trivial {})", type_name(ty)),
        ExprKind::New(new) => {
            let place = new
                .place
                .as_ref()
                .map(|place| format!(" at {}", expr(place)));
            let counts: String = new
                .counts
                .iter()
                .map(|n| format!("[{}]", expr(n)))
                .collect();
            let init = new.init.as_ref().map(|value| format!(" {}", init(value)));
            format!(
                "(new-object{} {}{counts}{})",
                place.unwrap_or_default(),
                type_name(&new.ty),
                init.unwrap_or_default()
            )
        }
        ExprKind::Throw(e) => format!("(throw {})", expr(e)),
        ExprKind::Delete { is_array, pointer } => {
            format!(
                "(delete{} {})",
                if *is_array { "[]" } else { "" },
                expr(pointer)
            )
        }
        ExprKind::Alignof(ty) => format!("(alignof-type {})", type_name(ty)),
        ExprKind::SizeofType(ty) => format!("(sizeof-type {})", type_name(ty)),
        ExprKind::SizeofExpr(a) => format!("(sizeof {})", expr(a)),
        ExprKind::List(list) => items(list),
        ExprKind::Unsupported(what) => format!("<unsupported {what}>"),
        ExprKind::Error => "<error>".into(),
    }
}
