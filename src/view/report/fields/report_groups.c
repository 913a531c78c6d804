/* SPDX-License-Identifier: Apache-2.0 */
/* See report_groups.h. */
#include "view/report/fields/report_fields.h"
#include "view/report/fields/report_groups.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NO_SOCKET (-1)
#define WIDEST 64u /* largest group shown side by side: the output grows with the square of its size */

static bool asks_for(const struct report *r, unsigned need) {
    unsigned needs;
    report_keys_needed(r, &needs);
    return needs & need;
}

pfr_status report_feature(struct report *r, uint32_t bit, const pfr_feature **feature, pfr_error *err) {
    pfr_error why = {.status = PFR_OK};
    *feature = pfr_find_feature(r->reader, bit, &why);
    if (*feature || why.status >= 0)
        return PFR_OK;
    if (err)
        *err = why;
    return why.status;
}

pfr_status report_learn_sockets(struct report *r, pfr_error *err) {
    struct pfr_rec_feature_cpu_topology topology;
    struct pfr_rec_core_and_socket one;
    const pfr_feature *f;
    if (r->socket_of || (!asks_for(r, NEEDS_TOPOLOGY) && !r->options->sockets))
        return PFR_OK;
    PFR_TRY(report_feature(r, BIT_CPU_TOPOLOGY, &f, err));
    if (!f || pfr_decode_feature(r->reader, f, &topology, sizeof topology, NULL) != PFR_OK)
        return PFR_OK;
    const uint64_t count = topology.cpus.count;
    if (count > UINT32_MAX)
        return PFR_OK;
    r->socket_of = mem_alloc(r->memory, count, sizeof *r->socket_of);
    if (!r->socket_of)
        return mem_fail(r->memory, err, "report");
    pfr_items_iter it = pfr_items_begin(&topology.cpus);
    for (r->nr_cpus = 0; r->nr_cpus < count; r->nr_cpus++)
        r->socket_of[r->nr_cpus] =
            pfr_items_next(&it, &one, sizeof one, NULL) == PFR_OK ? (int32_t)one.socket_id : NO_SOCKET;
    return PFR_OK;
}

/* --- groups --- */

static pfr_status add_group(struct report *r, uint32_t leader, uint32_t members, const pfr_text *name, pfr_error *err) {
    void *grown =
        mem_grow(r->memory, r->events.groups, r->events.nr_groups, &r->events.groups_room, 4, sizeof *r->events.groups);
    if (!grown)
        return mem_fail(r->memory, err, "report");
    r->events.groups = grown;
    struct report_group *group = &r->events.groups[r->events.nr_groups++];
    *group = (struct report_group){.leader = leader, .members = members, .named = name != NULL};
    if (!name)
        return PFR_OK;
    const size_t length = name->length < sizeof group->name ? name->length : sizeof group->name - 1;
    memcpy(group->name, name->at, length);
    if (strcmp(group->name, "{anon_group}") == 0)
        strcpy(group->name, "anon group");
    return PFR_OK;
}

static void note_wide(const struct report *r, uint32_t members) {
    char text[120];
    snprintf(text, sizeof text, "a group has %" PRIu32 " events, more than %u: each has a table of its own", members,
             WIDEST);
    if (r->options->note)
        r->options->note(r->options->context, text);
}

/* `taken` has one byte per event: 1 if the event is in a group already. */
static pfr_status learn_described(struct report *r, const struct pfr_rec_feature_group_desc *all, uint8_t *taken,
                                  uint32_t events, pfr_error *err) {
    struct pfr_rec_group_desc_entry one;
    pfr_items_iter it = pfr_items_begin(&all->groups);
    bool reported = false;
    while (pfr_items_next(&it, &one, sizeof one, NULL) == PFR_OK) {
        if (one.nr_members < 2 || one.leader_idx >= events || one.nr_members > events - one.leader_idx)
            continue;
        if (one.nr_members > WIDEST) {
            if (!reported)
                note_wide(r, one.nr_members);
            reported = true;
            continue;
        }
        if (memchr(taken + one.leader_idx, 1, one.nr_members))
            continue;
        memset(taken + one.leader_idx, 1, one.nr_members);
        PFR_TRY(add_group(r, one.leader_idx, one.nr_members, &one.name, err));
    }
    return PFR_OK;
}

static int by_leader(const void *a, const void *b) {
    const struct report_group *x = a, *y = b;
    return (x->leader > y->leader) - (x->leader < y->leader);
}

static pfr_status learn_recorded(struct report *r, pfr_error *err) {
    struct pfr_rec_feature_group_desc all;
    const uint32_t events = profile_event_count(r->reader);
    const pfr_feature *f;
    PFR_TRY(report_feature(r, BIT_GROUP_DESC, &f, err));
    if (!f || pfr_decode_feature(r->reader, f, &all, sizeof all, NULL) != PFR_OK)
        return PFR_OK;
    uint8_t *taken = mem_zeroed(r->memory, events, 1);
    if (!taken)
        return mem_fail(r->memory, err, "report");
    const pfr_status st = learn_described(r, &all, taken, events, err);
    mem_free(r->memory, taken, events, 1);
    if (r->events.nr_groups)
        qsort(r->events.groups, r->events.nr_groups, sizeof *r->events.groups, by_leader);
    return st;
}

pfr_status report_learn_groups(struct report *r, pfr_error *err) {
    const uint32_t events = profile_event_count(r->reader);
    if (r->options->group == PFR_REPORT_NO || r->options->event)
        return PFR_OK;
    PFR_TRY(learn_recorded(r, err));
    if (r->options->group != PFR_REPORT_YES || r->events.nr_groups || events < 2)
        return PFR_OK;
    if (events <= WIDEST)
        return add_group(r, 0, events, NULL, err);
    note_wide(r, events);
    return PFR_OK;
}

void report_free_groups(struct report *r) {
    mem_free(r->memory, r->events.groups, r->events.groups_room, sizeof *r->events.groups);
    mem_free(r->memory, r->socket_of, r->nr_cpus, sizeof *r->socket_of);
}

/* The last group whose leader is at or before the event; NULL if there is no such group. */
static const struct report_group *group_up_to(const struct report *r, uint32_t event) {
    uint32_t from = 0, to = r->events.nr_groups;
    while (from < to) {
        const uint32_t half = from + (to - from) / 2;
        if (r->events.groups[half].leader <= event)
            from = half + 1;
        else
            to = half;
    }
    return from ? &r->events.groups[from - 1] : NULL;
}

uint32_t report_members_of(const struct report *r, uint32_t event) {
    const struct report_group *group = group_up_to(r, event);
    if (!group || event - group->leader >= group->members)
        return 1;
    return event == group->leader ? group->members : 0;
}

const char *report_group_name(const struct report *r, uint32_t leader) {
    const struct report_group *group = group_up_to(r, leader);
    return group && group->leader == leader && group->named ? group->name : NULL;
}
