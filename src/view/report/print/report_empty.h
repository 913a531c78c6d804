/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_REPORT_EMPTY_H
#define PFR_VIEW_REPORT_EMPTY_H
#include "view/report/fields/report_parts.h"

/* Notes why a report has no rows. */
void report_note_empty(const struct report *r);
/* Notes, with the option hints, that most samples have no function name. */
void report_note_unnamed(const struct report *r);
/* Number of samples of all events, before rows are filtered. */
uint64_t report_samples(const struct report *r);

#endif
