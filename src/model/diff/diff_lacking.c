/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds events that only some recordings of a comparison have, so that outputs can explain why such an event has no
 * verdict. Example: one of several uploads of a store was recorded with other options.
 */
#include "model/diff/diff_lacking.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WITHOUT_ROOM 512u
#define NAMES_MOST 4u /* maximum number of recordings of a side that a sentence names */

bool diff_has_event(const pfr_model *model, const char *name) {
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_EVENT); id++)
        if (strcmp(pfr_model_get_event(model, id)->name, name) == 0)
            return pfr_model_get_event(model, id)->samples > 0;
    return false;
}

const char *diff_first_event(const pfr_model *model) {
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_EVENT); id++)
        if (pfr_model_get_event(model, id)->samples)
            return pfr_model_get_event(model, id)->name;
    return NULL;
}

/* --- Which recordings lack an event. */

struct lacking_text {
    char bytes[WITHOUT_ROOM];
    size_t length;
};

static void add_text(struct lacking_text *to, const char *text) {
    const size_t room = sizeof to->bytes - to->length, length = strlen(text);
    const size_t kept = length < room ? length : room - 1;
    memcpy(to->bytes + to->length, text, kept);
    to->length += kept;
    to->bytes[to->length] = '\0';
}

static uint32_t count_without(const pfr_diff_run *runs, uint32_t count, const char *event) {
    uint32_t without = 0;
    for (uint32_t i = 0; i < count; i++)
        without += !diff_has_event(runs[i].model, event);
    return without;
}

static void add_names(struct lacking_text *to, const pfr_diff_run *runs, uint32_t count, const char *event) {
    uint32_t named = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (!runs[i].name || !*runs[i].name || diff_has_event(runs[i].model, event))
            continue;
        add_text(to, named ? ", " : " (");
        add_text(to, named == NAMES_MOST ? "..." : runs[i].name);
        if (named++ == NAMES_MOST)
            break;
    }
    add_text(to, named ? ")" : "");
}

static void add_side(struct lacking_text *to, const struct diff_recordings *all, unsigned side, const char *event) {
    const uint32_t count = all->count[side], without = count_without(all->runs[side], count, event);
    char numbers[64] = "";
    if (!without)
        return;
    if (count > 1)
        snprintf(numbers, sizeof numbers, "%" PRIu32 " of %" PRIu32 " recordings of ", without, count);
    add_text(to, to->length ? " and " : "");
    add_text(to, numbers);
    add_text(to, side ? "the new side" : "the base");
    add_names(to, all->runs[side], count, event);
}

/* --- Events. */

/* Whether an earlier recording has an event of this name, or this recording has one with a smaller id. */
static bool is_known(const struct diff_recordings *all, unsigned side, uint32_t run, uint32_t id, const char *event) {
    for (unsigned s = 0; s <= side; s++)
        for (uint32_t i = 0; i < (s < side ? all->count[s] : run); i++)
            if (diff_has_event(all->runs[s][i].model, event))
                return true;
    for (uint32_t other = 1; other < id; other++)
        if (strcmp(pfr_model_get_event(all->runs[side][run].model, other)->name, event) == 0)
            return true;
    return false;
}

struct missing_events {
    const struct diff_recordings *all;
    diff_lacking *each;
    void *context;
    uint32_t found;
};

static pfr_status check_event(struct missing_events *l, const char *event, pfr_error *err) {
    struct lacking_text without = {.length = 0};
    add_side(&without, l->all, 0, event);
    add_side(&without, l->all, 1, event);
    if (!without.length || l->found++ >= DIFF_LACKING_MOST)
        return PFR_OK;
    return l->each(l->context, event, without.bytes, err);
}

static pfr_status check_run(struct missing_events *l, unsigned side, uint32_t run, pfr_error *err) {
    const pfr_model *const model = l->all->runs[side][run].model;
    pfr_status st = PFR_OK;
    for (uint32_t id = 1; id <= pfr_model_count(model, PFR_TABLE_EVENT) && st >= 0; id++) {
        const pfr_model_event *const event = pfr_model_get_event(model, id);
        if (event->samples && !is_known(l->all, side, run, id, event->name))
            st = check_event(l, event->name, err);
    }
    return st;
}

pfr_status diff_each_lacking(const struct diff_recordings *all, diff_lacking *each, void *context, uint32_t *more,
                             pfr_error *err) {
    struct missing_events l = {.all = all, .each = each, .context = context};
    pfr_status st = PFR_OK;
    for (unsigned side = 0; side < 2; side++)
        for (uint32_t run = 0; run < all->count[side] && st >= 0; run++)
            st = check_run(&l, side, run, err);
    *more = l.found > DIFF_LACKING_MOST ? l.found - DIFF_LACKING_MOST : 0;
    return st;
}
