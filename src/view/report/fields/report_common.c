/* SPDX-License-Identifier: Apache-2.0 */
/* Small functions that several steps of a report share. */
#include "view/report/fields/report_common.h"
#include "base/threads/thread_pool.h"
#include "view/report/fields/report_groups.h"

#define JOBS_SHARE 8u    /* all threads together may use 1 / JOBS_SHARE of the free memory */
#define JOBS_MOST 4u     /* maximum threads, unless the user asks for more */
#define JOB_NS 50000000u /* one thread is used for each such amount of expected work */

/* --- the steps --- */

unsigned report_jobs(const struct report *r, uint64_t likely_ns, size_t tasks, size_t bytes) {
    const uint64_t left = (r->memory->limit - r->memory->used) / JOBS_SHARE;
    unsigned jobs = thread_pool_size(r->options->jobs, JOBS_MOST, likely_ns, JOB_NS, tasks);
    while (jobs > 1 && bytes > left / jobs)
        jobs--;
    return jobs;
}

const struct profile_frame *report_frame(const struct report *r, uint32_t frame) {
    const uint32_t number = frame & ~NODE_APART;
    return number < r->profile->nr_frames ? &r->profile->frames[number] : NULL;
}

double report_percent(const struct report *r, uint32_t event, uint64_t weight) {
    const uint64_t total = r->events.sums.totals[event].weight;
    return total ? 100.0 * (double)weight / (double)total : 0;
}

/* A line of a group of events has an empty row, which is not in the array, for each event without samples. */
struct row_overhead row_overhead(const struct report *r, const struct row *row) {
    const struct overheads *o = &r->overheads;
    if (!o->at)
        return (struct row_overhead){row->self.weight, row->total.weight, row->system, row->user};
    if (!row->self.samples && !row->total.samples)
        return (struct row_overhead){0, 0, 0, 0};
    const uintptr_t distance = (uintptr_t)row - (uintptr_t)o->nodes;
    const bool is_node = (uintptr_t)row >= (uintptr_t)o->nodes && distance < o->nr_nodes * sizeof *row;
    return is_node ? o->of_nodes[distance / sizeof *row] : o->at[row - r->rows.at];
}

uint64_t overhead_total(const struct report *r, uint32_t event) {
    return r->overheads.totals ? r->overheads.totals[event] : r->events.sums.totals[event].weight;
}

double overhead_percent(const struct report *r, uint32_t event, uint64_t weight) {
    const uint64_t total = overhead_total(r, event);
    return total ? 100.0 * (double)weight / (double)total : 0;
}
