/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_SELECTED_SAMPLES_H
#define PFR_QUERY_SELECTED_SAMPLES_H
/* The selected samples of a recording: the lists of a pfr_selection, parsed once into numbers. */
#include "query/sample_filter.h"

#include <perfray/export.h>

/* The lists as numbers. */
struct choice {
    struct sample_filter filter;
    bool *events; /* by event; NULL: all, or only those called `event` */
    uint32_t nr_events;
    const char *event; /* of a stream, whose events are known only once it is loaded; else NULL */
    const pfr_reader *reader;
    pfr_reader *waits; /* whose waits are counted (wait_event.h); NULL */
};

/* < 0: USAGE, *err; choice_free is required nevertheless, before the reader is used for anything else. */
pfr_status choice_read(struct choice *c, const pfr_selection *of, pfr_reader *reader, struct memory *memory,
                       pfr_error *err);
void choice_free(struct choice *c);
/* After the load: USAGE if a stream has no event of the name that was asked for. */
pfr_status choice_check(const struct choice *c, pfr_error *err);
/* Whether all samples are selected, as far as known before they are read: comms are not checked here. */
bool choice_is_everything(const struct choice *c);
/* By the number of its event, from 0. */
bool choice_wants_event(const struct choice *c, uint32_t event);
bool choice_wants(const struct choice *c, const struct profile_sample *sample);

#endif
