/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_SELECTED_SAMPLES_H
#define PFR_QUERY_SELECTED_SAMPLES_H
/* Which samples of a recording are wanted: the lists of a pfr_selection, read once into numbers. */
#include "query/sample_filter.h"

#include <perfray/export.h>

/* Which samples count: what a text says, as numbers. */
struct choice {
    struct sample_filter filter;
    bool *events; /* by event; NULL: all */
    uint32_t nr_events;
};

/* < 0: USAGE, *err; choice_free all the same. */
pfr_status choice_read(struct choice *c, const pfr_selection *of, pfr_reader *reader, struct memory *memory,
                       pfr_error *err);
void choice_free(struct choice *c);
/* Whether all samples are wanted, as far as is known before they are looked at: comms are not asked here. */
bool choice_is_everything(const struct choice *c);
bool choice_wants(const struct choice *c, const struct profile_sample *sample);

#endif
