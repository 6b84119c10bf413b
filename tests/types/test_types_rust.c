/* SPDX-License-Identifier: MIT OR Apache-2.0
 * Type expressions and definitions from Rust source: what is read, what is passed over, every mistake by its message,
 * and damaged source. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "types/types.h"
#include "tests/scratch.h"

/* ----------------------------------------------------------------------------------------------------- fixture -- */

static rec_context *context;

static int set_up(void **state)
{
    (void)state;
    context = rec_context_new(NULL);
    return context ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    rec_context_free(context);
    return 0;
}

/** A set without Burn's own types, which are files that are read elsewhere. */
static rec_types *new_set(void)
{
    rec_types *types = calloc(1, sizeof *types);
    assert_non_null(types);
    types->context = context;
    lr_arena_init(&types->arena, &context->allocator);
    return types;
}

static void free_set(rec_types *types)
{
    lr_arena_free(&types->arena);
    free(types);
}

static rec_status add(rec_types *types, const char *text, size_t length, const char *file)
{
    rec_job job;
    lr_job_begin(&job, context, "types", file);
    (void)lr_types_add_rust(&job, types, text, length, file);
    return lr_job_end(&job);
}

static rec_types *read_text(const char *text)
{
    rec_types *types = new_set();
    if (add(types, text, strlen(text), "model.rs") != REC_OK) {
        fail_msg("%s", rec_error_message());
    }
    return types;
}

/** Text that grows to what is asked of it here. */
typedef struct text {
    char at[8192];
    size_t used;
} text;

static void say(text *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void say(text *to, const char *format, ...)
{
    va_list args;
    int n;
    va_start(args, format);
    n = vsnprintf(to->at + to->used, sizeof to->at - to->used, format, args);
    va_end(args);
    assert_true(n >= 0 && (size_t)n < sizeof to->at - to->used);
    to->used += (size_t)n;
}

static void say_type(text *to, const lr_expr *type)
{
    char words[1024];
    assert_true(lr_expr_print(type, words, sizeof words) < sizeof words);
    say(to, "%s", words);
}

/* "module struct Net<B, const N = 3> { a: Linear<B>; #b: f32 }"; `#` a field that is skipped. */
static void say_def(text *to, const lr_def *def)
{
    static const char *const derives[] = {"", "module ", "record "};
    static const char *const kinds[] = {"", "struct", "enum", "type", "stateless", "optimizer"};
    say(to, "%s%s %s", derives[def->derive], kinds[def->kind], def->name);
    for (uint64_t i = 0; i < def->generic_count; i++) {
        const lr_expr *initial = def->generics[i].initial;
        say(to, "%s%s%s", i ? ", " : "<", def->generics[i].constant ? "const " : "", def->generics[i].name);
        if (initial) {
            say(to, " = ");
            say_type(to, initial);
        }
    }
    say(to, "%s {", def->generic_count ? ">" : "");
    for (uint64_t i = 0; i < def->field_count; i++) {
        const lr_type_field *field = &def->fields[i];
        say(to, "%s %s%s", i ? ";" : "", field->skip ? "#" : "", field->name);
        if (field->type) {
            say(to, "%s", *field->name ? ": " : "= ");
            say_type(to, field->type);
        }
    }
    say(to, " }\n");
}

/* Definitions in the order of the source. */
static void say_from(text *to, const lr_def *def)
{
    if (def) {
        say_from(to, def->next);
        say_def(to, def);
    }
}

static void check(const char *source, const char *expected)
{
    rec_types *types = read_text(source);
    text found = {.used = 0};
    say_from(&found, types->defs);
    assert_string_equal(found.at, expected);
    free_set(types);
}

static void refuse(const char *source, rec_status status, const char *message)
{
    rec_types *types = new_set();
    rec_status found = add(types, source, strlen(source), "model.rs");
    assert_string_equal(rec_error_message(), message);
    assert_int_equal(found, status);
    assert_null(types->defs);
    free_set(types);
}

/* ------------------------------------------------------------------------------------------------- expressions -- */

static const lr_expr *parse(lr_arena *arena, const char *source)
{
    rec_job job;
    const lr_expr *expr;
    lr_job_begin(&job, context, "types", NULL);
    expr = lr_expr_parse(&job, arena, source, strlen(source), NULL, 0);
    if ((lr_job_end(&job) == REC_OK) != (expr != NULL)) {
        fail_msg("%s: status and result differ", source);
    }
    return expr;
}

static void expressions_read_and_print(void **state)
{
    static const struct {
        const char *source, *plain;
    } cases[] = {
        {"f64", "f64"},
        {" f64 // a comment\n", "f64"},
        {"nn::Linear<B>", "Linear<B>"},
        {"::burn::nn::conv::Conv2d < B , >", "Conv2d<B>"},
        {"crate::model::Block::<B>", "Block<B>"},
        {"Vec<Option<nn::Linear<B>>>", "Vec<Option<Linear<B>>>"},
        {"Vec<Vec<Vec<u8>>>", "Vec<Vec<Vec<u8>>>"},
        {"[usize; 2]", "[usize; 2]"},
        {"[[Linear<B>;2];0x1_0usize]", "[[Linear<B>; 2]; 16]"},
        {"[u8; 2 * (3 + 4) - 8 / 4 % 3 << 1]", "[u8; 24]"},
        {"[u8; 0b101 | 0o20 & 0xFF ^ 1]", "[u8; 21]"},
        {"[u8; { 1 << 4 >> 2 } as usize]", "[u8; 4]"},
        {"[T; N]", "[T; N]"},
        {"[T; usize::MAX]", "[T; usize::MAX]"},
        {"[T; N * 2]", "[T; N * 2]"},
        {"[T; f(1, 2)]", "[T; f(1, 2)]"},
        {"[T; 18446744073709551616]", "[T; 18446744073709551616]"},
        {"(A, B)", "(A, B)"},
        {"(A,)", "(A,)"},
        {"( A )", "A"},
        {"()", "()"},
        {"((), (A,), [(); 3])", "((), (A,), [(); 3])"},
        {"Param<Tensor<B, 3, Int>>", "Param<Tensor<B, 3, Int>>"},
        {"Tensor<B, {2}>", "Tensor<B, 2>"},
        {"Tensor<B, { 1 + 1 }>", "Tensor<B, 2>"},
        {"Tensor<B, {N}>", "Tensor<B, N>"},
        {"Tensor<B, {1.5}>", "Tensor<B, {1.5}>"},
        {"Tensor<B, { N + 1 }>", "Tensor<B, { N + 1 }>"},
        {"Foo<-1, true, 'x', \"a\\\"b\">", "Foo<-1, true, 'x', \"a\\\"b\">"},
        {"HashMap<String, Vec<f32>>", "HashMap<String, Vec<f32>>"},
        {"Cow<'a, str>", "Cow<str>"},
        {"Box<dyn Iterator<Item = Vec<u8>> + Send + 'static>", "Box<dyn Iterator<Item = Vec<u8>> + Send + 'static>"},
        {"Foo<Item = u8, B>", "Foo<B>"},
        {"Foo<B, Item: Clone + Send>", "Foo<B>"},
        {"Foo<Item<'a> = &'a u8>", "Foo"},
        {"<M as Module<B>>::Record", "Record<M>"},
        {"<M as Module<B>>::Item::<S>", "Item<M, S>"},
        {"<Vec<<M as A>::B> as C>::D", "D<Vec<B<M>>>"},
        {"&'a mut  [ u8 ]", "&'a mut [ u8 ]"},
        {"&&'static str", "&&'static str"},
        {"*const u8", "*const u8"},
        {"[f32]", "[f32]"},
        {"impl Fn(u8, &str) -> Vec<u8> + Send", "impl Fn(u8, &str) -> Vec<u8> + Send"},
        {"Box<Fn(u8) + Send>", "Box<Fn(u8) + Send>"},
        {"for<'a, 'b: 'a> fn(&'a T) -> &'b T", "for<'a, 'b: 'a> fn(&'a T) -> &'b T"},
        {"unsafe extern \"C\" fn(*mut u8, ...)", "unsafe extern \"C\" fn(*mut u8, ...)"},
        {"dyn for<'a> Fn(&'a u8) + ?Sized", "dyn for<'a> Fn(&'a u8) + ?Sized"},
        {"dyn /* a\n /* nested */ comment */ Foo", "dyn Foo"},
        {"PhantomData<fn() -> B>", "PhantomData<fn() -> B>"},
        {"!", "!"},
        {"_", "_"},
        {"Vec<_>", "Vec<_>"},
        {"r#type", "r#type"},
        {"r#Linear", "Linear"},
        {"a::r#struct::r#fn<r#B>", "r#fn<B>"},
        {"B::FloatElem", "FloatElem"},
        {"ty!(u8, [1])", "ty!(u8, [1])"},
        {"\xC3\x9C"
         "ber<\xE5\xAD\x97>",
         "\xC3\x9C"
         "ber<\xE5\xAD\x97>"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lr_arena arena;
        char once[256], twice[256];
        const lr_expr *expr;
        lr_arena_init(&arena, &context->allocator);
        expr = parse(&arena, cases[i].source);
        if (!expr) {
            fail_msg("%s: %s", cases[i].source, rec_error_message());
        }
        assert_int_equal(lr_expr_print(expr, once, sizeof once), strlen(cases[i].plain));
        assert_string_equal(once, cases[i].plain);
        expr = parse(&arena, once);
        if (!expr) {
            fail_msg("%s: %s", once, rec_error_message());
        }
        (void)lr_expr_print(expr, twice, sizeof twice);
        assert_string_equal(twice, once);
        lr_arena_free(&arena);
    }
}

static void printing_tells_the_whole_length_and_stays_in_its_room(void **state)
{
    static const char whole[] = "Vec<(Linear<B>, [u8; 12])>";
    lr_arena arena;
    const lr_expr *expr;
    (void)state;
    lr_arena_init(&arena, &context->allocator);
    expr = parse(&arena, whole);
    assert_non_null(expr);
    for (size_t room = 0; room <= sizeof whole; room++) {
        char words[sizeof whole + 1];
        memset(words, '~', sizeof words);
        assert_int_equal(lr_expr_print(expr, words, room), strlen(whole));
        assert_int_equal(words[room], '~');
        if (room) {
            size_t fits = room - 1 < strlen(whole) ? room - 1 : strlen(whole);
            assert_memory_equal(words, whole, fits);
            assert_int_equal(words[fits], '\0');
        }
    }
    assert_int_equal(lr_expr_print(expr, NULL, 0), strlen(whole));
    lr_arena_free(&arena);
}

static void expressions_keep_paths_and_lengths(void **state)
{
    lr_arena arena;
    const lr_expr *expr;
    (void)state;
    lr_arena_init(&arena, &context->allocator);
    expr = parse(&arena, "burn::nn::Linear<B>");
    assert_non_null(expr);
    assert_string_equal(expr->path, "burn::nn");
    assert_null(expr->args[0]->path);
    expr = parse(&arena, "[B; 7]");
    assert_non_null(expr);
    assert_int_equal(expr->count, 1);
    assert_int_equal(expr->number, 7);
    expr = parse(&arena, "[B; N]");
    assert_non_null(expr);
    assert_int_equal(expr->count, 2);
    assert_true(expr->number == LR_LENGTH_UNKNOWN);
    expr = parse(&arena, "[B; 1 / 0]");
    assert_non_null(expr);
    assert_true(expr->number == LR_LENGTH_UNKNOWN);
    lr_arena_free(&arena);
}

static void mistakes_in_expressions_are_told(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        {"", "the type ``, column 1: expected a type, found the end"},
        {"Vec<", "the type `Vec<`, column 5: expected `>` after the generic arguments, found the end"},
        {"Vec<u8;", "the type `Vec<u8;`, column 7: expected `>` after the generic arguments, found `;`"},
        {"Vec<u8>>", "the type `Vec<u8>>`, column 8: expected the end of the type, found `>`"},
        {"u8 u8", "the type `u8 u8`, column 4: expected the end of the type, found `u8`"},
        {"struct", "the type `struct`, column 1: expected a type, found `struct`"},
        {"4", "the type `4`, column 1: expected a type, found `4`"},
        {"a::4", "the type `a::4`, column 4: expected a name after `::`, found `4`"},
        {"[u8; ]", "the type `[u8; ]`, column 6: expected a number or the name of a constant, found `]`"},
        {"[u8; 3", "the type `[u8; 3`, column 7: expected `]` after the length of the array, found the end"},
        {"[u8, 3]", "the type `[u8, 3]`, column 4: expected `;` or `]` after the type of the elements, found `,`"},
        {"(u8, ", "the type `(u8, `, column 6: expected `)` after the types of the tuple, found the end"},
        {"*u8", "the type `*u8`, column 2: expected `const` or `mut` after `*`, found `u8`"},
        {"<T as U::V",
         "the type `<T as U::V`, column 11: expected `>` after the type whose item this is, found the end"},
        {"dyn", "the type `dyn`, column 4: expected a trait after `dyn` or `impl`, found the end"},
        {"Tensor<B, 1.5>",
         "the type `Tensor<B, 1.5>`, column 11: expected an integer of at most 64 bits as a constant argument, found "
         "`1.5`"},
        {"fn(u8]", "the type `fn(u8]`, column 6: expected `)` to close what line 0 opened, found `]`"},
        {"Vec</* u8>", "the type `Vec</* u8>`, column 5: the comment that begins here has no end `*/`"},
        {"A<\"b>", "the type `A<\"b>`, column 3: the string that begins here has no end"},
        {"\xC3\x9C<\x01>", "the type `\xC3\x9C<?>`, column 3: a character that Rust does not use (0x01)"},
        {"A<\xFF>", "the type `A<?>`, column 3: invalid UTF-8 (0xff)\n  Rust source is UTF-8 text."},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lr_arena arena;
        lr_arena_init(&arena, &context->allocator);
        assert_null(parse(&arena, cases[i].source));
        assert_string_equal(rec_error_message(), cases[i].message);
        assert_int_equal(rec_error_status(), REC_E_ARGUMENT);
        lr_arena_free(&arena);
    }
}

/* `open` n times, `middle`, `close` n times. */
static char *nested(const char *open, const char *middle, const char *close, size_t n)
{
    size_t o = strlen(open), c = strlen(close), m = strlen(middle);
    char *source = malloc((o + c) * n + m + 1), *at = source;
    assert_non_null(source);
    for (size_t i = 0; i < n; i++, at += o) {
        memcpy(at, open, o);
    }
    memcpy(at, middle, m);
    at += m;
    for (size_t i = 0; i < n; i++, at += c) {
        memcpy(at, close, c);
    }
    *at = '\0';
    return source;
}

static void depth_is_limited(void **state)
{
    static const struct {
        const char *open, *middle, *close;
    } cases[] = {
        {"A<", "u8", ">"},        {"(", "u8", ",)"},     {"[", "u8", "; 1]"},    {"&", "u8", ""},
        {"<", "u8", " as T>::U"}, {"dyn A<", "u8", ">"}, {"for<'a> ", "u8", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (size_t n = 20; n <= 100000; n *= 50) {
            char *source = nested(cases[i].open, cases[i].middle, cases[i].close, n);
            lr_arena arena;
            const lr_expr *expr;
            lr_arena_init(&arena, &context->allocator);
            expr = parse(&arena, source);
            if (n == 20) {
                assert_non_null(expr);
            } else {
                assert_null(expr);
                assert_int_equal(rec_error_status(), REC_E_LIMIT);
                assert_non_null(strstr(rec_error_message(), "nested deeper than 64 levels"));
            }
            lr_arena_free(&arena);
            free(source);
        }
    }
}

static void constants_nested_without_end_have_no_value(void **state)
{
    char *value = nested("(", "1", ")", 400);
    char *source = NULL;
    rec_types *types;
    (void)state;
    assert_true(asprintf(&source, "struct A { a: [u8; %s] }", value) > 0);
    types = read_text(source);
    assert_true(types->defs->fields[0].type->number == LR_LENGTH_UNKNOWN);
    free_set(types);
    free(source);
    free(value);
}

/* ------------------------------------------------------------------------------------------------- definitions -- */

static void structs_enums_and_types_are_read(void **state)
{
    static const struct {
        const char *source, *found;
    } cases[] = {
        {"", ""},
        {"\xEF\xBB\xBF#!/usr/bin/env run\nstruct A;", "struct A { }\n"},
        {"#![allow(dead_code)]\nstruct A;", "struct A { }\n"},
        {"struct A {}", "struct A { }\n"},
        {"struct A();", "struct A { }\n"},
        {"pub struct A { pub a: u8, pub(crate) b: u16, pub(in crate::x) c: u32, pub(super) d: u64 }",
         "struct A { a: u8; b: u16; c: u32; d: u64 }\n"},
        {"struct A(pub u8, pub(crate) u16, pub (u8, u8), pub (crate::B), );",
         "struct A { 0: u8; 1: u16; 2: (u8, u8); 3: B }\n"},
        {"#[derive(Debug, Module)] struct A<B: Backend> { a: Param<Tensor<B, 2>> }",
         "module struct A<B> { a: Param<Tensor<B, 2>> }\n"},
        {"#[derive(burn::module::Module, Clone)] struct A { }", "module struct A { }\n"},
        {"#[derive(Clone)] #[derive(Record)] struct A { }", "record struct A { }\n"},
        {"#[derive(Record, Module)] struct A { }", "module struct A { }\n"},
        {"#[derive(Config, Debug)] struct A { #[config(default = \"0.1\")] a: f64 }", "struct A { a: f64 }\n"},
        {"#[derive(ModuleDisplay, Recording)] struct A;", "struct A { }\n"},
        {"#[cfg_attr(feature = \"x\", derive(Module), derive(Debug))] struct A;", "module struct A { }\n"},
        {"#[cfg_attr(not(feature = \"x\"), derive(Module))] struct A;", "struct A { }\n"},
        {"#[cfg_attr(not(test), cfg_attr(unix, derive(Module)))] struct A;", "module struct A { }\n"},
        {"#[doc = \"x ] ) }\"] #[a::b[(]x)] [y])] struct A { /// doc\n #[serde(rename = \"]\")] a: u8 /*c*/ , }", NULL},
        {"#[doc = \"x ] ) }\"] #[a::b(['(', \"]\"])] struct A { /// doc }\n #[serde(rename = \"]\")] a: u8 /*c*/ , }",
         "struct A { a: u8 }\n"},
        {"struct A<B> { #[module(skip)] a: B, #[module(other)] b: B, #[cfg(unix)] #[module( skip )] c: B }",
         "struct A<B> { #a: B; b: B; #c: B }\n"},
        {"struct A<'a, 'b: 'a + 'static, #[x] B: Backend<Elem = f32> + 'a + ?Sized = NdArray<f32>, const N: usize = 3, "
         "const M: i32 = -1, const K: bool = true, const L: usize = { 2 * 2 }, T = (), > where B: Clone, for<'c> &'c "
         "B: "
         "Fn(u8) -> Vec<u8>, 'a: 'b, [u8; N]: Sized, { a: [B; N], b: &'a [[B; M]; L] }",
         "struct A<B = NdArray<f32>, const N = 3, const M = -1, const K = true, const L = 4, T = ()> { a: [B; N]; b: "
         "&'a [[B; M]; L] }\n"},
        {"struct A<B>(B, u8) where B: Clone; struct C<B> where B: Clone (B);",
         "struct A<B> { 0: B; 1: u8 }\nstruct C<B> { 0: B }\n"},
        {"struct A<B> where B: Clone;", "struct A<B> { }\n"},
        {"struct A { a: u8 = 1 + f(2, 3), b: u8 }", "struct A { a: u8; b: u8 }\n"},
        {"enum A { }", "enum A { }\n"},
        {"#[derive(Module)] enum A<B: Backend> { One(Linear<B>), #[x] Two(Vec<A<B>>), Three, }",
         "module enum A<B> { One: Linear<B>; Two: Vec<A<B>>; Three }\n"},
        {"enum A { B = 1, C = 1 << 3, D(u8) = { 7 }, #[default] E }", "enum A { B; C; D: u8; E }\n"},
        {"enum A<T> { Pair(T, u8), Named { a: T, b: [T; 2] }, Unit(), Empty {} }",
         "struct A::Named<T> { a: T; b: [T; 2] }\nstruct A::Empty<T> { }\n"
         "enum A<T> { Pair: (T, u8); Named: A::Named<T>; Unit: (); Empty: A::Empty<T> }\n"},
        {"type Bn2<B> = nn::BatchNorm<B, 2>; pub(crate) type Two<B: Backend = X> where B: Y = [Linear<B>; 2];",
         "type Bn2<B> { = BatchNorm<B, 2> }\ntype Two<B = X> { = [Linear<B>; 2] }\n"},
        {"type R<M, X> = <M as Module<X>>::Record; type F = fn(u8) -> u8;",
         "type R<M, X> { = Record<M> }\ntype F { = fn(u8) -> u8 }\n"},
        {"struct r#type { r#match: r#struct, r#a: r#B }", "struct type { match: r#struct; a: B }\n"},
        {"mod a { pub mod b { struct C; } mod d; } struct E;", "struct C { }\nstruct E { }\n"},
        {"struct A { a: u8 };", "struct A { a: u8 }\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].found) {
            check(cases[i].source, cases[i].found);
        } else { /* brackets that do not match even in an attribute */
            rec_types *types = new_set();
            assert_int_equal(add(types, cases[i].source, strlen(cases[i].source), NULL), REC_E_FORMAT);
            free_set(types);
        }
    }
}

static void all_else_is_passed_over(void **state)
{
    static const char *const cases[] = {
        "use a::{b, c as d, e::*, {f, g::{self, h}}, ::i}; use self::j; pub(crate) use k::*; use {l, m}; use ::n as _;",
        "extern crate alloc; extern crate a as b; extern \"C\" { fn f(x: u8) -> u8; static X: u8; } extern \"C\" fn "
        "g() {}",
        "static A: [u8; 2] = [1, 2]; static mut B: &'static str = \"; }\"; static C: fn() -> u8 = || { 1; 2 };",
        "const _: () = { struct Hidden; assert!(1 < 2); }; const A: &str = \"x\"; const F: fn(u8) -> Vec<u8> = f;",
        "const fn f<const N: usize>() -> [u8; N] where [(); N]: Sized { struct Hidden { a: u8 } [0; N] }",
        "async fn f() {} unsafe fn g() {} const unsafe extern \"C\" fn h() {} pub(crate) async unsafe fn i() {}",
        "fn f(x: &str) -> impl Fn(u8) -> u8 + '_ { let a = 'a'; let b = '\\''; let c = '\"'; let d = b'}'; x }",
        "fn f() { 'outer: loop { break 'outer; } let s = r#\"} \" } \"#; let t = br##\"}\"#\"##; let u = c\"}\"; }",
        "fn f() -> Foo<{ N + 1 }> { struct Hidden; } fn g<T = Vec<u8>>() {}",
        "fn f() { let x = 1.0e-5f32; let y = 1..2; let z = a.0.1; let w = 1.max(2); let v = 0xE+1; let u = 1e+5; }",
        "fn f() { if a < b && c > d {} let x = a as u8 >> 2; match x { 1 | 2 => {}, _ if x <= 3 => (), _ => {} } }",
        "impl<B: Backend, const N: usize> Foo<{ N }> for Net<B> where B: X { type Hidden = u8; fn f(&self) {} }",
        "impl A { const N: usize = 4; } default impl B {} unsafe impl Send for A {} impl !Sync for A {}",
        "trait T: Fn(u8) -> u8 { type Hidden; type Other<'a>: X = u8; fn f(); } pub unsafe auto trait U {} trait V = "
        "W;",
        "macro_rules! m { ($a:ty, $($b:ident),*) => { struct Hidden { a: $a } }; } macro n($x:expr) { struct Hidden; }",
        "a::b! { struct Hidden; } thread_local!(static X: u8 = 1;); c![1, 2]; lazy_static! { static ref A: u8 = 1; }",
        "union U { a: u8, b: f32 } /* /* struct Hidden; */ struct Hidden; */ // struct Hidden;\n/// doc\nfn f() {}",
        "#![no_std] //! inner doc\n#![feature(x)] mod a { #![allow(x)] //! doc\n} ;;",
        "fn quotes() { let x = \"\\\\\"; let y = \"\\\"struct Hidden;\"; let z = \"a\n/*\"; let c = '\xE5\xAD\x97'; } "
        "//",
        "fn f<'a>(x: &'a u8) -> &'a u8 { let r#fn = x; let r = 1; let b = 2; let br = r#fn; x } fn g(_: &'r#a u8) {}",
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i], "");
    }
}

static void constants_are_known_by_name(void **state)
{
    (void)state;
    check("struct A { a: [u8; LAYERS], b: Tensor<B, RANK>, c: [u8; sizes::WIDE * 2 + 1], d: [u8; OTHER] }\n"
          "const LAYERS: usize = 4; pub const RANK: usize = LAYERS - 1; mod sizes { pub const WIDE: usize = 0x10; }\n"
          "const RATIO: f64 = 1.5; const LOOP: usize = LOOP + 1; const A: usize = 1;",
          "struct A { a: [u8; 4]; b: Tensor<B, 3>; c: [u8; 33]; d: [u8; OTHER] }\n"
          "type LAYERS { = 4 }\ntype RANK { = 3 }\ntype WIDE { = 16 }\n");
    /* A parameter hides a constant. */
    check("const N: usize = 4; struct A<const N: usize> { a: [u8; N], b: Tensor<B, N> }",
          "struct A<const N> { a: [u8; N]; b: Tensor<B, N> }\ntype N { = 4 }\n");
}

static void a_constant_parameter_with_a_default_gives_a_length(void **state)
{
    rec_types *types = read_text("struct Net<B: Backend, const N: usize = 3> { a: [Linear<B>; N], b: [u8; { N }] }");
    (void)state;
    assert_true(types->defs->fields[0].type->number == 3);
    assert_string_equal(types->defs->fields[0].type->args[1]->name, "N");
    assert_true(types->defs->fields[1].type->count == 2);
    free_set(types);
}

static void constants_of_a_file_before_are_known(void **state)
{
    static const char second[] = "struct A { a: [u8; N], b: Tensor<B, N> }";
    rec_types *types = read_text("const N: usize = 5;");
    text found = {.used = 0};
    (void)state;
    assert_int_equal(add(types, second, strlen(second), "b.rs"), REC_OK);
    say_def(&found, types->defs);
    assert_string_equal(found.at, "struct A { a: [u8; 5]; b: Tensor<B, 5> }\n");
    free_set(types);
}

static void imports_tell_what_a_name_stands_for(void **state)
{
    static const struct {
        const char *type, *name, *path;
    } cases[] = {
        {"Linear<B>", "Linear", "burn::nn"},
        {"Lin<B>", "Linear", "burn::nn"},
        {"nn::Conv<B>", "Conv", "burn::nn"},
        {"pool::Max", "Max", "burn::nn::pool"},
        {"Own", "Own", NULL},
        {"m::Own", "Own", "m"},
        {"B", "B", NULL},
        {"crate::nn::Own", "Own", "crate::nn"},
        {"Deep", "Deep", "a::b::c"},
        {"c::X", "X", "a::b::c"},
        {"Unlikely", "Likely", "x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *source = NULL;
        rec_types *types;
        const lr_expr *type;
        assert_true(asprintf(&source,
                             "use burn::{nn::{self, Linear, pool, Linear as Lin}, prelude::*};\n"
                             "use a::b::{c::{self, Deep}}; use elsewhere::B;\n"
                             "#[cfg(not(feature = \"a\"))] use x::Never as Unlikely;\n"
                             "#[cfg(feature = \"a\")] use x::Likely as Unlikely;\n"
                             "struct A<B> { a: %s }",
                             cases[i].type) > 0);
        types = read_text(source);
        type = types->defs->fields[0].type;
        assert_string_equal(type->name, cases[i].name);
        if (cases[i].path) {
            assert_non_null(type->path);
            assert_string_equal(type->path, cases[i].path);
        } else {
            assert_null(type->path);
        }
        free_set(types);
        free(source);
    }
}

static void of_two_definitions_the_likelier_counts(void **state)
{
    static const struct {
        const char *source, *found;
    } cases[] = {
        {"#[cfg(feature = \"a\")] type A = u8; #[cfg(not(feature = \"a\"))] type A = u16;", "type A { = u8 }\n"},
        {"#[cfg(not(feature = \"a\"))] type A = u16; #[cfg(feature = \"a\")] type A = u8;", "type A { = u8 }\n"},
        {"#[cfg(feature = \"a\")] type A = u8; #[cfg(feature = \"b\")] type A = u16;", "type A { = u8 }\n"},
        {"#[cfg(test)] type A = u8; #[cfg(not(test))] type A = u16;", "type A { = u16 }\n"},
        {"#[cfg(all(unix, not(test)))] type A = u8; #[cfg(any(test, windows))] type A = u16;", "type A { = u8 }\n"},
        {"#[cfg(all())] type A = u8; #[cfg(any())] type A = u16;", "type A { = u8 }\n"},
        {"type A = u8; #[cfg(test)] mod tests { type A = u16; }", "type A { = u8 }\n"},
        {"mod a { type A = u8; } mod b { type A = u16; }", "type A { = u16 }\n"},
        {"struct S { #[cfg(feature = \"a\")] x: u8, #[cfg(not(feature = \"a\"))] x: u16, #[cfg(test)] y: u8, z: u8 }",
         "struct S { x: u8; z: u8 }\n"},
        {"struct S { #[cfg(feature = \"a\")] x: u8, #[cfg(feature = \"b\")] x: u16 }", "struct S { x: u8 }\n"},
        {"struct S(#[cfg(not(feature = \"a\"))] u8, u16);", "struct S { 0: u16 }\n"},
        {"enum E { #[cfg(test)] A, B, #[cfg(feature = \"gpu\")] C(u8) }", "enum E { B; C: u8 }\n"},
        {"#[cfg(feature = \"a\")] const N: usize = 1; #[cfg(not(feature = \"a\"))] const N: usize = 2; struct S([u8; "
         "N]);",
         "struct S { 0: [u8; 1] }\ntype N { = 1 }\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(cases[i].source, cases[i].found);
        if (i + 1 < sizeof cases / sizeof *cases) {
            assert_true(rec_report_count() > 0);
        }
    }
}

static void a_choice_is_noted(void **state)
{
    const rec_note *note;
    rec_types *types = read_text("struct S { a: u8, #[cfg(feature = \"x\")] b: u8, #[cfg(test)] c: u8 }\n"
                                 "#[cfg(feature = \"x\")] type A = u8;\n#[cfg(not(feature = \"x\"))] type A = u16;\n"
                                 "mod m { struct S; }\nstruct D;\n#[cfg(feature = \"x\")] struct D(u8);");
    (void)state;
    assert_int_equal(rec_report_count(), 5);
    note = rec_report_note(0);
    assert_int_equal(note->kind, REC_NOTE_ASSUMED);
    assert_string_equal(note->text,
                        "model.rs: line 1: the field `b` depends on the configuration; it is taken as there");
    assert_string_equal(rec_report_note(1)->text,
                        "model.rs: line 1: the field `c` depends on the configuration; it is taken as not there");
    assert_string_equal(rec_report_note(2)->text, "model.rs: `A` is defined in line 2 and in line 3 for different "
                                                  "configurations: the one of line 2 counts");
    assert_string_equal(rec_report_note(3)->text,
                        "model.rs: `S` is defined in line 1 and in line 4: the one of line 4 counts");
    assert_string_equal(rec_report_note(4)->text, "model.rs: `D` is defined in line 5 and in line 6 for different "
                                                  "configurations: the one of line 5 counts");
    free_set(types);
}

static void definitions_for_tests_hide_nothing(void **state)
{
    static const char second[] = "#[cfg(test)] mod tests { struct A { b: u8 } struct C; }";
    rec_types *types = read_text("struct A { a: u8 }");
    text found = {.used = 0};
    (void)state;
    assert_int_equal(add(types, second, strlen(second), "b.rs"), REC_OK);
    say_from(&found, types->defs);
    assert_string_equal(found.at, "struct A { a: u8 }\nstruct C { }\n");
    free_set(types);
}

static void mistakes_are_told_with_file_line_and_column(void **state)
{
    static const struct {
        const char *source, *message;
    } cases[] = {
        {"struct A {\n    a: Vec<u8;\n}", "line 2: column 14: expected `>` after the generic arguments, found `;`"},
        {"#[doc = \"a\nb\"]\nstruct A {\n    a: Vec<u8;\n}",
         "line 4: column 14: expected `>` after the generic arguments, found `;`"},
        {"struct A {\n    a: u8\n    b: u8\n}",
         "line 3: column 5: expected `}` or `,` after the type of the field, found `b`"},
        {"struct A { a u8 }", "line 1: column 14: expected `:` after the name of the field, found `u8`"},
        {"struct A { a: u8, a: u8 }", "line 1: column 19: the field `a` occurs twice"},
        {"enum A { B, B }", "line 1: column 13: the variant `B` occurs twice"},
        {"struct A {", "line 1: column 11: expected `}` to close what line 1 opened, found the end"},
        {"struct A { a: u8 ]", "line 1: column 18: expected `}` to close what line 1 opened, found `]`"},
        {"struct { }", "line 1: column 8: expected the name of the struct, found `{`"},
        {"struct A = u8;", "line 1: column 10: expected `{`, `(` or `;` after the name of the struct, found `=`"},
        {"struct A(u8)", "line 1: column 13: expected `{` or `;` for the struct that line 1 begins, found the end"},
        {"struct A<B: { }", "line 1: column 16: expected `{` or `;` for the struct that line 1 begins, found the end"},
        {"struct A<B, 3>;", "line 1: column 13: expected the name of the type parameter, found `3`"},
        {"struct A<const N> { }",
         "line 1: column 17: expected `:` after the name of the constant parameter, found `>`"},
        {"type A<B>;", "line 1: column 10: expected `=` after the name of the type, found `;`"},
        {"enum A { B(u8) C }", "line 1: column 16: expected `}` or `,` after the variant, found `C`"},
        {"stuct A { }",
         "line 1: column 1: expected an item (`struct`, `enum`, `type`, `mod`, `fn`, `impl`, `use`...), found `stuct`"},
        {"struct A;\n}",
         "line 2: column 1: expected an item (`struct`, `enum`, `type`, `mod`, `fn`, `impl`, `use`...), found `}`"},
        {"mod a {\n struct A;\n", "line 3: column 1: expected `}` at the end of the module, found the end"},
        {"fn f() {\n  (\n  }\n}", "line 3: column 3: expected `)` to close what line 2 opened, found `}`"},
        {"fn f()", "line 1: column 7: expected `{` or `;` for the fn that line 1 begins, found the end"},
        {"#[derive(Module]", "line 1: column 17: expected `)` in the attribute, found the end"},
        {"#struct", "line 1: column 2: expected `[` after the `#` of an attribute, found `struct`"},
        {"#[cfg(3)] struct A;", "line 1: column 7: expected a condition in the cfg attribute, found `3`"},
        {"use a::{b, c;", "line 1: column 13: expected `}` after the imported names, found `;`"},
        {"use a::;", "line 1: column 8: expected a name, `{` or `*` in the import, found `;`"},
        {"const A = 3;", "line 1: column 9: expected `:` after the name of the constant, found `=`"},
        {"/* /* */\nstruct A;", "line 1: column 1: the comment that begins here has no end `*/`"},
        {"struct A;\n  fn f() { \"abc\n }\n", "line 2: column 12: the string that begins here has no end"},
        {"\xC3\xA9!{ r##\"abc\"# }", "line 1: column 5: the raw string that begins here has no end: a quote and 2 `#`"},
        {"fn f() { '", "line 1: column 10: expected a character after the apostrophe"},
        {"fn f() { '+ }", "line 1: column 10: expected a character or a lifetime after the apostrophe"},
        {"struct A;\n\xC3\xA9\xFF", "line 2: column 2: invalid UTF-8 (0xff)\n  Rust source is UTF-8 text."},
        {"struct A { a: `b` }", "line 1: column 15: a character that Rust does not use (0x60)"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *message = NULL;
        assert_true(asprintf(&message, "model.rs: %s", cases[i].message) > 0);
        refuse(cases[i].source, REC_E_FORMAT, message);
        free(message);
    }
}

static void sizes_and_counts_are_limited(void **state)
{
    static const struct {
        const char *open, *middle, *close, *words;
        size_t n;
    } cases[] = {
        {"mod a {", "", "}", "nested deeper than 64 levels", 100},
        {"mod a {", "", "}", "nested deeper than 64 levels", 100000},
        {"#[cfg(not(", "", "))]", "nested deeper than 64 levels", 0},
        {"fn f() {", "", "}", "brackets are nested deeper than 512 levels", 600},
        {"struct A; struct B", "", ";", NULL, 0},
        {"use a::{", "b", "};", NULL, 0},
    };
    char *source, *inner;
    rec_types *types;
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        if (cases[i].n == 0) {
            inner = nested("not(", "test", ")", 1000);
            assert_true(asprintf(&source, "#[cfg(%s)] struct A;", inner) > 0);
        } else {
            inner = NULL;
            source = nested(cases[i].open, cases[i].middle, cases[i].close, cases[i].n);
        }
        types = new_set();
        assert_int_equal(add(types, source, strlen(source), NULL), REC_E_LIMIT);
        assert_non_null(strstr(rec_error_message(), cases[i].words));
        free_set(types);
        free(source);
        free(inner);
    }
    /* Many definitions, many imports, many fields, many parameters, a large source. */
    static const struct {
        const char *begin, *each, *end, *words;
        size_t n;
    } many[] = {
        {"", "struct A%zu;\n", "", "more than 16384 definitions in one file", 16385},
        {"", "use a::b%zu;\n", "", "more than 16384 imports in one file", 16385},
        {"struct A {", "a%zu: u8,", "}", "more than 1048576 types, fields and names", 400000},
        {"struct A<", "A%zu, ", ">;", "more than 64 parameters of one type", 65},
        {"//", "%10zu\n//", "", "the source is larger than 16 MiB", 1400000},
    };
    for (size_t i = 0; i < sizeof many / sizeof *many; i++) {
        size_t room = strlen(many[i].begin) + strlen(many[i].end) + many[i].n * (strlen(many[i].each) + 12) + 1;
        size_t used;
        source = malloc(room);
        assert_non_null(source);
        used = (size_t)snprintf(source, room, "%s", many[i].begin);
        for (size_t k = 0; k < many[i].n; k++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
            used += (size_t)snprintf(source + used, room - used, many[i].each, k);
#pragma GCC diagnostic pop
        }
        used += (size_t)snprintf(source + used, room - used, "%s", many[i].end);
        types = new_set();
        assert_int_equal(add(types, source, used, NULL), REC_E_LIMIT);
        if (!strstr(rec_error_message(), many[i].words)) {
            fail_msg("%s", rec_error_message());
        }
        assert_null(types->defs);
        free_set(types);
        free(source);
    }
}

/* ------------------------------------------------------------------------------------------------ whole models -- */

static const char mnist[] =
    "//! A small convolutional network.\n"
    "use burn::{\n    nn::{self, loss::CrossEntropyLoss, BatchNorm, PaddingConfig2d},\n    prelude::*,\n};\n\n"
    "const NUM_CLASSES: usize = 10;\n\n"
    "/// The model.\n#[derive(Module, Debug)]\npub struct Model<B: Backend> {\n"
    "    conv1: ConvBlock<B>,\n    conv2: ConvBlock<B>,\n    dropout: nn::Dropout,\n    fc1: nn::Linear<B>,\n"
    "    fc2: nn::Linear<B>,\n    activation: nn::Gelu,\n}\n\n"
    "impl<B: Backend> Default for Model<B> {\n    fn default() -> Self {\n        let device = B::Device::default();\n"
    "        Self::new(&device)\n    }\n}\n\n"
    "impl<B: Backend> Model<B> {\n    pub fn new(device: &B::Device) -> Self {\n"
    "        let conv1 = ConvBlock::new([1, 64], [3, 3], device, true); // out: [n, 64, 26, 26]\n"
    "        let hidden = 64 * 5 * 5;\n        let name = format!(\"{}: {{}} '\", hidden);\n        Self { conv1 }\n   "
    " }\n\n"
    "    pub fn forward(&self, input: Tensor<B, 3>) -> Tensor<B, 2> {\n        let [b, h, w] = input.dims();\n"
    "        if b < h && w > 1 { return input.reshape([b, 1, h, w]).detach(); }\n        self.fc2.forward(input)\n    "
    "}\n}\n\n"
    "#[derive(Module, Debug)]\npub struct ConvBlock<B: Backend> {\n    conv: nn::conv::Conv2d<B>,\n"
    "    norm: BatchNorm<B>,\n    pool: Option<nn::pool::MaxPool2d>,\n    activation: nn::Relu,\n}\n\n"
    "impl<B: AutodiffBackend> TrainStep<MnistBatch<B>, ClassificationOutput<B>> for Model<B> {\n"
    "    fn step(&self, item: MnistBatch<B>) -> TrainOutput<ClassificationOutput<B>> { todo!() }\n}\n";

static const char resnet[] =
    "use alloc::{format, vec::Vec};\nuse burn::nn::{conv::{Conv2d, Conv2dConfig}, BatchNorm, Linear, Relu};\n"
    "use core::{f64::consts::SQRT_2, marker::PhantomData};\n\n"
    "const RESNET18_BLOCKS: [usize; 4] = [2, 2, 2, 2];\nconst EXPANSION: usize = 1 << 2;\n\n"
    "#[derive(Module, Debug)]\npub struct ResNet<B: Backend, M> {\n    conv1: Conv2d<B>,\n    bn1: BatchNorm<B>,\n"
    "    relu: Relu,\n    maxpool: MaxPool2d,\n    layer1: LayerBlock<B, M>,\n    layers: [LayerBlock<B, M>; EXPANSION "
    "- 1],\n"
    "    avgpool: AdaptiveAvgPool2d,\n    fc: Linear<B>,\n}\n\n"
    "impl<B: Backend, M: ResidualBlock<B>> ResNet<B, M> {\n    #[cfg(feature = \"pretrained\")]\n"
    "    pub fn load(path: &'static str) -> Result<Self, RecorderError> where M: Send {\n"
    "        let raw = r#\"a \"quoted\" {\"#; let ch = '}'; let b = b'{'; Err(())\n    }\n}\n\n"
    "pub trait ResidualBlock<B: Backend>: Module<B> {\n    type Config: Debug;\n    fn forward(&self, x: Tensor<B, 4>) "
    "-> "
    "Tensor<B, 4>;\n}\n\n"
    "#[derive(Module, Debug)]\npub struct BasicBlock<B: Backend> {\n    conv1: Conv2d<B>,\n    bn1: BatchNorm<B>,\n"
    "    downsample: Option<Downsample<B>>,\n}\n\n"
    "#[derive(Module, Debug)]\nenum Block<B: Backend> {\n    /// [`BasicBlock`] for 18 and 34.\n    "
    "Basic(BasicBlock<B>),\n"
    "    Bottleneck(Bottleneck<B>),\n}\n\n"
    "#[derive(Module, Debug)]\npub struct LayerBlock<B: Backend, M> {\n    blocks: Vec<M>,\n"
    "    _backend: PhantomData<B>,\n}\n"
    "macro_rules! forward { ($($name:ident),* $(,)?) => { $( impl $name { fn go(&self) {} } )* }; }\n"
    "forward!(BasicBlock, Bottleneck,);\n"
    "#[derive(Config, Debug)]\npub struct ResNetConfig {\n    #[config(default = \"1000\")]\n    num_classes: "
    "usize,\n}\n"
    "#[derive(Debug, Clone, Copy)]\npub enum Weights { V1, V2 { top1: f32 }, Custom(&'static str, usize) }\n"
    "#[cfg(test)]\nmod tests {\n    use super::*;\n    #[test]\n    fn it_works() { assert_eq!(1, 1); }\n    struct "
    "Block;\n}\n";

static const char whisper[] =
    "#![allow(clippy::needless_range_loop)]\n"
    "pub(crate) mod audio {\n    pub const N_MELS: usize = 80;\n    pub mod windows { pub type Window = [f32; "
    "super::N_FFT]; }\n"
    "    const N_FFT: usize = 20 * 20;\n}\n"
    "use audio::N_MELS;\n"
    "#[derive(burn::module::Module, Debug)]\n"
    "pub struct Whisper<B>\nwhere\n    B: Backend<FloatElem = f32>,\n    B::Device: Clone + Send + 'static,\n"
    "    for<'a> &'a B: Sized,\n{\n    pub encoder: AudioEncoder<B>,\n    pub decoder: TextDecoder<B, 6>,\n"
    "    pub(crate) r#type: burn::module::Ignored<Kind>,\n    #[module(skip)]\n    cache: Option<Box<dyn Fn(Tensor<B, "
    "3>) -> "
    "Tensor<B, 3> + Send + Sync + 'static>>,\n}\n"
    "#[derive(Module, Debug)]\npub struct AudioEncoder<B: Backend> {\n    conv1: nn::conv::Conv1d<B>,\n    gelu1: "
    "nn::Gelu,\n"
    "    blocks: Vec<ResidualEncoderAttentionBlock<B>>,\n    positional_embedding: Param<Tensor<B, 2>>,\n"
    "    mel: Param<Tensor<B, { 1 + 1 }, Float>>,\n    bank: [[f64; N_MELS]; 2],\n}\n"
    "#[derive(Module, Debug)]\npub struct TextDecoder<B: Backend, const LAYERS: usize = 4> {\n"
    "    blocks: [DecoderBlock<B>; LAYERS],\n    ln: nn::LayerNorm<B>,\n    mask: Param<Tensor<B, 2, Bool>>,\n"
    "    ids: burn::module::Param<burn::tensor::Tensor<B, 1, burn::tensor::Int>>,\n    pair: (nn::Linear<B>, "
    "Option<nn::Linear<B>>),\n}\n"
    "pub struct Kind(pub(crate) u8, pub (u8, u8));\n"
    "#[derive(Record, Clone)]\npub struct State<B: Backend> {\n    step: u64,\n    moments: HashMap<String, Tensor<B, "
    "1>>,\n"
    "    model: <Whisper<B> as Module<B>>::Record,\n    tags: Vec<Option<(u16, String)>>,\n}\n"
    "#[cfg(feature = \"f16\")]\ntype Elem = half::f16;\n#[cfg(not(feature = \"f16\"))]\ntype Elem = f32;\n"
    "unsafe extern \"C\" { fn fft(x: *const f32, n: usize) -> i32; }\n";

static const char transformer[] =
    "type Norm<B> = nn::LayerNorm<B>;\ntype Pairs<A, B> = Vec<(A, B)>;\n"
    "#[derive(Module, Debug, Clone)]\npub struct Transformer<B: Backend, const D: usize, A = nn::Gelu> {\n"
    "    embed: nn::Embedding<B>,\n    layers: Vec<Layer<B, D, A>>,\n    norm: Norm<B>,\n    heads: "
    "Pairs<nn::Linear<B>, "
    "Norm<B>>,\n    bias: [Param<Tensor<B, 1>>; D],\n}\n"
    "#[derive(Module, Debug, Clone)]\npub enum Attention<B: Backend> {\n    "
    "Full(nn::attention::MultiHeadAttention<B>),\n"
    "    Windowed(Windowed<B>),\n    None(nn::Identity),\n}\n"
    "impl<B: Backend, const D: usize, A> Transformer<B, D, A>\nwhere\n    A: Module<B> + Fn(Tensor<B, D>) -> Tensor<B, "
    "D>,\n{\n"
    "    pub fn run<const N: usize>(&self, x: [Tensor<B, D>; N]) -> Wrapper<{ N }> {\n"
    "        x.iter().map(|t| t.clone() >> 2).collect::<Vec<_>>().try_into().unwrap_or_else(|_| unreachable!(\"{\"))\n "
    "   }\n}\n";

static void models_as_people_write_them_are_read(void **state)
{
    (void)state;
    check(mnist, "module struct Model<B> { conv1: ConvBlock<B>; conv2: ConvBlock<B>; dropout: Dropout; fc1: Linear<B>; "
                 "fc2: Linear<B>; activation: Gelu }\n"
                 "module struct ConvBlock<B> { conv: Conv2d<B>; norm: BatchNorm<B>; pool: Option<MaxPool2d>; "
                 "activation: Relu }\n"
                 "type NUM_CLASSES { = 10 }\n");
    check(resnet,
          "module struct ResNet<B, M> { conv1: Conv2d<B>; bn1: BatchNorm<B>; relu: Relu; maxpool: MaxPool2d; layer1: "
          "LayerBlock<B, M>; layers: [LayerBlock<B, M>; 3]; avgpool: AdaptiveAvgPool2d; fc: Linear<B> }\n"
          "module struct BasicBlock<B> { conv1: Conv2d<B>; bn1: BatchNorm<B>; downsample: Option<Downsample<B>> }\n"
          "module enum Block<B> { Basic: BasicBlock<B>; Bottleneck: Bottleneck<B> }\n"
          "module struct LayerBlock<B, M> { blocks: Vec<M>; _backend: PhantomData<B> }\n"
          "struct ResNetConfig { num_classes: usize }\n"
          "struct Weights::V2 { top1: f32 }\n"
          "enum Weights { V1; V2: Weights::V2; Custom: (&'static str, usize) }\n"
          "type EXPANSION { = 4 }\n");
    check(
        whisper,
        "type Window { = [f32; 400] }\n"
        "module struct Whisper<B> { encoder: AudioEncoder<B>; decoder: TextDecoder<B, 6>; type: Ignored<Kind>; #cache: "
        "Option<Box<dyn Fn(Tensor<B, 3>) -> Tensor<B, 3> + Send + Sync + 'static>> }\n"
        "module struct AudioEncoder<B> { conv1: Conv1d<B>; gelu1: Gelu; blocks: Vec<ResidualEncoderAttentionBlock<B>>; "
        "positional_embedding: Param<Tensor<B, 2>>; mel: Param<Tensor<B, 2, Float>>; bank: [[f64; 80]; 2] }\n"
        "module struct TextDecoder<B, const LAYERS = 4> { blocks: [DecoderBlock<B>; LAYERS]; ln: LayerNorm<B>; mask: "
        "Param<Tensor<B, 2, Bool>>; ids: Param<Tensor<B, 1, Int>>; pair: (Linear<B>, Option<Linear<B>>) }\n"
        "struct Kind { 0: u8; 1: (u8, u8) }\n"
        "record struct State<B> { step: u64; moments: HashMap<String, Tensor<B, 1>>; model: Record<Whisper<B>>; tags: "
        "Vec<Option<(u16, String)>> }\n"
        "type Elem { = f16 }\n"
        "type N_MELS { = 80 }\ntype N_FFT { = 400 }\n");
    check(transformer,
          "type Norm<B> { = LayerNorm<B> }\ntype Pairs<A, B> { = Vec<(A, B)> }\n"
          "module struct Transformer<B, const D, A = Gelu> { embed: Embedding<B>; layers: Vec<Layer<B, D, A>>; norm: "
          "Norm<B>; heads: Pairs<Linear<B>, Norm<B>>; bias: [Param<Tensor<B, 1>>; D] }\n"
          "module enum Attention<B> { Full: MultiHeadAttention<B>; Windowed: Windowed<B>; None: Identity }\n");
}

/* ---------------------------------------------------------------------------------------------- damaged source -- */

static char *all_models(size_t *length)
{
    char *all = NULL;
    int n = asprintf(&all, "%s%s%s%s", mnist, resnet, whisper, transformer);
    assert_true(n > 0);
    *length = (size_t)n;
    return all;
}

/* Whatever the bytes: definitions, or a status with a message and nothing added. */
static void try_bytes(const char *bytes, size_t length)
{
    char *copy = malloc(length ? length : 1); /* of its own size, so that a step too far is seen */
    rec_types *types = new_set();
    rec_status status;
    assert_non_null(copy);
    memcpy(copy, bytes, length);
    status = add(types, copy, length, "model.rs");
    if (status != REC_OK) {
        assert_true(status == REC_E_FORMAT || status == REC_E_LIMIT);
        assert_null(types->defs);
        assert_true(strlen(rec_error_message()) > 0);
    }
    free_set(types);
    free(copy);
}

static void every_prefix_ends_with_definitions_or_a_status(void **state)
{
    size_t length;
    char *all = all_models(&length);
    (void)state;
    for (size_t i = 0; i <= length; i++) {
        try_bytes(all, i);
    }
    free(all);
}

static void every_changed_byte_ends_with_definitions_or_a_status(void **state)
{
    static const char bytes[] = {'<', '}', '"', '\'', 0, (char)0xFF};
    size_t length;
    char *all = all_models(&length);
    (void)state;
    for (size_t i = 0; i < length; i++) {
        char old = all[i];
        all[i] = bytes[i % sizeof bytes];
        try_bytes(all, length);
        all[i] = (char)(old ^ 1 << i % 8);
        try_bytes(all, length);
        all[i] = old;
    }
    free(all);
}

static void every_missing_token_ends_with_definitions_or_a_status(void **state)
{
    size_t length;
    char *all = all_models(&length), *less = malloc(length);
    (void)state;
    assert_non_null(less);
    for (size_t i = 0; i < length; i++) {
        memcpy(less, all, i);
        memcpy(less + i, all + i + 1, length - i - 1);
        try_bytes(less, length - 1);
    }
    free(less);
    free(all);
}

/* -------------------------------------------------------------------------------------------------------- sets -- */

static const lr_expr unit = {.kind = LR_EXPR_TUPLE};
static const lr_type_field number[] = {{.name = "", .type = &unit}};

static void put(rec_types *types, const char *name, int32_t since, uint32_t line)
{
    lr_def def = {.name = name, .kind = LR_DEF_ALIAS, .since = since, .field_count = 1, .fields = number, .line = line};
    rec_job job;
    lr_job_begin(&job, context, "types", NULL);
    assert_int_equal(lr_types_add(&job, types, &def), REC_OK);
    assert_int_equal(lr_job_end(&job), REC_OK);
}

static void the_newest_definition_of_a_version_is_found(void **state)
{
    rec_types *types = new_set();
    (void)state;
    put(types, "A", 7, 1);
    put(types, "A", 14, 2);
    put(types, "A", 21, 3);
    put(types, "Mine", 0, 4);
    put(types, "A", 14, 5);
    assert_null(lr_types_find(types, "B", 21));
    assert_null(lr_types_find(types, "A", 6));
    assert_int_equal(lr_types_find(types, "A", 7)->line, 1);
    assert_int_equal(lr_types_find(types, "A", 13)->line, 1);
    assert_int_equal(lr_types_find(types, "A", 14)->line, 5);
    assert_int_equal(lr_types_find(types, "A", 20)->line, 5);
    assert_int_equal(lr_types_find(types, "A", 22)->line, 3);
    assert_int_equal(lr_types_find(types, "Mine", 0)->line, 4);
    put(types, "A", 0, 6);
    put(types, "A", 21, 7);
    assert_int_equal(lr_types_find(types, "A", 21)->line, 6);
    put(types, "A", 0, 8);
    assert_int_equal(lr_types_find(types, "A", 21)->line, 8);
    free_set(types);
}

static void a_path_of_burns_goes_by_a_definition_of_the_users(void **state)
{
    static const struct {
        const char *path;
        uint32_t line;
    } cases[] = {{NULL, 2},        {"nn", 1},     {"burn::nn", 1}, {"burn_core::nn", 1},
                 {"crate::nn", 2}, {"burner", 2}, {"self", 2}};
    rec_types *types = new_set();
    lr_expr expr = {.kind = LR_EXPR_NAME, .name = "Linear"};
    (void)state;
    put(types, "Linear", 7, 1);
    put(types, "Linear", 0, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        expr.path = cases[i].path;
        assert_int_equal(lr_types_find_path(types, &expr, 20)->line, cases[i].line);
    }
    expr.path = "burn::nn";
    assert_int_equal(lr_types_find_path(types, &expr, 6)->line, 2);
    free_set(types);
}

static void files_are_read_and_their_mistakes_told(void **state)
{
    scratch *s = scratch_new();
    char *good = scratch_text(s, "model.rs", "struct A { a: u8 }"), *folder = scratch_folder(s, "folder");
    char *bad = scratch_text(s, "bad.rs", "struct A {\n  a: ,\n}"), *missing = scratch_path(s, "missing.rs");
    char *empty = scratch_text(s, "empty.rs", "");
    rec_types *types = new_set();
    char message[1024];
    (void)state;
    assert_int_equal(rec_types_add_file(types, good), REC_OK);
    assert_string_equal(types->defs->file, good);
    assert_int_equal(rec_types_add_file(types, empty), REC_OK);
    assert_int_equal(rec_types_add_file(types, bad), REC_E_FORMAT);
    (void)snprintf(message, sizeof message, "%s: line 2: column 6: expected a type, found `,`", bad);
    assert_string_equal(rec_error_message(), message);
    assert_string_equal(rec_error_file(), bad);
    assert_int_equal(rec_error_line(), 2);
    assert_int_equal(rec_types_add_file(types, missing), REC_E_IO);
    (void)snprintf(message, sizeof message, "%s: cannot open: No such file or directory", missing);
    assert_string_equal(rec_error_message(), message);
    assert_int_equal(rec_types_add_file(types, folder), REC_E_IO);
    (void)snprintf(message, sizeof message, "%s: a directory, where a file of Rust source is needed", folder);
    assert_string_equal(rec_error_message(), message);
    assert_int_equal(rec_types_add_file(types, "/dev/zero"), REC_E_LIMIT);
    assert_string_equal(rec_error_message(), "/dev/zero: larger than 16 MiB: this is not a file of Rust source");
    assert_int_equal(rec_types_add_file(types, ""), REC_E_ARGUMENT);
    assert_int_equal(rec_types_add_file(NULL, good), REC_E_ARGUMENT);
    assert_int_equal(rec_types_add_rust(types, "enum B { C }", "memory"), REC_OK);
    assert_string_equal(types->defs->name, "B");
    assert_string_equal(types->defs->next->name, "A");
    assert_null(types->defs->next->next);
    assert_int_equal(rec_types_add_rust(types, NULL, NULL), REC_E_ARGUMENT);
    rec_types_free(NULL);
    free_set(types);
    free(good);
    free(bad);
    free(missing);
    free(empty);
    free(folder);
    scratch_free(s);
}

/* ------------------------------------------------------------------------------------------------------ memory -- */

typedef struct failing {
    uint64_t left;
} failing;

static void *failing_alloc(void *user, size_t size)
{
    failing *f = user;
    return f->left == 0 || f->left-- == 0 ? NULL : malloc(size);
}

static void *failing_resize(void *user, void *old, size_t size)
{
    failing *f = user;
    return f->left == 0 || f->left-- == 0 ? NULL : realloc(old, size);
}

static void failing_release(void *user, void *memory)
{
    (void)user;
    free(memory);
}

static void each_allocation_may_fail(void **state)
{
    rec_context *usual = context;
    failing f = {.left = UINT64_MAX};
    rec_allocator allocator = {.size = sizeof allocator,
                               .alloc = failing_alloc,
                               .resize = failing_resize,
                               .release = failing_release,
                               .user = &f};
    size_t length;
    char *all = all_models(&length);
    rec_status status = REC_E_MEMORY;
    (void)state;
    context = rec_context_new(&allocator);
    assert_non_null(context);
    for (uint64_t i = 0; status != REC_OK; i++) {
        rec_types *types = new_set();
        f.left = i;
        status = add(types, all, length, "model.rs");
        f.left = UINT64_MAX;
        if (status != REC_OK) {
            assert_int_equal(status, REC_E_MEMORY);
            assert_null(types->defs);
        }
        free_set(types);
        assert_true(i < 1000);
    }
    rec_context_free(context);
    context = usual;
    free(all);
}

/* -------------------------------------------------------------------------------------------------- real files -- */

static void real_source_is_read(void **state)
{
    static const char *const patterns[] = {"data/golden/types.rs", "data/golden/import/*/type.txt",
                                           "oracle/src/main.rs"};
    const char *shared = getenv("LIBRECORD_SHARED"), *source = getenv("srcdir");
    char folder[1024];
    size_t files = 0;
    (void)state;
    (void)snprintf(folder, sizeof folder, "%s%s", shared ? shared : source ? source : ".", shared ? "" : "/../shared");
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        char pattern[2048];
        glob_t found = {0};
        (void)snprintf(pattern, sizeof pattern, "%s/%s", folder, patterns[i]);
        if (glob(pattern, 0, NULL, &found) == 0) {
            for (size_t k = 0; k < found.gl_pathc; k++, files++) {
                rec_types *types = new_set();
                if (rec_types_add_file(types, found.gl_pathv[k]) != REC_OK) {
                    fail_msg("%s", rec_error_message());
                }
                assert_non_null(types->defs);
                free_set(types);
            }
        }
        globfree(&found);
    }
    if (files == 0) {
        print_message("no shared data in %s: skipped\n", folder);
        skip();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(expressions_read_and_print),
        cmocka_unit_test(printing_tells_the_whole_length_and_stays_in_its_room),
        cmocka_unit_test(expressions_keep_paths_and_lengths),
        cmocka_unit_test(mistakes_in_expressions_are_told),
        cmocka_unit_test(depth_is_limited),
        cmocka_unit_test(constants_nested_without_end_have_no_value),
        cmocka_unit_test(structs_enums_and_types_are_read),
        cmocka_unit_test(all_else_is_passed_over),
        cmocka_unit_test(constants_are_known_by_name),
        cmocka_unit_test(a_constant_parameter_with_a_default_gives_a_length),
        cmocka_unit_test(constants_of_a_file_before_are_known),
        cmocka_unit_test(imports_tell_what_a_name_stands_for),
        cmocka_unit_test(of_two_definitions_the_likelier_counts),
        cmocka_unit_test(a_choice_is_noted),
        cmocka_unit_test(definitions_for_tests_hide_nothing),
        cmocka_unit_test(mistakes_are_told_with_file_line_and_column),
        cmocka_unit_test(sizes_and_counts_are_limited),
        cmocka_unit_test(models_as_people_write_them_are_read),
        cmocka_unit_test(every_prefix_ends_with_definitions_or_a_status),
        cmocka_unit_test(every_changed_byte_ends_with_definitions_or_a_status),
        cmocka_unit_test(every_missing_token_ends_with_definitions_or_a_status),
        cmocka_unit_test(the_newest_definition_of_a_version_is_found),
        cmocka_unit_test(a_path_of_burns_goes_by_a_definition_of_the_users),
        cmocka_unit_test(files_are_read_and_their_mistakes_told),
        cmocka_unit_test(each_allocation_may_fail),
        cmocka_unit_test(real_source_is_read),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
