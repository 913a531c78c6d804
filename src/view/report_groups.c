/* SPDX-License-Identifier: Apache-2.0 */
/* See report_groups.h. */
#include "view/report_groups.h"

#include "base/fail.h"
#include "file/recording.h"
#include "view/report_print.h"
#include "wire/feature_bits.h"

#include <string.h>

#define NO_SOCKET (-1)

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
    if (!asks_for(r, NEEDS_TOPOLOGY))
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
    void *grown = mem_grow(r->memory, r->groups, r->nr_groups, &r->groups_room, 4, sizeof *r->groups);
    if (!grown)
        return mem_fail(r->memory, err, "report");
    r->groups = grown;
    struct report_group *group = &r->groups[r->nr_groups++];
    *group = (struct report_group){.leader = leader, .members = members, .named = name != NULL};
    if (!name)
        return PFR_OK;
    const size_t length = name->length < sizeof group->name ? name->length : sizeof group->name - 1;
    memcpy(group->name, name->at, length);
    if (strcmp(group->name, "{anon_group}") == 0)
        strcpy(group->name, "anon group");
    return PFR_OK;
}

static bool overlaps(const struct report *r, uint32_t leader, uint32_t members) {
    for (uint32_t i = 0; i < r->nr_groups; i++)
        if (leader < r->groups[i].leader + r->groups[i].members && r->groups[i].leader < leader + members)
            return true;
    return false;
}

static pfr_status learn_recorded(struct report *r, pfr_error *err) {
    struct pfr_rec_feature_group_desc all;
    struct pfr_rec_group_desc_entry one;
    const uint32_t events = profile_event_count(r->reader);
    const pfr_feature *f;
    PFR_TRY(report_feature(r, BIT_GROUP_DESC, &f, err));
    if (!f || pfr_decode_feature(r->reader, f, &all, sizeof all, NULL) != PFR_OK)
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&all.groups);
    while (pfr_items_next(&it, &one, sizeof one, NULL) == PFR_OK) {
        if (one.nr_members < 2 || one.leader_idx >= events || one.nr_members > events - one.leader_idx)
            continue;
        if (!overlaps(r, one.leader_idx, one.nr_members))
            PFR_TRY(add_group(r, one.leader_idx, one.nr_members, &one.name, err));
    }
    return PFR_OK;
}

pfr_status report_learn_groups(struct report *r, pfr_error *err) {
    const uint32_t events = profile_event_count(r->reader);
    if (r->options->group == PFR_REPORT_NO)
        return PFR_OK;
    PFR_TRY(learn_recorded(r, err));
    if (r->options->group == PFR_REPORT_YES && !r->nr_groups && events > 1)
        return add_group(r, 0, events, NULL, err);
    return PFR_OK;
}

void report_free_groups(struct report *r) {
    mem_free(r->memory, r->groups, r->groups_room, sizeof *r->groups);
    mem_free(r->memory, r->socket_of, r->nr_cpus, sizeof *r->socket_of);
}

uint32_t report_members_of(const struct report *r, uint32_t event) {
    for (uint32_t i = 0; i < r->nr_groups; i++) {
        const struct report_group *group = &r->groups[i];
        if (event == group->leader)
            return group->members;
        if (event > group->leader && event - group->leader < group->members)
            return 0;
    }
    return 1;
}

const char *report_group_name(const struct report *r, uint32_t leader) {
    for (uint32_t i = 0; i < r->nr_groups; i++)
        if (r->groups[i].leader == leader)
            return r->groups[i].named ? r->groups[i].name : NULL;
    return NULL;
}
