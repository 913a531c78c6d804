/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_LATENCY_TEXT_H
#define PFR_VIEW_LATENCY_TEXT_H
/* Interface of latency_text.c; that file describes how it works. */
#include "view/latency/latency_parts.h"

pfr_status latency_write_text(const struct latency *l, pfr_output *to, pfr_error *err);

#endif
