/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_FORMATS_H
#define PFR_VIEW_LATENCY_FORMATS_H
/* Interface of latency_formats.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

void latency_write_csv(const struct latency *l, pfr_output *to);
pfr_status latency_write_json(const struct latency *l, pfr_output *to, pfr_error *err);

#endif
