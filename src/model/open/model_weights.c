/* SPDX-License-Identifier: Apache-2.0 */
/* Sums by stack, and stacks as text. */
#include "model/open/calls_rows.h"

#include <perfray/out.h>

#include <inttypes.h>

static pfr_status add_samples(const pfr_model *m, uint32_t event, uint64_t *self, pfr_error *err) {
    const pfr_samples_options options = {.size = sizeof options, .event = event};
    pfr_samples *cursor = pfr_samples_open(m, &options, err);
    const pfr_sample_batch *b;
    pfr_status st = PFR_OK;
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++)
            self[b->stack[i]] += b->weight[i];
    pfr_samples_close(cursor);
    return st < 0 ? st : PFR_OK;
}

/* Calls of a model that was built row by row. Negative sums count as 0, as in a loaded trace. */
static void add_built_calls(const pfr_model *m, uint64_t *self) {
    for (uint32_t id = 1; id <= m->calls.count; id++) {
        const pfr_call *call = row_at(&m->calls, id, sizeof *call);
        self[call->stack] += (uint64_t)call->self;
    }
    for (uint32_t id = 0; id <= m->stacks.count; id++)
        self[id] = (int64_t)self[id] < 0 ? 0 : self[id];
}

/* Converts sums from ticks to ns. Calls are added in ticks, so that each sum is rounded only
   once. */
static void make_ns(const pfr_model *m, uint64_t *weights) {
    for (uint32_t id = 0; weights && id <= m->stacks.count; id++)
        weights[id] = calls_ns(weights[id], m->traced->clock.frequency);
}

/* Parents have smaller ids. The weight of stack 0 (samples without an address) is not part of any total. */
static void add_up(const pfr_model *m, uint64_t *total) {
    const pfr_stack *stacks = pfr_model_stacks(m);
    for (uint32_t id = m->stacks.count; id > 0; id--)
        if (stacks[id].parent)
            total[stacks[id].parent] += total[id];
}

pfr_status pfr_model_weights(const pfr_model *m, uint32_t event, uint64_t *self, uint64_t *total, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    const size_t bytes = ((size_t)m->stacks.count + 1) * sizeof *self;
    uint64_t *first = self ? self : total;
    if (!event || event > m->events.count)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "event", "there is no event %" PRIu32, event);
    if (!first)
        return PFR_OK;
    memset(first, 0, bytes);
    const bool traced = m->traced && event == m->traced_event;
    if (!m->traced && pfr_model_get_event(m, event)->is_traced)
        add_built_calls(m, first);
    else
        PFR_TRY(traced ? calls_add_self(m, first, err) : add_samples(m, event, first, err));
    if (self && total)
        memcpy(total, self, bytes);
    if (total)
        add_up(m, total);
    if (traced) {
        make_ns(m, self);
        make_ns(m, total);
    }
    return PFR_OK;
}

/* --- Text. */

struct text_to {
    char *at;
    size_t room, length; /* length: of the whole text, written or not */
    bool cut;
};

static void put_text(struct text_to *to, const char *text, size_t length) {
    if (!to->cut && to->length + length < to->room)
        memcpy(to->at + to->length, text, length + 1);
    else
        to->cut = true;
    to->length += length;
}

#define NAME_ROOM 65536u /* longer names are cut */

static void put_frame(const pfr_model *m, uint32_t symbol, struct text_to *to) {
    char name[NAME_ROOM + 3];
    const pfr_model_symbol *s = pfr_model_get_symbol(m, symbol);
    const char *text = s->name ? s->name : pfr_model_get_object(m, s->object)->name;
    const bool bracket = !s->name && text[0] != '[';
    size_t length = pfr_escape(name + bracket, NAME_ROOM, text, strlen(text)) + bracket;
    if (bracket) {
        name[0] = '[';
        name[length++] = ']';
        name[length] = 0;
    }
    put_text(to, name, length);
}

/* The stack that is `up` frames above. The caller allocates no memory and calls it once per AT_ONCE frames, so deep
   stacks take quadratic time. */
static uint32_t above(const pfr_stack *stacks, uint32_t id, uint32_t up) {
    while (up-- > 0)
        id = stacks[id].parent;
    return id;
}

#define AT_ONCE 512u

size_t pfr_model_stack_text(const pfr_model *m, uint32_t stack, const char *separator, char *to, size_t room) {
    const pfr_stack *stacks = pfr_model_stacks(m);
    const char *between = separator ? separator : ";";
    struct text_to out = {.at = to, .room = room};
    uint32_t path[AT_ONCE], left = 0;
    if (room)
        to[0] = 0;
    for (uint32_t id = stack <= m->stacks.count ? stack : 0; id; id = stacks[id].parent)
        left++;
    while (left > 0) { /* write the outermost remaining frames */
        const uint32_t some = left < AT_ONCE ? left : AT_ONCE;
        uint32_t id = above(stacks, stack, left - some);
        for (uint32_t i = 0; i < some; i++, id = stacks[id].parent)
            path[i] = id;
        for (uint32_t i = some; i-- > 0;) {
            const size_t before = out.length;
            const bool was_cut = out.cut;
            if (before)
                put_text(&out, between, strlen(between));
            put_frame(m, stacks[path[i]].symbol, &out);
            if (out.cut && !was_cut && room)
                to[before] = 0;
        }
        left -= some;
    }
    return out.length;
}
