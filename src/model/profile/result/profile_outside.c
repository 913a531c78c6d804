/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel makes call chains by following frame pointers. In code compiled without frame pointers it follows
 * arbitrary values, and the return addresses are outside of any mapping. Samples with such chains are counted, and one
 * note says how to record call chains instead.
 */
#include "model/profile/result/profile_outside.h"

#include "file/read/recording.h"

#include <inttypes.h>
#include <stdio.h>

#define NOTED_PERCENT 10u /* minimum percentage for a note: every recording has a few stray addresses */

/* Whether the chains come from frame pointers: there are no stack copies, which are unwound, and no branch stacks. */
static bool has_plain_chains(const struct profile *p) {
    bool has_chains = false;
    for (uint32_t i = 0; !p->reader->trace && i < p->nr_events; i++) {
        const pfr_event *event = profile_event(p->reader, i);
        const uint64_t holds = event ? event->attr.sample_type : 0;
        if (holds & (PFR_SAMPLE_STACK_USER | PFR_SAMPLE_BRANCH_STACK))
            return false;
        has_chains = has_chains || (holds & PFR_SAMPLE_CALLCHAIN);
    }
    return has_chains;
}

static bool is_outside(const struct profile_frame *f) {
    return f->object == NO_OBJECT && f->text == NO_TEXT && f->cpumode == PFR_CPUMODE_USER;
}

static bool has_outside(const struct profile *p) {
    for (size_t i = 0; i < p->nr_frames; i++)
        if (is_outside(&p->frames[i]))
            return true;
    return false;
}

/* Counts the samples of nodes that have a caller outside of any mapping. `astray` has an element for each node; parents
   come before their children. */
static uint64_t count_astray(const struct profile *p, bool *astray, uint64_t *all) {
    uint64_t count = 0;
    for (uint32_t n = 0; n < p->nr_nodes; n++) {
        const uint32_t parent = p->nodes[n].parent;
        const bool has_caller = parent != NO_NODE && p->nodes[parent].parent != NO_NODE;
        astray[n] = parent != NO_NODE &&
                    (astray[parent] || (has_caller && is_outside(&p->frames[node_frame(&p->nodes[parent])])));
        const uint64_t samples = node_weight(&p->self, n)->samples;
        *all += samples;
        count += astray[n] ? samples : 0;
    }
    return count;
}

void profile_outside_note(const struct profile *p) {
    char text[240];
    uint64_t all = 0;
    if (!p->request.note || p->nr_nodes == 0 || !has_plain_chains(p) || !has_outside(p))
        return;
    bool *const astray = mem_zeroed(p->memory, p->nr_nodes, sizeof *astray);
    const uint64_t count = astray ? count_astray(p, astray, &all) : 0;
    mem_free(p->memory, astray, astray ? p->nr_nodes : 0, sizeof *astray);
    if (count * 100 < all * NOTED_PERCENT || count == 0)
        return;
    snprintf(text, sizeof text,
             "%" PRIu64 " of %" PRIu64
             " samples have return addresses outside any mapping: code without frame pointers; "
             "record with --call-graph dwarf",
             count, all);
    p->request.note(p->request.context, text);
}
