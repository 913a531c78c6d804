/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_FILTER_H
#define PFR_VIEW_LATENCY_FILTER_H
/* Interface of latency_filter.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

pfr_status latency_filter_read(struct latency *l, pfr_error *err);
void latency_filter_free(struct latency *l);
bool latency_wants_row(const struct latency *l, const struct latency_row *row);

#endif
