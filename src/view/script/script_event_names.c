/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of events as printed in lines, right-aligned to the longest name known so far. In a stream, events and names
 * arrive between samples, and each is processed once. The number of names of each length is kept, so that the longest
 * length is known even after a name has changed.
 */
#include "view/script/script_event_names.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"

void script_labels_free(struct script *s) {
    struct script_labels *const l = &s->own->labels;
    mem_free(s->memory, l->of_length, l->room, sizeof *l->of_length);
    *l = (struct script_labels){0};
}

static bool has_room_for(struct script *s, size_t length) {
    struct script_labels *const l = &s->own->labels;
    if (length < l->room)
        return true;
    const size_t room = 2 * length + 64;
    uint32_t *more = mem_resize(s->memory, l->of_length, l->room, room, sizeof *more);
    if (!more)
        return false;
    memset(more + l->room, 0, (room - l->room) * sizeof *more);
    l->of_length = more;
    l->room = room;
    return true;
}

static void count_length(struct script_labels *l, size_t length) {
    l->of_length[length]++;
    l->width = length > l->width ? length : l->width;
}

static void forget_length(struct script_labels *l, size_t length) {
    l->of_length[length]--;
    while (l->width > 0 && l->of_length[l->width] == 0)
        l->width--;
}

static pfr_status label(struct script *s, struct script_event *e, pfr_output *shown, pfr_error *err) {
    const char *const name = e->event->name;
    const size_t own = strlen(name);
    size_t length;
    if (!has_room_for(s, own))
        return mem_fail(s->memory, err, "script");
    out_clear(&shown->out);
    print_name(shown, name, own);
    out_write(&shown->out, ": ", 2);
    const char *bytes = out_bytes(&shown->out, &length);
    const char *kept = bytes ? arena_text(&s->caches.arena, bytes, length) : NULL;
    if (!kept)
        return mem_fail(s->memory, err, "script");
    if (e->label)
        forget_length(&s->own->labels, e->name_length);
    count_length(&s->own->labels, own);
    e->label = kept;
    e->label_length = (uint32_t)length;
    e->name_length = (uint32_t)own;
    return PFR_OK;
}

/* Labels new events, and events whose name has changed. */
static pfr_status label_those(struct script *s, uint32_t from, pfr_output *shown, pfr_error *err) {
    const pfr_reader *const r = s->own->reader;
    for (uint32_t i = from; i < s->own->nr_events; i++)
        PFR_TRY(label(s, &s->own->events[i], shown, err));
    for (; s->own->labels.seen < r->events.nr_renamed; s->own->labels.seen++)
        if (r->events.renamed[s->own->labels.seen] < s->own->nr_events)
            PFR_TRY(label(s, &s->own->events[r->events.renamed[s->own->labels.seen]], shown, err));
    return PFR_OK;
}

pfr_status script_labels_make(struct script *s, uint32_t from, pfr_error *err) {
    pfr_output shown = {.raw_names = s->to->raw_names};
    out_open_memory(&shown.out, s->memory);
    const pfr_status st = label_those(s, from, &shown, err);
    out_close(&shown.out, NULL);
    return st;
}
