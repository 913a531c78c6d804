/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The realistic program of run_runtime.sh: an interpreter of a small Lisp that reads and evaluates a text: queens on a
 * board, a sorted list, Ackermann's function. Compilers may inline its functions. So only these calls count: calls that
 * remain with clang's sleds, or calls that gcc reports to its hooks.
 *
 *     (def NAME VALUE)  (if C A B)  (fn (NAMES...) BODY)  (+ A B) - * < = cons head tail empty?  numbers  'list of
 * numbers
 */
#include "runtime_calls.h"

#include <stdlib.h>
#include <string.h>

#define CELLS 400000u
#define NAMES 64u

enum kind { NIL, NUMBER, NAME, PAIR, FUNCTION, BUILT_IN };

struct cell {
    enum kind kind;
    union {
        long number; /* or of a name; or of a built-in function */
        struct {
            struct cell *head, *tail;
        } pair;
        struct {
            struct cell *names, *body, *env;
        } function;
    } as;
};

static struct cell *cells;
static unsigned nr_cells, nr_names;
static char names[NAMES][16];
static struct cell nil, *global;
static const char *text;

static struct cell *eval(struct cell *x, struct cell *env);

/* --- Cells. */

static struct cell *new_cell(enum kind kind) {
    if (nr_cells == CELLS)
        abort();
    struct cell *c = &cells[nr_cells++];
    c->kind = kind;
    return c;
}

static struct cell *number(long value) {
    struct cell *c = new_cell(NUMBER);
    c->as.number = value;
    return c;
}

static struct cell *cons(struct cell *head, struct cell *tail) {
    struct cell *c = new_cell(PAIR);
    c->as.pair.head = head;
    c->as.pair.tail = tail;
    return c;
}

static struct cell *head(const struct cell *c) {
    return c->kind == PAIR ? c->as.pair.head : &nil;
}

static struct cell *tail(const struct cell *c) {
    return c->kind == PAIR ? c->as.pair.tail : &nil;
}

static struct cell *truth(int is) {
    return is ? number(1) : &nil;
}

/* --- From text. */

static long intern(const char *at, size_t length) {
    for (unsigned i = 0; i < nr_names; i++)
        if (strlen(names[i]) == length && memcmp(names[i], at, length) == 0)
            return i;
    if (nr_names == NAMES || length >= sizeof names[0])
        abort();
    memcpy(names[nr_names], at, length);
    names[nr_names][length] = 0;
    return nr_names++;
}

static int next_char(void) {
    while (*text == ' ' || *text == '\n')
        text++;
    return *text;
}

static struct cell *read_word(void) {
    const size_t length = strcspn(text, " \n()");
    const char *at = text;
    text += length;
    if (*at >= '0' && *at <= '9')
        return number(strtol(at, NULL, 10));
    struct cell *c = new_cell(NAME);
    c->as.number = intern(at, length);
    return c;
}

static struct cell *read_list(void);

static struct cell *read_one(void) {
    if (next_char() != '(')
        return read_word();
    text++;
    return read_list();
}

static struct cell *read_list(void) {
    if (next_char() == ')') {
        text++;
        return &nil;
    }
    struct cell *first = read_one();
    return cons(first, read_list());
}

/* --- Built-in functions. */

static struct cell *add(struct cell *a, struct cell *b) {
    return number(a->as.number + b->as.number);
}
static struct cell *subtract(struct cell *a, struct cell *b) {
    return number(a->as.number - b->as.number);
}
static struct cell *multiply(struct cell *a, struct cell *b) {
    return number(a->as.number * b->as.number);
}
static struct cell *less(struct cell *a, struct cell *b) {
    return truth(a->as.number < b->as.number);
}
static struct cell *equal(struct cell *a, struct cell *b) {
    return truth(a->as.number == b->as.number);
}
static struct cell *head_of(struct cell *a, struct cell *b) {
    (void)b;
    return head(a);
}
static struct cell *tail_of(struct cell *a, struct cell *b) {
    (void)b;
    return tail(a);
}
static struct cell *is_empty(struct cell *a, struct cell *b) {
    (void)b;
    return truth(a->kind == NIL);
}

static const struct {
    const char *name;
    struct cell *(*call)(struct cell *a, struct cell *b);
} built_in[] = {{"+", add},     {"-", subtract},   {"*", multiply},   {"<", less},         {"=", equal},
                {"cons", cons}, {"head", head_of}, {"tail", tail_of}, {"empty?", is_empty}};

enum special { DEF, IF, FN };
static const char *const specials[] = {"def", "if", "fn"};

/* --- Evaluation. */

static struct cell *find(long name, const struct cell *env) {
    for (; env->kind == PAIR; env = env->as.pair.tail)
        if (env->as.pair.head->as.pair.head->as.number == name)
            return env->as.pair.head->as.pair.tail;
    return NULL;
}

/* A name that was not defined when the function was made may have been defined since. */
static struct cell *look_up(long name, const struct cell *env) {
    struct cell *value = find(name, env);
    if (!value)
        value = find(name, global);
    if (!value)
        abort();
    return value;
}

static struct cell *bind(struct cell *name, struct cell *value, struct cell *env) {
    return cons(cons(name, value), env);
}

static struct cell *eval_list(struct cell *list, struct cell *env) {
    if (list->kind != PAIR)
        return &nil;
    struct cell *first = eval(head(list), env);
    return cons(first, eval_list(tail(list), env));
}

static struct cell *apply(struct cell *function, struct cell *values) {
    if (function->kind == BUILT_IN)
        return built_in[function->as.number].call(head(values), head(tail(values)));
    if (function->kind != FUNCTION)
        abort();
    struct cell *env = function->as.function.env;
    for (struct cell *n = function->as.function.names; n->kind == PAIR; n = tail(n), values = tail(values))
        env = bind(head(n), head(values), env);
    return eval(function->as.function.body, env);
}

static struct cell *eval_special(enum special what, struct cell *x, struct cell *env) {
    struct cell *first = head(x), *rest = tail(x);
    if (what == IF)
        return eval(eval(first, env)->kind == NIL ? head(tail(rest)) : head(rest), env);
    if (what == FN) {
        struct cell *c = new_cell(FUNCTION);
        c->as.function.names = first;
        c->as.function.body = head(rest);
        c->as.function.env = env;
        return c;
    }
    global = bind(first, eval(head(rest), env), global);
    return head(global)->as.pair.tail;
}

static struct cell *eval(struct cell *x, struct cell *env) {
    if (x->kind == NAME)
        return look_up(x->as.number, env);
    if (x->kind != PAIR)
        return x;
    const struct cell *first = head(x);
    if (first->kind == NAME && first->as.number <= FN)
        return eval_special((enum special)first->as.number, tail(x), env);
    struct cell *function = eval(head(x), env);
    return apply(function, eval_list(tail(x), env));
}

/* --- A program. */

static const char program[] =
    "(def not (fn (x) (if x (tail 0) 1)))"
    "(def abs (fn (x) (if (< x 0) (- 0 x) x)))"
    "(def safe (fn (q at d) (if (empty? q) 1 (if (= (head q) at) (tail 0)"
    "  (if (= (abs (- (head q) at)) d) (tail 0) (safe (tail q) at (+ d 1)))))))"
    "(def place (fn (n row at q) (if (= at n) 0 (+ (if (safe q at 1) (queens n (+ row 1) (cons at q)) 0)"
    "  (place n row (+ at 1) q)))))"
    "(def queens (fn (n row q) (if (= row n) 1 (place n row 0 q))))"
    "(def insert (fn (x l) (if (empty? l) (cons x l) (if (< x (head l)) (cons x l) (cons (head l) (insert x (tail "
    "l)))))))"
    "(def sort (fn (l) (if (empty? l) l (insert (head l) (sort (tail l))))))"
    "(def scatter (fn (n x) (if (= n 0) (tail 0) (cons x (scatter (- n 1) (- 97 (* x 3)))))))"
    "(def sum (fn (l) (if (empty? l) 0 (+ (head l) (sum (tail l))))))"
    "(def ack (fn (m n) (if (= m 0) (+ n 1) (if (= n 0) (ack (- m 1) 1) (ack (- m 1) (ack m (- n 1)))))))"
    "(+ (queens 4 0 (tail 0)) (+ (sum (sort (scatter 12 5))) (ack 2 2)))";

PLAIN static void begin(void) {
    nr_cells = nr_names = 0;
    global = &nil;
    for (unsigned i = 0; i < sizeof specials / sizeof *specials; i++)
        intern(specials[i], strlen(specials[i]));
    for (unsigned i = 0; i < sizeof built_in / sizeof *built_in; i++) {
        struct cell *c = new_cell(BUILT_IN), *name = new_cell(NAME);
        c->as.number = i;
        name->as.number = intern(built_in[i].name, strlen(built_in[i].name));
        global = bind(name, c, global);
    }
}

PLAIN long run_lisp(void) {
    long result = 0;
    if (!cells)
        cells = calloc(CELLS, sizeof *cells);
    begin();
    for (text = program; *text;)
        result = eval(read_one(), global)->as.number;
    return result;
}
