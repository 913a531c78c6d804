/* SPDX-License-Identifier: Apache-2.0 */
/* A stack machine; see unwind_expression.h. Operations are rows of a table: operand, values needed on the stack, and
 * function. */
#include "symbol/unwind/unwind_expression.h"

#include "base/memory/cursor.h"
#include "symbol/dwarf/dwarf_forms.h"

#define STACK_MOST 64u
#define STEPS_MOST 4096u

struct evaluation {
    const struct unwind_view *view;
    struct cursor in;
    const uint8_t *start, *end;
    uint64_t stack[STACK_MOST];
    unsigned count;
};

static bool push(struct evaluation *e, uint64_t value) {
    if (e->count == STACK_MOST)
        return false;
    e->stack[e->count++] = value;
    return true;
}

/* A value on the stack by its distance from the top. The caller has checked that the value exists (`needs`). */
static uint64_t *top(struct evaluation *e, unsigned below) {
    return &e->stack[e->count - 1 - below];
}

static bool push_register(struct evaluation *e, uint64_t number, uint64_t offset) {
    return number < 64 && (e->view->known >> number & 1) && push(e, e->view->registers[number] + offset);
}

static bool read_at_top(struct evaluation *e, unsigned size) {
    return e->view->read(e->view->context, *top(e, 0), size, top(e, 0));
}

/* Jumps relative to the next operation; a jump to the end of the expression ends it. */
static bool jump(struct evaluation *e, uint64_t distance) {
    const int64_t by = (int16_t)distance;
    const int64_t to = (e->in.at - e->start) + by;
    if (to < 0 || to > e->end - e->start)
        return false;
    e->in.at = e->start + to;
    return true;
}

typedef bool operation(struct evaluation *e, uint64_t operand);

static bool op_deref(struct evaluation *e, uint64_t operand) {
    (void)operand;
    return read_at_top(e, e->view->address_size);
}

static bool op_deref_size(struct evaluation *e, uint64_t size) {
    return (size == 1 || size == 2 || size == 4 || size == 8) && read_at_top(e, (unsigned)size);
}

static bool op_dup(struct evaluation *e, uint64_t operand) {
    (void)operand;
    return push(e, *top(e, 0));
}

static bool op_drop(struct evaluation *e, uint64_t operand) {
    (void)operand;
    e->count--;
    return true;
}

static bool op_over(struct evaluation *e, uint64_t operand) {
    (void)operand;
    return push(e, *top(e, 1));
}

static bool op_pick(struct evaluation *e, uint64_t below) {
    return below < e->count && push(e, *top(e, (unsigned)below));
}

static bool op_swap(struct evaluation *e, uint64_t operand) {
    const uint64_t first = *top(e, 0);
    (void)operand;
    *top(e, 0) = *top(e, 1);
    *top(e, 1) = first;
    return true;
}

static bool op_rot(struct evaluation *e, uint64_t operand) {
    const uint64_t first = *top(e, 0);
    (void)operand;
    *top(e, 0) = *top(e, 1);
    *top(e, 1) = *top(e, 2);
    *top(e, 2) = first;
    return true;
}

static bool op_abs(struct evaluation *e, uint64_t operand) {
    (void)operand;
    if ((int64_t)*top(e, 0) < 0)
        *top(e, 0) = -*top(e, 0);
    return true;
}

static bool op_neg(struct evaluation *e, uint64_t operand) {
    (void)operand;
    *top(e, 0) = -*top(e, 0);
    return true;
}

static bool op_not(struct evaluation *e, uint64_t operand) {
    (void)operand;
    *top(e, 0) = ~*top(e, 0);
    return true;
}

static bool op_plus_uconst(struct evaluation *e, uint64_t operand) {
    *top(e, 0) += operand;
    return true;
}

static bool op_bra(struct evaluation *e, uint64_t distance) {
    return e->stack[--e->count] == 0 || jump(e, distance);
}

static bool op_bregx(struct evaluation *e, uint64_t number) {
    int64_t offset;
    return take_sleb(&e->in, &offset) && push_register(e, number, (uint64_t)offset);
}

static bool op_nop(struct evaluation *e, uint64_t operand) {
    (void)e, (void)operand;
    return true;
}

/* Defines an operation that replaces two values by one; b is the top of the stack. */
#define BINARY(name, expression)                                                                                       \
    static bool op_##name(struct evaluation *e, uint64_t operand) {                                                    \
        const uint64_t b = *top(e, 0), a = *top(e, 1);                                                                 \
        (void)operand;                                                                                                 \
        e->count--;                                                                                                    \
        *top(e, 0) = (expression);                                                                                     \
        return true;                                                                                                   \
    }
BINARY(and, a &b)
BINARY(or, a | b)
BINARY(xor, a ^ b)
BINARY(plus, a + b)
BINARY(minus, a - b)
BINARY(mul, a *b)
BINARY(shl, b < 64 ? a << b : 0)
BINARY(shr, b < 64 ? a >> b : 0)
BINARY(shra, b < 64 ? (uint64_t)((int64_t)a >> b) : (uint64_t)((int64_t)a >> 63))
BINARY(eq, a == b)
BINARY(ne, a != b)
BINARY(ge, (int64_t)a >= (int64_t)b)
BINARY(gt, (int64_t)a > (int64_t)b)
BINARY(le, (int64_t)a <= (int64_t)b)
BINARY(lt, (int64_t)a < (int64_t)b)
#undef BINARY

static bool op_div(struct evaluation *e, uint64_t operand) {
    const int64_t b = (int64_t)*top(e, 0), a = (int64_t)*top(e, 1);
    (void)operand;
    if (b == 0)
        return false;
    e->count--;
    *top(e, 0) = b == -1 ? -(uint64_t)a : (uint64_t)(a / b);
    return true;
}

static bool op_mod(struct evaluation *e, uint64_t operand) {
    const uint64_t b = *top(e, 0);
    (void)operand;
    if (b == 0)
        return false;
    e->count--;
    *top(e, 0) %= b;
    return true;
}

/* The operand of an operation: its number of bytes, negative if it is signed; or a LEB128 number. */
enum { NONE = 0, ULEB = 16, SLEB = 17 };

struct expression_row {
    operation *run; /* NULL: unknown or unsupported operation */
    int8_t takes;
    uint8_t needs; /* values that the stack must have */
};

static const struct expression_row rows[256] = {
    [0x06] = {op_deref, NONE, 1}, [0x08] = {push, 1, 0},
    [0x09] = {push, -1, 0},       [0x0a] = {push, 2, 0},
    [0x0b] = {push, -2, 0},       [0x0c] = {push, 4, 0},
    [0x0d] = {push, -4, 0},       [0x0e] = {push, 8, 0},
    [0x0f] = {push, -8, 0},       [0x10] = {push, ULEB, 0},
    [0x11] = {push, SLEB, 0},     [0x12] = {op_dup, NONE, 1},
    [0x13] = {op_drop, NONE, 1},  [0x14] = {op_over, NONE, 2},
    [0x15] = {op_pick, 1, 1},     [0x16] = {op_swap, NONE, 2},
    [0x17] = {op_rot, NONE, 3},   [0x19] = {op_abs, NONE, 1},
    [0x1a] = {op_and, NONE, 2},   [0x1b] = {op_div, NONE, 2},
    [0x1c] = {op_minus, NONE, 2}, [0x1d] = {op_mod, NONE, 2},
    [0x1e] = {op_mul, NONE, 2},   [0x1f] = {op_neg, NONE, 1},
    [0x20] = {op_not, NONE, 1},   [0x21] = {op_or, NONE, 2},
    [0x22] = {op_plus, NONE, 2},  [0x23] = {op_plus_uconst, ULEB, 1},
    [0x24] = {op_shl, NONE, 2},   [0x25] = {op_shr, NONE, 2},
    [0x26] = {op_shra, NONE, 2},  [0x27] = {op_xor, NONE, 2},
    [0x28] = {op_bra, -2, 1},     [0x29] = {op_eq, NONE, 2},
    [0x2a] = {op_ge, NONE, 2},    [0x2b] = {op_gt, NONE, 2},
    [0x2c] = {op_le, NONE, 2},    [0x2d] = {op_lt, NONE, 2},
    [0x2e] = {op_ne, NONE, 2},    [0x2f] = {jump, -2, 0},
    [0x92] = {op_bregx, ULEB, 0}, [0x94] = {op_deref_size, 1, 1},
    [0x96] = {op_nop, NONE, 0},
};

#define LIT0 0x30u
#define BREG0 0x70u

static bool take_operand(struct evaluation *e, int takes, uint64_t *operand) {
    const unsigned size = (unsigned)(takes < 0 ? -takes : takes);
    int64_t number;
    *operand = 0;
    if (takes == NONE)
        return true;
    if (takes == ULEB)
        return take_uleb(&e->in, operand);
    if (takes == SLEB) {
        const bool is_there = take_sleb(&e->in, &number);
        *operand = is_there ? (uint64_t)number : 0;
        return is_there;
    }
    if (!take_sized(&e->in, size, operand))
        return false;
    const unsigned spare = 64 - 8 * size;
    if (takes < 0)
        *operand = (uint64_t)((int64_t)(*operand << spare) >> spare);
    return true;
}

static bool step(struct evaluation *e) {
    uint8_t code;
    uint64_t operand;
    int64_t offset;
    if (!take_u8(&e->in, &code))
        return false;
    if (code >= LIT0 && code < LIT0 + 32)
        return push(e, code - LIT0);
    if (code >= BREG0 && code < BREG0 + 32)
        return take_sleb(&e->in, &offset) && push_register(e, code - BREG0, (uint64_t)offset);
    const struct expression_row *row = &rows[code];
    return row->run && e->count >= row->needs && take_operand(e, row->takes, &operand) && row->run(e, operand);
}

bool unwind_evaluate(const uint8_t *bytes, size_t length, const struct unwind_view *view, const uint64_t *first,
                     uint64_t *value) {
    struct evaluation e = {.view = view, .in = cursor_on(bytes, length, 0, view->swap)};
    e.start = e.in.start;
    e.end = e.in.end;
    if (first)
        push(&e, *first);
    for (unsigned steps = 0; cursor_left(&e.in) > 0; steps++)
        if (steps == STEPS_MOST || !step(&e))
            return false;
    if (e.count == 0)
        return false;
    *value = e.stack[e.count - 1];
    return true;
}
