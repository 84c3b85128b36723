/* Macros that lean on every corner of rescanning. `torture.expected` is what gcc -E -P makes of them. */
#define EMPTY()
#define DEFER(id) id EMPTY()
#define OBSTRUCT(...) __VA_ARGS__ DEFER(EMPTY)()
#define EXPAND(...) __VA_ARGS__
#define EVAL(...)  EVAL1(EVAL1(EVAL1(__VA_ARGS__)))
#define EVAL1(...) EVAL2(EVAL2(EVAL2(__VA_ARGS__)))
#define EVAL2(...) EVAL3(EVAL3(EVAL3(__VA_ARGS__)))
#define EVAL3(...) __VA_ARGS__
#define CAT(a, ...) PRIMITIVE_CAT(a, __VA_ARGS__)
#define PRIMITIVE_CAT(a, ...) a ## __VA_ARGS__
#define INC(x) PRIMITIVE_CAT(INC_, x)
#define INC_0 1
#define INC_1 2
#define INC_2 3
#define DEC(x) PRIMITIVE_CAT(DEC_, x)
#define DEC_0 0
#define DEC_1 0
#define DEC_2 1
#define DEC_3 2
#define CHECK_N(x, n, ...) n
#define CHECK(...) CHECK_N(__VA_ARGS__, 0,)
#define PROBE(x) x, 1,
#define NOT(x) CHECK(PRIMITIVE_CAT(NOT_, x))
#define NOT_0 PROBE(~)
#define COMPL(b) PRIMITIVE_CAT(COMPL_, b)
#define COMPL_0 1
#define COMPL_1 0
#define BOOL(x) COMPL(NOT(x))
#define IIF(c) PRIMITIVE_CAT(IIF_, c)
#define IIF_0(t, ...) __VA_ARGS__
#define IIF_1(t, ...) t
#define IF(c) IIF(BOOL(c))
#define EAT(...)
#define WHEN(c) IF(c)(EXPAND, EAT)
#define REPEAT(count, macro, ...) WHEN(count) ( OBSTRUCT(REPEAT_INDIRECT) () ( DEC(count), macro, __VA_ARGS__ ) OBSTRUCT(macro) ( DEC(count), __VA_ARGS__ ) )
#define REPEAT_INDIRECT() REPEAT
#define M(i, _) i
EVAL(REPEAT(3, M, ~))
#define f(a) a*g
#define g(a) f(a)
f(2)(9) f(f)(1) g(g)(f)(3)
#define foo foo bar(foo)
#define bar(x) x foo
foo bar(bar(foo))(foo)
#define AA BB
#define BB AA + CC(AA
#define CC(x) [x]
AA) ;
#define str(...) #__VA_ARGS__
#define xstr(...) str(__VA_ARGS__)
str( a  b,c , "x\n" 'y' ) ; xstr(foo, g)
#define LPAREN (
#define CALL(x) CC LPAREN x )
CALL(3) EXPAND(CALL(3)) CC
(4) CC /* c */ (5)
#define cat2(x,y) x ## y ## 1
cat2(,) cat2(a,) cat2(,b) EXPAND(cat2(CC,)(7))
#define ID(x) x
ID(ID)(ID)(1) ID(CC)(2) ID(ID(CC)(2)) ID(-)-ID(+)+1
