/* SPDX-License-Identifier: Apache-2.0 */
/* Callchains in one line, innermost frame first: see offcpu_chain.h. */
#include "view/offcpu/offcpu_chain.h"

#include "base/memory/escape_bytes.h"
#include "view/offcpu/offcpu_stacks.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#define FRAME_ROOM 300u
#define LEAST_ROOM 16u
#define MORE " <- ..."

void offcpu_printf(pfr_output *out, const char *format, ...) {
    char line[OFFCPU_LINE_ROOM];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    out_text(&out->out, line);
}

unsigned offcpu_room(const pfr_output *out, unsigned used) {
    if (!out->columns)
        return 0;
    return out->columns > used + LEAST_ROOM ? out->columns - used : LEAST_ROOM;
}

static void put_name(const pfr_output *out, const char *name, char *to, size_t room) {
    if (out->raw_names)
        snprintf(to, room, "%.*s", (int)room - 1, name);
    else
        pfr_escape(to, room, name, strlen(name));
}

static size_t frame_text(const struct offcpu *o, const pfr_output *out, uint32_t stack, char to[FRAME_ROOM]) {
    const pfr_stack *s = pfr_model_get_stack(o->model, stack);
    const pfr_model_frame *f = pfr_model_get_frame(o->model, s->frame);
    const pfr_model_symbol *symbol = pfr_model_get_symbol(o->model, s->symbol);
    char name[FRAME_ROOM - 16];
    put_name(out, symbol->name ? symbol->name : pfr_model_get_object(o->model, f->object)->name, name, sizeof name);
    if (f->file && f->line)
        snprintf(to, FRAME_ROOM, "%s:%" PRIu32, name, f->line);
    else
        snprintf(to, FRAME_ROOM, symbol->name ? "%s" : "[%s]", name);
    return strlen(to);
}

/* Whether a frame of this length fits in the remaining width. If there are more frames, their mark must fit, too. */
static bool fits(size_t at, size_t length, unsigned width, bool more) {
    const size_t end = at + length + (more ? sizeof MORE - 1 : 0);
    return end + 8 < OFFCPU_CHAIN_ROOM && (!width || end <= width);
}

static uint32_t next_named(const struct offcpu *o, uint32_t stack) {
    do
        stack = pfr_model_get_stack(o->model, stack)->parent;
    while (stack && wait_stack_is_common(o->model, stack));
    return stack;
}

#define NAME_AND_LINE (1ull << 63) /* no address has this bit */

static uint64_t number_of_key(struct offcpu *o, uint64_t key) {
    const uint64_t *number = u64_map_at(&o->frame_texts, key, u64_map_count(&o->frame_texts) + 1, NULL);
    return number ? *number : 0;
}

/* A number for the text of a frame; 0: out of memory. */
static uint64_t number_of_frame(struct offcpu *o, uint32_t stack) {
    const pfr_stack *s = pfr_model_get_stack(o->model, stack);
    const pfr_model_frame *f = pfr_model_get_frame(o->model, s->frame);
    const char *const symbol = pfr_model_get_symbol(o->model, s->symbol)->name;
    const char *const name = symbol ? symbol : pfr_model_get_object(o->model, f->object)->name;
    const uint64_t of_name = number_of_key(o, (uint64_t)(uintptr_t)name); /* equal names have one address */
    return of_name ? number_of_key(o, NAME_AND_LINE | of_name << 32 | (f->file ? f->line : 0)) : 0;
}

/* Chains are numbered frame by frame: the number of the inner frames and the next frame determine the next number. The
   key of the stack that stands for a chain has no next frame. If there is no memory, a stack stands for itself. */
static uint32_t first_with_text(struct offcpu *o, uint32_t stack) {
    uint64_t chain = 0;
    uint32_t at = stack;
    for (unsigned n = 0; at && n < OFFCPU_FRAMES_MOST; n++, at = next_named(o, at)) {
        const uint64_t frame = number_of_frame(o, at);
        const uint64_t *next =
            frame ? u64_map_at(&o->chain_texts, chain << 32 | frame, u64_map_count(&o->chain_texts) + 1, NULL) : NULL;
        if (!next)
            return stack;
        chain = *next;
    }
    const uint64_t *first = u64_map_at(&o->chain_texts, chain << 32, stack, NULL);
    return first ? (uint32_t)*first : stack;
}

uint32_t offcpu_program(struct offcpu *o, uint32_t stack) {
    const uint32_t program = offcpu_stack_facts(o, stack)->program;
    if (program && !o->stacks[program].same)
        o->stacks[program].same = first_with_text(o, program);
    return program ? o->stacks[program].same : 0;
}

size_t offcpu_chain(const struct offcpu *o, const pfr_output *out, uint32_t stack, unsigned width, unsigned most,
                    char to[OFFCPU_CHAIN_ROOM]) {
    char frame[FRAME_ROOM];
    size_t at = 0;
    if (!stack)
        return (size_t)snprintf(to, OFFCPU_CHAIN_ROOM, "[not recorded]");
    for (unsigned n = 0; stack && n < most; n++) {
        const uint32_t outer = next_named(o, stack);
        const size_t length = frame_text(o, out, stack, frame);
        const char *between = n ? " <- " : "";
        if (n && !fits(at, length + 4, width, outer != 0))
            return at + (size_t)snprintf(to + at, OFFCPU_CHAIN_ROOM - at, MORE);
        at += (size_t)snprintf(to + at, OFFCPU_CHAIN_ROOM - at, "%s%s", between, frame);
        stack = outer;
    }
    return at;
}

void offcpu_thread_text(const struct offcpu *o, const pfr_output *out, uint32_t thread, char *to, size_t room) {
    const struct offcpu_thread *t = &o->threads[thread];
    char name[80];
    put_name(out, t->comm ? t->comm : "", name, sizeof name);
    if (t->comm)
        snprintf(to, room, "%s/%" PRIu32, name, t->tid);
    else
        snprintf(to, room, ":%" PRIu32, t->tid);
}
