/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_FILTER_H
#define PFR_VIEW_REPORT_FILTER_H
/* Interface of report_filter.c; that file describes how it works. */
#include "view/report/fields/report_parts.h"

/* The option --event: report_wants_event tells whether samples of an event count; filter_check_event returns an error
   if there is no event of the given name. */
bool report_wants_event(const struct report *r, uint32_t number);
pfr_status filter_check_event(const struct report *r, pfr_error *err);

/* Whether samples of the group and frame are rows. */
bool filter_keeps(const struct report *r, const struct profile_group *group, uint32_t frame);

/* filter_keeps_row applies --symbol-filter, which tests the name of a row. filter_totals saves the totals in
   r->events.sums.before; with --symbol-filter and --percentage relative, it then makes them the totals of the rows that
   are kept. */
bool filter_keeps_row(const struct report *r, const struct row *row);
void filter_totals(struct report *r);
pfr_status filter_choose(struct report *r, pfr_error *err);

/* Reads -C, --time and --switch-on. They select samples while the samples are counted. */
pfr_status filter_choose_samples(struct report *r, pfr_error *err);
void filter_free(struct report *r);
uint32_t filter_keys_needed(const struct report *r, bool *frames);

#endif
