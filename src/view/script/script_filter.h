/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_FILTER_H
#define PFR_VIEW_SCRIPT_FILTER_H
/* Interface of script_filter.c; that file describes how it works. */
#include "view/script/script_parts.h"

/* Parses the options that select CPUs, threads and times. */
pfr_status script_filter_make(struct script *s, pfr_error *err);
void script_filter_free(struct script *s);
bool script_passes(struct script *s, const struct moment *m);

static inline bool script_wants(struct script *s, const struct moment *m) {
    return s->shared->filter.any || script_passes(s, m);
}

/* Whether a callchain is cut at this address. */
bool script_stops_at(struct script *s, const struct moment *m, unsigned cpumode, uint64_t address);

/* Filters lines of records other than samples; as in perf, only by CPU. */
bool script_wants_cpu(const struct script *s, const struct moment *m);

#endif
