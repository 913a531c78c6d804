/* SPDX-License-Identifier: Apache-2.0 */
/* Walks from frame to frame. The unwind plan for an address states where the registers of the caller were saved; the
   saved values become the registers of the next frame. Memory is read from the copy of the stack, and outside of the
   copy from the mapped files. */
#include "model/stacks/unwind.h"

#include "base/memory/cursor.h"
#include "base/memory/fail.h"
#include "symbol/unwind/unwind_expression.h"

#include <sys/utsname.h>

#define ABI_64 2u
#define WORD 8u
#define FILE_READS_MOST 64u /* maximum reads per stack: only unusual stacks need any */
#define FRAME_MOST 0x4000u  /* maximum distance of a frame pointer, if nothing else is known */

/* The code at an address. */
struct unwind_code {
    struct unwind_object *object;     /* NULL: no object */
    const struct unwind_table *table; /* its table; NULL: no table */
    const struct unwind_plan *plan;
    bool is_return; /* this is the code that returns from a signal handler */
};

struct stack_walk {
    struct unwind_worker *worker;
    const struct unwind_machine *machine;
    const struct unwind_sample *sample;
    uint64_t registers[UNWIND_REGISTERS];
    uint64_t known; /* one bit per register with a value */
    uint64_t stack_at;
    struct unwind_code code;
    unsigned file_reads;
    bool stepped; /* the walk has left the sampled function and is in a caller */
    bool outside; /* bytes outside of the copied stack were needed */
    bool guessed;
    enum unwind_limit limit;
    pfr_status status;
    pfr_error *err;
};

static const struct unwind_machine *machine_of(const struct unwind_options *options) {
    struct utsname here;
    if (options->arch && *options->arch)
        return unwind_machine_of_name(options->arch);
    return uname(&here) == 0 ? unwind_machine_of_name(here.machine) : NULL;
}

pfr_status unwind_worker_init(struct unwind_worker *worker, struct unwind_objects *objects, struct memory *memory,
                              pfr_error *err) {
    *worker = (struct unwind_worker){.objects = objects, .memory = memory, .machine = machine_of(&objects->options)};
    worker->memos = mem_zeroed(memory, UNWIND_MEMOS, sizeof *worker->memos);
    return worker->memos ? PFR_OK : mem_fail(memory, err, "unwinding");
}

void unwind_worker_free(struct unwind_worker *worker) {
    mem_free(worker->memory, worker->memos, worker->memos ? UNWIND_MEMOS : 0, sizeof *worker->memos);
    worker->memos = NULL;
}

void unwind_worker_forget(struct unwind_worker *worker) {
    if (worker->memos)
        memset(worker->memos, 0, UNWIND_MEMOS * sizeof *worker->memos);
}

/* --- Maps. */

/* Finds the map of an address, and its object; NULL: no object. */
static struct unwind_object *object_at(struct stack_walk *w, uint64_t address, struct place *place) {
    struct unwind_object *object = NULL;
    const struct unwind_sample *s = w->sample;
    state_place_in(w->worker->objects->state, PFR_CPUMODE_USER, s->space, address, s->key, place);
    if (!place->map || place->object == NO_OBJECT || w->status < 0)
        return NULL;
    w->status = unwind_objects_find(w->worker->objects, place->object, &object, w->err);
    return w->status >= 0 ? object : NULL;
}

static const struct unwind_table *table_at(struct stack_walk *w, uint64_t address, struct place *place) {
    const struct unwind_object *object = object_at(w, address, place);
    return object ? object->table : NULL;
}

static struct unwind_memo *memo_of(const struct stack_walk *w, uint64_t address) {
    const uint64_t h = (address ^ (uint64_t)w->sample->space << 40) * 0x9e3779b97f4a7c15u;
    return &w->worker->memos[h >> (64 - UNWIND_MEMO_BITS)];
}

static void set_code(struct stack_walk *w, struct unwind_object *object, const struct unwind_plan *plan) {
    w->code = (struct unwind_code){.object = object, .table = object ? object->table : NULL, .plan = plan};
}

static void find_code(struct stack_walk *w, uint64_t address) {
    struct unwind_memo *memo = memo_of(w, address);
    const uint32_t space = w->sample->space;
    struct place place;
    uint64_t in_object;
    if (memo->used && memo->address == address && memo->space == space && key_before(&memo->since, &w->sample->key)) {
        set_code(w, memo->object, memo->plan);
        return;
    }
    set_code(w, object_at(w, address, &place), NULL);
    if (w->code.table && unwind_table_address(w->code.table, place.offset, &in_object))
        w->code.plan = unwind_table_find(w->code.table, in_object);
    if (place.map && space_has_alone(&w->worker->objects->state->spaces, space, place.map) && w->status >= 0)
        *memo = (struct unwind_memo){address, w->code.object, w->code.plan, place.map->key, space, true};
}

/* --- Memory. */

static uint64_t load(const uint8_t *bytes, unsigned size, bool swap) {
    switch (size) {
    case 1:
        return *bytes;
    case 2:
        return load_u16(bytes, swap);
    case 4:
        return load_u32(bytes, swap);
    default:
        return load_u64(bytes, swap);
    }
}

static bool read_file(struct stack_walk *w, uint64_t address, unsigned size, uint64_t *value) {
    uint8_t bytes[WORD];
    struct place place;
    if (w->file_reads++ >= FILE_READS_MOST)
        return false;
    const struct unwind_table *table = table_at(w, address, &place);
    if (!table || place.map->last - address < size - 1 || !unwind_table_read(table, place.offset, bytes, size))
        return false;
    *value = load(bytes, size, w->sample->swap);
    return true;
}

static bool read_memory(void *context, uint64_t address, unsigned size, uint64_t *value) {
    struct stack_walk *w = context;
    const struct unwind_sample *s = w->sample;
    const uint64_t at = address - w->stack_at;
    if (address >= w->stack_at && s->size >= size && at <= s->size - size) {
        *value = load(s->stack + at, size, s->swap);
        return true;
    }
    if (read_file(w, address, size, value))
        return true;
    w->outside = w->outside || (address >= w->stack_at && s->size == s->room);
    return false;
}

/* --- Steps. */

static void set(struct stack_walk *w, unsigned number, uint64_t value) {
    w->registers[number] = value;
    w->known |= (uint64_t)1 << number;
}

static bool get(const struct stack_walk *w, unsigned number, uint64_t *value) {
    *value = w->registers[number];
    return w->known >> number & 1;
}

static bool evaluate(struct stack_walk *w, int64_t number, const uint64_t *first, uint64_t *value) {
    const struct intern_text text = unwind_table_expression(w->code.table, number);
    const struct unwind_view view = {.registers = w->registers,
                                     .known = w->known,
                                     .read = read_memory,
                                     .context = w,
                                     .address_size = WORD,
                                     .swap = unwind_table_swaps(w->code.table)};
    return unwind_evaluate(text.bytes, text.length, &view, first, value);
}

static bool find_cfa(struct stack_walk *w, const struct unwind_plan *plan, uint64_t *cfa) {
    if (plan->cfa.how == UNWIND_IS_EXPRESSION)
        return evaluate(w, plan->cfa.value, NULL, cfa);
    if (!get(w, plan->cfa.from, cfa))
        return false;
    *cfa += (uint64_t)plan->cfa.value;
    return true;
}

/* Reads a saved register. Compilers do not describe that a function restores the register before it returns. After
   that, the place of the saved value is no longer in the used part of the stack, so the copy does not have it, and the
   register already has the value. */
static bool read_saved(struct stack_walk *w, const struct unwind_rule *rule, uint64_t address, uint64_t *value) {
    const bool taken_back = !w->stepped && address < w->stack_at && rule->of != w->code.plan->return_register;
    return taken_back ? get(w, rule->of, value) : read_memory(w, address, WORD, value);
}

static bool find_value(struct stack_walk *w, const struct unwind_rule *rule, uint64_t cfa, uint64_t *value) {
    uint64_t address;
    switch ((enum unwind_how)rule->how) {
    case UNWIND_AT_OFFSET:
        return read_saved(w, rule, cfa + (uint64_t)rule->value, value);
    case UNWIND_IS_OFFSET:
        *value = cfa + (uint64_t)rule->value;
        return true;
    case UNWIND_REGISTER:
        return get(w, rule->from, value);
    case UNWIND_AT_EXPRESSION:
        return evaluate(w, rule->value, &cfa, &address) && read_memory(w, address, WORD, value);
    case UNWIND_IS_EXPRESSION:
        return evaluate(w, rule->value, &cfa, value);
    default:
        return false;
    }
}

enum step { STEP_ON, STEP_END, STEP_FAIL };

static bool says_undefined(const struct unwind_plan *plan, unsigned number) {
    for (unsigned i = 0; i < plan->count; i++)
        if (plan->rules[i].of == number)
            return plan->rules[i].how == UNWIND_UNDEFINED;
    return false;
}

/* Computes the caller's registers. */
static enum step step_by_plan(struct stack_walk *w) {
    const struct unwind_plan *plan = w->code.plan;
    const struct unwind_machine *machine = w->machine;
    uint64_t cfa, values[UNWIND_REGISTERS], found = 0;
    if (says_undefined(plan, plan->return_register))
        return STEP_END;
    if (!find_cfa(w, plan, &cfa))
        return STEP_FAIL;
    for (unsigned i = 0; i < plan->count; i++)
        if (find_value(w, &plan->rules[i], cfa, &values[i]))
            found |= (uint64_t)1 << i;
    set(w, machine->stack, cfa);
    for (unsigned i = 0; i < plan->count; i++) {
        w->known &= ~((uint64_t)1 << plan->rules[i].of);
        if (found >> i & 1)
            set(w, plan->rules[i].of, values[i]);
    }
    uint64_t code;
    if (!get(w, plan->return_register, &code))
        return STEP_FAIL;
    set(w, machine->code, plan->is_signed ? code & machine->address_mask : code);
    return machine->link == UNWIND_NO_BIT && says_undefined(plan, machine->frame) ? STEP_END : STEP_ON;
}

/* Restores the registers of interrupted code, which the kernel put onto the stack. */
static enum step step_by_context(struct stack_walk *w) {
    const struct unwind_machine *machine = w->machine;
    uint64_t values[UNWIND_REGISTERS], stack;
    if (!get(w, machine->stack, &stack))
        return STEP_FAIL;
    for (unsigned i = 0; i < machine->registers; i++)
        if (!read_memory(w, stack + machine->context + (uint64_t)WORD * machine->word_of[i], WORD, &values[i]))
            return STEP_FAIL;
    for (unsigned i = 0; i < machine->registers; i++)
        set(w, i, values[i]);
    return STEP_ON;
}

/* Follows the frame pointer. It points to the caller's saved frame pointer, which the return address follows. */
static enum step step_by_frame(struct stack_walk *w) {
    const struct unwind_machine *machine = w->machine;
    uint64_t frame, stack, caller_frame, code;
    if (!get(w, machine->frame, &frame) || !get(w, machine->stack, &stack))
        return STEP_FAIL;
    if (frame == 0)
        return STEP_END;
    if (frame < stack || frame - stack > FRAME_MOST || !read_memory(w, frame, WORD, &caller_frame) ||
        !read_memory(w, frame + WORD, WORD, &code))
        return STEP_FAIL;
    w->known = 0;
    set(w, machine->frame, caller_frame);
    set(w, machine->stack, frame + 2 * WORD);
    set(w, machine->code, code & machine->address_mask);
    w->guessed = true;
    return STEP_ON;
}

/* Whether the code at this address returns from a signal handler. Without tables, the code is the only indication. */
static bool is_return(struct stack_walk *w, uint64_t address) {
    const struct unwind_machine *machine = w->machine;
    uint8_t bytes[sizeof machine->return_code];
    struct place place;
    const struct unwind_table *table = table_at(w, address, &place);
    return table && unwind_table_read(table, place.offset, bytes, machine->return_code_size) &&
           memcmp(bytes, machine->return_code, machine->return_code_size) == 0;
}

static bool is_signal(const struct stack_walk *w) {
    return w->code.is_return || (w->code.plan && w->code.plan->is_signal);
}

/* Ends the stack, without guessing frames, because a limit caused the tables of this code to be left out. */
static enum step end_at_limit(struct stack_walk *w) {
    w->limit = w->code.object->limit;
    unwind_objects_end(w->worker->objects, w->code.object);
    return STEP_FAIL;
}

static enum step step(struct stack_walk *w) {
    if (w->code.object && w->code.object->limit && !w->code.plan && !w->code.is_return)
        return end_at_limit(w);
    if (!w->code.table)
        return STEP_FAIL;
    if (w->code.is_return || (w->code.plan && w->code.plan->is_signal && w->machine->return_is_known))
        return step_by_context(w);
    return w->code.plan ? step_by_plan(w) : step_by_frame(w);
}

static void find_frame(struct stack_walk *w, uint64_t code, bool was_called) {
    find_code(w, code - was_called);
    if (w->code.table && !w->code.plan)
        w->code.is_return = is_return(w, code);
}

/* perf stores the values of the bits in its mask, in the order of the bits. */
static void set_recorded(struct stack_walk *w, unsigned number) {
    const struct unwind_sample *s = w->sample;
    const uint8_t at = w->machine->bit_of[number];
    const uint64_t bit = at == UNWIND_NO_BIT ? 0 : (uint64_t)1 << at;
    if (s->mask & bit)
        set(w, number, pfr_u64s_at(&s->registers, (uint64_t)__builtin_popcountll(s->mask & (bit - 1))));
}

static bool begin(struct stack_walk *w) {
    if (!w->machine || w->sample->abi != ABI_64)
        return false;
    for (unsigned i = 0; i < w->machine->registers; i++)
        set_recorded(w, i);
    uint64_t code;
    return get(w, w->machine->code, &code) && code && get(w, w->machine->stack, &w->stack_at);
}

static enum unwind_end follow(struct stack_walk *w, uint32_t most, uint64_t *to, uint32_t *count) {
    const struct unwind_machine *machine = w->machine;
    bool was_called = false;
    while (*count < most) {
        const uint64_t code = w->registers[machine->code], stack = w->registers[machine->stack];
        if (code == 0)
            return UNWOUND_COMPLETE;
        find_frame(w, code, was_called);
        const bool is_of_signal = is_signal(w);
        to[(*count)++] = was_called && !is_of_signal ? code - 1 : code;
        const enum step how = step(w);
        if (how == STEP_END)
            return UNWOUND_COMPLETE;
        if (w->limit)
            return UNWOUND_BROKEN;
        if (how == STEP_FAIL || (w->registers[machine->code] == code && w->registers[machine->stack] == stack))
            return w->outside ? UNWOUND_TRUNCATED : UNWOUND_BROKEN;
        was_called = !is_of_signal;
        w->stepped = true;
    }
    return UNWOUND_TRUNCATED;
}

pfr_status unwind_stack(struct unwind_worker *worker, const struct unwind_sample *sample, uint32_t most, uint64_t *to,
                        struct unwound *unwound, pfr_error *err) {
    struct stack_walk w = {.worker = worker, .machine = worker->machine, .sample = sample, .err = err};
    *unwound = (struct unwound){.end = UNWOUND_NOTHING};
    if (sample->abi == 0 || sample->size == 0)
        return PFR_OK;
    unwound->end = UNWOUND_BROKEN;
    if (!worker->any)
        PFR_TRY(unwind_objects_any(worker->objects, &worker->any, err));
    if (worker->any && begin(&w))
        unwound->end = follow(&w, most, to, &unwound->count);
    unwound->guessed = w.guessed;
    unwound->limit = w.limit;
    return w.status;
}
