/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions are rows of a table with their operands and a function; see frame_program.h. */
#include "symbol/unwind/frame_program.h"

#include "symbol/dwarf/dwarf_forms.h"

#define STATE_COST 64u /* cost of copying all rules, counted as bytes of instructions */

/* State while the program of one entry runs. */
struct steps {
    struct frame_run *run;
    const struct frame_common *common;
    struct cursor in;
    uint64_t at, end;    /* current address, and end of the entry */
    unsigned remembered; /* number of states */
    bool is_initial;     /* runs the CIE's program */
    enum symbol_result result;
};

struct operands {
    uint64_t a, b;
    const uint8_t *block;
};

/* False: the instruction is invalid, or s->result states another reason. */
typedef bool instruction(struct steps *s, const struct operands *o);

/* NULL: a register that is not tracked. */
static struct unwind_rule *rule_of(const struct steps *s, uint64_t number) {
    return number < s->run->machine->registers ? &s->run->now.registers[number] : NULL;
}

static bool set(struct steps *s, uint64_t number, enum unwind_how how, int64_t value) {
    struct unwind_rule *rule = rule_of(s, number);
    if (rule)
        *rule = (struct unwind_rule){.of = (uint8_t)number, .how = (uint8_t)how, .value = value};
    return true;
}

static int64_t factored(const struct steps *s, uint64_t offset) {
    return (int64_t)(offset * (uint64_t)s->common->data_align);
}

/* Emits the current rules for the next `by` addresses, and moves past these. */
static bool advance(struct steps *s, uint64_t by) {
    struct frame_run *run = s->run;
    if (s->is_initial || by > s->end - s->at)
        return false;
    if (by > 0)
        s->result = run->row(run->context, s->at, &run->now, s->common);
    s->at += by;
    return s->result == SYMBOL_FOUND;
}

static bool do_advance(struct steps *s, const struct operands *o) {
    uint64_t by;
    return !__builtin_mul_overflow(o->a, s->common->code_align, &by) && advance(s, by);
}

static bool do_set_loc(struct steps *s, const struct operands *o) {
    return o->a >= s->at && advance(s, o->a - s->at);
}

static bool do_offset(struct steps *s, const struct operands *o) {
    return set(s, o->a, UNWIND_AT_OFFSET, factored(s, o->b));
}

static bool do_negative_offset(struct steps *s, const struct operands *o) {
    return set(s, o->a, UNWIND_AT_OFFSET, (int64_t) - (uint64_t)factored(s, o->b));
}

static bool do_val_offset(struct steps *s, const struct operands *o) {
    return set(s, o->a, UNWIND_IS_OFFSET, factored(s, o->b));
}

static bool do_restore(struct steps *s, const struct operands *o) {
    struct unwind_rule *rule = rule_of(s, o->a);
    if (rule)
        *rule = s->is_initial ? (struct unwind_rule){0} : s->run->initial.registers[o->a];
    return true;
}

static bool do_undefined(struct steps *s, const struct operands *o) {
    return set(s, o->a, UNWIND_UNDEFINED, 0);
}

static bool do_same(struct steps *s, const struct operands *o) {
    struct unwind_rule *rule = rule_of(s, o->a);
    if (rule)
        *rule = (struct unwind_rule){0};
    return true;
}

static bool do_register(struct steps *s, const struct operands *o) {
    struct unwind_rule *rule = rule_of(s, o->a);
    if (!rule)
        return true;
    if (!rule_of(s, o->b))
        return do_undefined(s, o);
    *rule = (struct unwind_rule){.of = (uint8_t)o->a, .how = UNWIND_REGISTER, .from = (uint8_t)o->b};
    return true;
}

static bool do_remember(struct steps *s, const struct operands *o) {
    (void)o;
    if (s->remembered == FRAME_STATES_MOST || s->run->left < STATE_COST)
        return false;
    s->run->left -= STATE_COST;
    s->run->remembered[s->remembered++] = s->run->now;
    return true;
}

static bool do_restore_state(struct steps *s, const struct operands *o) {
    (void)o;
    if (s->remembered == 0 || s->run->left < STATE_COST)
        return false;
    s->run->left -= STATE_COST;
    s->run->now = s->run->remembered[--s->remembered];
    return true;
}

static bool do_cfa(struct steps *s, const struct operands *o) {
    if (!rule_of(s, o->a))
        return false;
    s->run->now.cfa = (struct unwind_rule){.how = UNWIND_REGISTER, .from = (uint8_t)o->a, .value = (int64_t)o->b};
    return true;
}

static bool do_cfa_factored(struct steps *s, const struct operands *o) {
    return do_cfa(s, &(struct operands){.a = o->a, .b = (uint64_t)factored(s, o->b)});
}

static bool do_cfa_register(struct steps *s, const struct operands *o) {
    const struct unwind_rule *cfa = &s->run->now.cfa;
    return cfa->how == UNWIND_REGISTER && do_cfa(s, &(struct operands){.a = o->a, .b = (uint64_t)cfa->value});
}

static bool do_cfa_offset(struct steps *s, const struct operands *o) {
    struct unwind_rule *cfa = &s->run->now.cfa;
    cfa->value = cfa->how == UNWIND_REGISTER ? (int64_t)o->a : cfa->value;
    return cfa->how == UNWIND_REGISTER;
}

static bool do_cfa_offset_factored(struct steps *s, const struct operands *o) {
    return do_cfa_offset(s, &(struct operands){.a = (uint64_t)factored(s, o->a)});
}

static bool keep_expression(struct steps *s, const struct operands *o, uint64_t length, uint32_t *number) {
    s->result = s->run->expression(s->run->context, o->block, (size_t)length, number);
    return s->result == SYMBOL_FOUND;
}

static bool do_cfa_expression(struct steps *s, const struct operands *o) {
    uint32_t number;
    if (!keep_expression(s, o, o->a, &number))
        return false;
    s->run->now.cfa = (struct unwind_rule){.how = UNWIND_IS_EXPRESSION, .value = number};
    return true;
}

static bool do_expression(struct steps *s, const struct operands *o) {
    uint32_t number;
    return keep_expression(s, o, o->b, &number) && set(s, o->a, UNWIND_AT_EXPRESSION, number);
}

static bool do_val_expression(struct steps *s, const struct operands *o) {
    uint32_t number;
    return keep_expression(s, o, o->b, &number) && set(s, o->a, UNWIND_IS_EXPRESSION, number);
}

/* Toggles whether the return address is signed. On machines without signatures, the opcode is about register windows,
 * which are not tracked. */
static bool do_sign(struct steps *s, const struct operands *o) {
    (void)o;
    s->run->now.is_signed = !s->run->now.is_signed;
    return true;
}

static bool do_nothing(struct steps *s, const struct operands *o) {
    (void)s, (void)o;
    return true;
}

/* Operands: numbers of 1 to 8 bytes, LEB128, addresses, and blocks of bytes, whose value is their length. */
enum { NONE = 0, ULEB = 16, SLEB, ADDRESS, BLOCK };

struct frame_row {
    instruction *run; /* NULL: unknown opcode */
    uint8_t a, b;
};

static const struct frame_row rows[64] = {
    [0x00] = {do_nothing, NONE, NONE},
    [0x01] = {do_set_loc, ADDRESS, NONE},
    [0x02] = {do_advance, 1, NONE},
    [0x03] = {do_advance, 2, NONE},
    [0x04] = {do_advance, 4, NONE},
    [0x05] = {do_offset, ULEB, ULEB},
    [0x06] = {do_restore, ULEB, NONE},
    [0x07] = {do_undefined, ULEB, NONE},
    [0x08] = {do_same, ULEB, NONE},
    [0x09] = {do_register, ULEB, ULEB},
    [0x0a] = {do_remember, NONE, NONE},
    [0x0b] = {do_restore_state, NONE, NONE},
    [0x0c] = {do_cfa, ULEB, ULEB},
    [0x0d] = {do_cfa_register, ULEB, NONE},
    [0x0e] = {do_cfa_offset, ULEB, NONE},
    [0x0f] = {do_cfa_expression, BLOCK, NONE},
    [0x10] = {do_expression, ULEB, BLOCK},
    [0x11] = {do_offset, ULEB, SLEB},
    [0x12] = {do_cfa_factored, ULEB, SLEB},
    [0x13] = {do_cfa_offset_factored, SLEB, NONE},
    [0x14] = {do_val_offset, ULEB, ULEB},
    [0x15] = {do_val_offset, ULEB, SLEB},
    [0x16] = {do_val_expression, ULEB, BLOCK},
    [0x1d] = {do_advance, 8, NONE},
    [0x2c] = {do_sign, NONE, NONE},
    [0x2d] = {do_sign, NONE, NONE},
    [0x2e] = {do_nothing, ULEB, NONE},
    [0x2f] = {do_negative_offset, ULEB, ULEB},
};

/* Opcodes with the first operand in the lower six bits, indexed by the upper two bits. */
static const struct frame_row short_rows[4] = {
    [1] = {do_advance, NONE, NONE}, [2] = {do_offset, NONE, ULEB}, [3] = {do_restore, NONE, NONE}};

static bool take_operand(struct steps *s, unsigned kind, uint64_t *value, const uint8_t **block) {
    int64_t number;
    switch (kind) {
    case NONE:
        return true;
    case ULEB:
        return take_uleb(&s->in, value);
    case SLEB:
        if (!take_sleb(&s->in, &number))
            return false;
        *value = (uint64_t)number;
        return true;
    case ADDRESS:
        return take_encoded(&s->in, s->run->section, s->common->encoding, value);
    case BLOCK:
        return take_uleb(&s->in, value) && take_bytes(&s->in, *value, block);
    default:
        return take_sized(&s->in, kind, value);
    }
}

static bool step(struct steps *s) {
    uint8_t code;
    struct operands o = {0};
    if (!take_u8(&s->in, &code))
        return false;
    const struct frame_row *row = code >> 6 ? &short_rows[code >> 6] : &rows[code];
    o.a = code >> 6 ? code & 0x3f : 0;
    return row->run && take_operand(s, row->a, &o.a, &o.block) && take_operand(s, row->b, &o.b, &o.block) &&
           row->run(s, &o);
}

/* False: an instruction is not understood, or a limit is reached. */
static bool run_all(struct steps *s, struct cursor program) {
    const size_t length = cursor_left(&program);
    if (length > s->run->left) {
        s->result = SYMBOL_LIMIT;
        return false;
    }
    s->run->left -= length;
    s->in = program;
    while (cursor_left(&s->in) > 0)
        if (!step(s))
            return false;
    return true;
}

static bool begin(struct steps *s) {
    struct frame_run *run = s->run;
    if (run->has_initial && run->initial_at == s->common->at)
        return true;
    run->has_initial = false;
    run->now = (struct frame_rules){0};
    s->is_initial = true;
    const bool is_fine = run_all(s, s->common->program);
    s->is_initial = false;
    s->remembered = 0;
    run->initial = run->now;
    run->initial_at = s->common->at;
    run->has_initial = is_fine;
    return is_fine;
}

enum symbol_result frame_program_run(struct frame_run *run, const struct frame_entry *entry) {
    struct steps s = {
        .run = run, .common = &entry->common, .at = entry->from, .end = entry->end, .result = SYMBOL_FOUND};
    bool is_fine = begin(&s);
    if (is_fine) {
        run->now = run->initial;
        is_fine = run_all(&s, entry->program);
    }
    if (s.result != SYMBOL_FOUND)
        return s.result;
    return run->row(run->context, s.at, is_fine ? &run->now : NULL, &entry->common);
}
