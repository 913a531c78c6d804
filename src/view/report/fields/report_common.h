/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_COMMON_H
#define PFR_VIEW_REPORT_COMMON_H
/* Interface of report_common.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

const struct profile_frame *report_frame(const struct report *r, uint32_t frame);

/* Returns the number of threads to use for `tasks` tasks. All tasks together take about likely_ns on one thread; each
 * thread needs `bytes` of memory. */
unsigned report_jobs(const struct report *r, uint64_t likely_ns, size_t tasks, size_t bytes);
double report_percent(const struct report *r, uint32_t event, uint64_t weight);

/* Returns the undivided weights of a row if --latency is given; otherwise the weights of the row. */
struct row_overhead row_overhead(const struct report *r, const struct row *row);
uint64_t overhead_total(const struct report *r, uint32_t event);
double overhead_percent(const struct report *r, uint32_t event, uint64_t weight);

#endif
