/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the functions to show: see annotate_parts.h. */
#include "view/annotate/annotate_choose.h"

#include "base/text/text.h"
#include "view/annotate/annotate_lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The parsed operand. */
struct wanted {
    const char *name;
    size_t name_length; /* length of the name, or of the file name if `by_line` */
    uint64_t address, line;
    bool by_address, by_line;
};

static struct wanted parse_operand(const char *what) {
    struct wanted w = {.name = what, .name_length = what ? strlen(what) : 0};
    const char *colon = what ? strrchr(what, ':') : NULL;
    if (what && strncmp(what, "0x", 2) == 0)
        w.by_address = parse_hex_part(what, w.name_length, &w.address);
    if (colon && colon != what && colon[-1] != ':' && parse_u64(colon + 1, &w.line)) {
        w.by_line = true;
        w.name_length = (size_t)(colon - what);
    }
    return w;
}

static bool is_last_part(const char *path, const char *name, size_t length) {
    const size_t all = strlen(path);
    return all >= length && memcmp(path + all - length, name, length) == 0 &&
           (all == length || path[all - length - 1] == '/');
}

/* "f" also matches f(int); a qualified function "ns::f" is matched only by its qualified name. */
static bool has_name(const char *symbol, const char *name, size_t length) {
    return symbol && strncmp(symbol, name, length) == 0 && (symbol[length] == '\0' || symbol[length] == '(');
}

static bool frame_fits(const struct annotate *a, const struct wanted *w, const pfr_model_frame *frame) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(a->model, frame->symbol);
    if (!w->name)
        return true;
    if (w->by_line)
        return frame->file && frame->line == w->line && is_last_part(frame->file, w->name, w->name_length);
    if (w->by_address)
        return frame->address == w->address ||
               (w->address >= symbol->address && w->address - symbol->address < symbol->size);
    return has_name(symbol->name, w->name, w->name_length) || has_name(symbol->mangled, w->name, w->name_length);
}

static int heavier(const void *left, const void *right) {
    const struct annotate_chosen *x = left, *y = right;
    if (x->weight != y->weight)
        return x->weight > y->weight ? -1 : 1;
    return x->symbol < y->symbol ? -1 : x->symbol > y->symbol;
}

/* Adds up the weights of all events, even if their units differ; -e restricts the samples to one event. */
static uint64_t weight_of(const struct annotate *a, uint32_t frame) {
    uint64_t weight = 0;
    for (uint32_t i = 0; i < a->nr_events; i++)
        weight += annotate_sums_of(a, frame)[i].weight;
    return weight;
}

struct by_symbol {
    uint64_t *weight;
    uint8_t *fits;
};

static void sum_symbols(const struct annotate *a, const struct wanted *w, struct by_symbol *sums) {
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_FRAME); id++) {
        const pfr_model_frame *frame = pfr_model_get_frame(a->model, id);
        const uint64_t weight = weight_of(a, id);
        sums->weight[frame->symbol] += weight;
        sums->fits[frame->symbol] |= weight && frame_fits(a, w, frame);
    }
}

/* With --by-line, an inlined function counts like any other function: its weight is the weight of all code that was
   compiled from it. */
static void sum_lines(const struct annotate *a, const struct wanted *w, struct by_symbol *sums) {
    const pfr_stack *stacks = pfr_model_stacks(a->model);
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_STACK); id++) {
        const pfr_model_frame *frame = NULL;
        for (uint32_t at = line_innermost(a, id); at && a->line_sums[id].weight; at = stacks[at].parent) {
            frame = pfr_model_get_frame(a->model, stacks[at].frame);
            sums->weight[frame->symbol] += a->line_sums[id].weight;
            sums->fits[frame->symbol] |= frame_fits(a, w, frame);
            if (!frame->inlined)
                break;
        }
    }
}

#define SIMILAR_MOST 3u

/* Inserts a symbol into the list of the heaviest symbols found so far, if it is heavy enough. */
static size_t add_similar(uint32_t found[SIMILAR_MOST], size_t count, const uint64_t *weight, uint32_t symbol) {
    size_t at = count;
    while (at && weight[found[at - 1]] < weight[symbol])
        at--;
    if (at == SIMILAR_MOST)
        return count;
    count += count < SIMILAR_MOST;
    memmove(&found[at + 1], &found[at], (count - at - 1) * sizeof *found);
    found[at] = symbol;
    return count;
}

/* If no function has the name: reports the heaviest functions whose names contain the requested name. In comparisons,
   reports nothing, because the other recording may have the function. */
static void note_similar(const struct annotate *a, const struct wanted *w, const struct by_symbol *sums,
                         uint32_t symbols) {
    uint32_t found[SIMILAR_MOST] = {0};
    char sentence[700] = "functions with similar names: ";
    size_t count = 0, length = strlen(sentence);
    if (!w->name || !*w->name || w->by_address || w->by_line || a->options->base || !a->options->note)
        return;
    for (uint32_t id = 1; id <= symbols; id++) {
        const char *name = pfr_model_get_symbol(a->model, id)->name;
        if (sums->weight[id] && name && strstr(name, w->name))
            count = add_similar(found, count, sums->weight, id);
    }
    for (size_t i = 0; i < count; i++) {
        const char *name = pfr_model_get_symbol(a->model, found[i])->name;
        if (i)
            length += (size_t)snprintf(sentence + length, sizeof sentence - length, ", ");
        pfr_escape(sentence + length, 200, name, strlen(name));
        length += strlen(sentence + length);
    }
    if (count)
        a->options->note(a->options->context, sentence);
}

static pfr_status list(struct annotate *a, const struct by_symbol *sums, uint32_t count, pfr_error *err) {
    for (uint32_t symbol = 1; symbol <= count; symbol++) {
        if (!sums->fits[symbol] || (!a->options->what && !pfr_model_get_symbol(a->model, symbol)->name))
            continue;
        if (a->nr_chosen == a->chosen_room) {
            void *more = mem_grow(a->memory, a->chosen, a->nr_chosen, &a->chosen_room, 64, sizeof *a->chosen);
            if (!more)
                return mem_fail(a->memory, err, "annotate");
            a->chosen = more;
        }
        a->chosen[a->nr_chosen++] = (struct annotate_chosen){symbol, sums->weight[symbol]};
    }
    if (!a->nr_chosen)
        return PFR_END;
    qsort(a->chosen, a->nr_chosen, sizeof *a->chosen, heavier);
    const uint32_t most = a->options->top ? a->options->top : a->options->what ? UINT32_MAX : 1;
    a->printed = a->nr_chosen < most ? (uint32_t)a->nr_chosen : most;
    return PFR_OK;
}

pfr_status annotate_choose(struct annotate *a, pfr_error *err) {
    const struct wanted wanted = parse_operand(a->options->what);
    const uint32_t count = pfr_model_count(a->model, PFR_TABLE_SYMBOL);
    struct by_symbol sums = {mem_zeroed(a->memory, (size_t)count + 1, sizeof *sums.weight),
                             mem_zeroed(a->memory, (size_t)count + 1, 1)};
    pfr_status st = sums.weight && sums.fits ? PFR_OK : mem_fail(a->memory, err, "annotate");
    if (st == PFR_OK) {
        if (a->options->by_line)
            sum_lines(a, &wanted, &sums);
        else
            sum_symbols(a, &wanted, &sums);
        st = list(a, &sums, count, err);
        if (st == PFR_END)
            note_similar(a, &wanted, &sums, count);
    }
    mem_free(a->memory, sums.weight, (size_t)count + 1, sizeof *sums.weight);
    mem_free(a->memory, sums.fits, (size_t)count + 1, 1);
    return st;
}
