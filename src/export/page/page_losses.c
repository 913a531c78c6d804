/* SPDX-License-Identifier: Apache-2.0 */
/* Sentences about the quality of the recording: see page_head.h. */
#include "export/page/page_head.h"

#include "base/memory/fail.h"
#include "model/diff/diff_lacking.h"

#include <perfray/quality.h>
#include <perfray/spans.h>

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LOSSES_MOST 200u /* later sentences are left out; only notes of the caller can be so many */
#define LOSS_ROOM 800u

struct loss_text {
    const char *key, *text; /* key of a fact, and what the fact counts; "1: TEXT" if the fact is yes or no */
};

static const struct loss_text quality_texts[] = {
#define F(key, member, doc) {key, doc},
    PFR_QUALITY_FIELDS(F)
#undef F
};

/* Facts that the model adds to the quality (model.h). The fact "lossy" has no sentence, because it only repeats that
 * there are holes. */
static const struct loss_text model_texts[] = {
    {"late", "records that came after their round had ended"},
    {"guests", "samples of guests, whose functions are unknown"},
    {"too_deep", "samples of processes with too many ancestors"},
    {"limited", "samples or calls counted in [limit], because memory ran out"},
    {"unmatched_exits", "function exits without an enter"},
    {"sampled_states",
     "1: switches or wake-ups were sampled, so some are missing: states and waits are partly wrong (record every one: "
     "--off-cpu, or -c 1)"},
    {"unknown_states", "thread states are unknown, because events are missing or contradict each other"},
};

static const char *text_of(const char *key) {
    for (size_t i = 0; i < sizeof quality_texts / sizeof *quality_texts; i++)
        if (strcmp(quality_texts[i].key, key) == 0)
            return quality_texts[i].text;
    for (size_t i = 0; i < sizeof model_texts / sizeof *model_texts; i++)
        if (strcmp(model_texts[i].key, key) == 0)
            return model_texts[i].text;
    return NULL;
}

struct loss_list {
    char **at;
    size_t count;
    struct memory *memory;
    bool has_failed; /* memory ran out */
};

__attribute__((format(printf, 2, 3))) static void add_loss(struct loss_list *to, const char *format, ...) {
    va_list arguments;
    if (to->count == LOSSES_MOST)
        return;
    char *text = mem_zeroed(to->memory, 1, LOSS_ROOM);
    if (!text) {
        to->has_failed = true;
        return;
    }
    va_start(arguments, format);
    vsnprintf(text, LOSS_ROOM, format, arguments);
    va_end(arguments);
    to->at[to->count++] = text;
}

static void add_fact(const pfr_fact *fact, const char *of, struct loss_list *to) {
    const char *text = text_of(fact->key);
    if (text && strncmp(text, "1: ", 3) == 0)
        add_loss(to, "%s%s", of, text + 3);
    else if (text)
        add_loss(to, "%s%" PRIu64 " %s", of, fact->value, text);
}

static void add_facts(const pfr_model *model, const char *of, struct loss_list *to) {
    const pfr_fact *fact;
    for (uint32_t i = 0; (fact = pfr_model_fact(model, i)); i++)
        if (fact->value && strcmp(fact->key, "unthrottled") != 0) /* the end of what "throttled" counts */
            add_fact(fact, of, to);
}

static void add_omitted(const struct page_data *d, struct loss_list *to) {
    if (pfr_model_interval(d->baseline, 0))
        add_loss(to, PAGE_OF_BASELINE "states and waits of its threads are not shown");
}

static void add_slots(const struct page_rows *rows, struct loss_list *to) {
    const bool is_long = rows->slot >= 1000000000;
    add_loss(to, "samples are summed in slots of %.3g %s so that the page stays small; sums are exact",
             (double)rows->slot / (is_long ? 1e9 : 1e6), is_long ? "s" : "ms");
}

static void add_coarsening(const struct page_data *d, struct loss_list *to) {
    if (d->exceeded)
        add_loss(to, PAGE_EXCEEDS, (double)d->exceeded / (1 << 20));
    if (d->tables.unnamed)
        add_loss(to, "%.2f %% of the weight is in functions without a name (perfray symbols shows the reason)",
                 100.0 * (double)d->tables.unnamed / (double)d->tables.total);
    if (d->waits.merged)
        add_loss(
            to,
            "sums of waits below %.3g us have no function and no waker in the list of waits, so that the page stays "
            "small; times by thread, state and reason are exact",
            (double)d->waits.least / 1e3);
    if (d->rows.is_coarse)
        add_slots(&d->rows, to);
    if (d->calls.left_out)
        add_loss(to,
                 "%" PRIu64 " calls shorter than %.3g us are left out; their time counts as their callers' self time; "
                 "latencies of the whole recording include them",
                 d->calls.left_out, (double)d->calls.shortest / 1e3);
    if (d->pruned_samples)
        add_loss(to,
                 "%" PRIu64 " samples are in stacks with fewer than %" PRIu64
                 " samples, which are shown as [rare stacks] of their callers",
                 d->pruned_samples, d->least_samples);
    if (d->intervals.left_out)
        add_loss(to,
                 "%" PRIu64
                 " thread states shorter than %.3g us are left out of the timeline and of the waits of a selection; "
                 "sums of the whole recording are exact",
                 d->intervals.left_out, (double)d->intervals.shortest / 1e3);
    if (d->idle_left_out)
        add_loss(to, "%" PRIu32 " idle threads are left out so that the page stays small", d->idle_left_out);
    if (d->marks.left_out)
        add_loss(to,
                 "%" PRIu64 " of %" PRIu64 " events that the program logged are left out so that the page stays small",
                 d->marks.left_out, d->marks.logged);
    if (d->calls.open)
        add_loss(to, "%" PRIu64 " unfinished calls are not shown", d->calls.open);
    if (d->code.left_out)
        add_loss(to, "the code of %" PRIu64 " functions with samples is left out so that the page stays small",
                 d->code.left_out);
    if (d->weight_shift)
        add_loss(to, "weights are rounded down to multiples of 2^%u: JavaScript counts exactly up to 2^53",
                 d->weight_shift);
    if (d->call_shift)
        add_loss(
            to,
            "times of calls are rounded down to multiples of 2^%u ns, because their range is too large for the page",
            d->call_shift);
}

/* --- Notes of the caller. */

/* The beginning of an absolute path in a sentence; NULL: there is none. */
static const char *path_in(const char *note) {
    for (const char *at = strchr(note, '/'); at; at = strchr(at + 1, '/'))
        if (at == note || strchr(" '\"(=:", at[-1]))
            return at;
    return NULL;
}

/* If paths are redacted, leaves out the directories of the path in a note. A path may contain
   blanks, so everything from the first slash of the path to the last slash of the note counts as
   directories. */
static void add_note(const struct page_data *d, const char *note, struct loss_list *to) {
    const char *const path = d->tables.redacts ? path_in(note) : NULL;
    if (path)
        add_loss(to, "%.*s%s", (int)(path - note), note, strrchr(path, '/') + 1);
    else
        add_loss(to, "%s", note);
}

/* --- Events that page_changes.c does not compare by name. */

struct uncompared {
    const struct page_data *data;
    struct loss_list *list;
    const char *first; /* the new side's first event, if some recording lacks it; NULL: all have it */
};

static bool is_first_of_any(const pfr_diff_run *runs, uint32_t count, const char *event) {
    for (uint32_t i = 0; i < count; i++) {
        const char *const first = diff_first_event(runs[i].model);
        if (first && strcmp(first, event) == 0)
            return true;
    }
    return false;
}

static pfr_status add_lacking(void *context, const char *event, const char *without, pfr_error *err) {
    const struct uncompared *const c = context;
    const struct page_sides *const s = &c->data->sides;
    (void)err;
    if (c->first && strcmp(c->first, event) == 0)
        add_loss(c->list, "%s is not in %s: verdicts compare the first event of each recording", event, without);
    else if (!c->first ||
             !(is_first_of_any(s->base, s->base_count, event) || is_first_of_any(s->changed, s->changed_count, event)))
        add_loss(c->list, "no verdicts for %s: it is not in %s", event, without);
    return PFR_OK;
}

static bool all_have(const pfr_diff_run *runs, uint32_t count, const char *event) {
    for (uint32_t i = 0; i < count; i++)
        if (!diff_has_event(runs[i].model, event))
            return false;
    return true;
}

static void add_uncompared(const struct page_data *d, struct loss_list *to) {
    const struct page_sides *const s = &d->sides;
    const struct diff_recordings all = {{s->base, s->changed}, {s->base_count, s->changed_count}};
    const char *const first = diff_first_event(d->described);
    const bool by_name =
        !first || (all_have(s->base, s->base_count, first) && all_have(s->changed, s->changed_count, first));
    struct uncompared c = {.data = d, .list = to, .first = by_name ? NULL : first};
    uint32_t more;
    diff_each_lacking(&all, add_lacking, &c, &more, NULL);
    if (more)
        add_loss(to, "%" PRIu32 " more events are not in all recordings, so they have no verdicts", more);
}

char **page_losses(const struct page_data *d, struct memory *memory, pfr_error *err) {
    struct loss_list list = {.at = mem_zeroed(memory, LOSSES_MOST + 1, sizeof(char *)), .memory = memory};
    if (!list.at) {
        mem_fail(memory, err, "view");
        return NULL;
    }
    add_facts(d->described, "", &list);
    if (d->baseline)
        add_facts(d->baseline, PAGE_OF_BASELINE, &list);
    if (d->baseline)
        add_uncompared(d, &list);
    if (d->baseline)
        add_omitted(d, &list);
    for (const char *const *note = d->notes; note && *note; note++)
        add_note(d, *note, &list);
    add_coarsening(d, &list);
    if (!list.has_failed)
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
