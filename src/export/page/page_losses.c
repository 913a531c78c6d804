/* SPDX-License-Identifier: Apache-2.0 */
/* What a page says about the quality of its recording: see page_head.h. */
#include "export/page/page_head.h"

#include "base/memory/fail.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOSSES_MOST 24u
#define LOSS_ROOM 200u

/* Facts of the model that mean a loss or a guess when they are not 0, and how they are put. */
static const struct {
    const char *key, *sentence;
} facts[] = {
    {"lost", "records lost by the kernel"},
    {"lost_samples", "samples lost by the kernel"},
    {"lost_samples_bpf", "samples dropped by a BPF filter"},
    {"throttled", "times an event was throttled"},
    {"holes", "unreadable ranges of the file"},
    {"late", "records that came after their round had ended"},
    {"guests", "samples of guests, whose functions are unknown"},
    {"too_deep", "samples of processes with too many ancestors"},
    {"limited", "samples or calls that memory had no room for, in [limit]"},
    {"unmatched_exits", "exits of functions whose enters are missing"},
};

struct loss_list {
    char **at;
    size_t count;
    struct memory *memory;
    bool is_full;
};

__attribute__((format(printf, 2, 3))) static void add_loss(struct loss_list *to, const char *format, ...) {
    va_list arguments;
    char *text = to->count < LOSSES_MOST ? mem_zeroed(to->memory, 1, LOSS_ROOM) : NULL;
    if (!text) {
        to->is_full = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, LOSS_ROOM, format, arguments);
    va_end(arguments);
    to->at[to->count++] = text;
}

static void add_facts(const struct page_data *d, struct loss_list *to) {
    const pfr_fact *fact;
    for (uint32_t i = 0; (fact = pfr_model_fact(d->tables.model, i)); i++)
        for (size_t k = 0; k < sizeof facts / sizeof *facts; k++)
            if (fact->value && strcmp(fact->key, facts[k].key) == 0)
                add_loss(to, "%" PRIu64 " %s", fact->value, facts[k].sentence);
}

static void add_coarsening(const struct page_data *d, struct loss_list *to) {
    if (d->tables.unnamed)
        add_loss(to, "%.2f %% of the weight is in functions without a name (perfray symbols says why)",
                 100.0 * (double)d->tables.unnamed / (double)d->tables.total);
    if (d->rows.is_coarse)
        add_loss(to, "samples are summed in slots of %.3g ms so that the page stays small; sums are exact",
                 (double)d->rows.slot / 1e6);
    if (d->calls.left_out)
        add_loss(to,
                 "%" PRIu64 " calls shorter than %.3g us are left out; their time counts as their callers' self time",
                 d->calls.left_out, (double)d->calls.shortest / 1e3);
    if (d->calls.open)
        add_loss(to, "%" PRIu64 " calls were never left, and are not shown", d->calls.open);
    if (d->weight_shift)
        add_loss(to, "weights are divided by 2^%u: their sum is more than 2^53", d->weight_shift);
}

char **page_losses(const struct page_data *d, struct memory *memory, pfr_error *err) {
    struct loss_list list = {.at = mem_zeroed(memory, LOSSES_MOST + 1, sizeof(char *)), .memory = memory};
    if (!list.at) {
        mem_fail(memory, err, "view");
        return NULL;
    }
    add_facts(d, &list);
    add_coarsening(d, &list);
    if (!list.is_full)
        return list.at;
    mem_fail(memory, err, "view");
    page_losses_free(list.at, memory);
    return NULL;
}

void page_losses_free(char **losses, struct memory *memory) {
    for (char **loss = losses; loss && *loss; loss++)
        mem_free(memory, *loss, 1, LOSS_ROOM);
    mem_free(memory, losses, LOSSES_MOST + 1, sizeof *losses);
}
