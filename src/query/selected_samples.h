/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_QUERY_SELECTED_SAMPLES_H
#define PFR_QUERY_SELECTED_SAMPLES_H
/* The selected samples of a recording: the lists of a pfr_selection, parsed once into numbers. */
#include "query/sample_filter.h"

#include <perfray/export.h>

/* The lists as numbers. */
struct choice {
    struct sample_filter filter;
    bool *events; /* by event: whether it is selected; NULL: all events, or only those named `event` */
    uint32_t nr_events;
    const char *event; /* for a stream: the name that choice_check looks for when all events are known; else NULL */
    const pfr_reader *reader;
    pfr_reader *waits; /* reader whose waits are counted (wait_event.h), or NULL */
};

/* < 0: *err (USAGE). Call choice_free even then, before the reader is used for anything else. */
pfr_status choice_read(struct choice *c, const pfr_selection *of, pfr_reader *reader, struct memory *memory,
                       pfr_error *err);
void choice_free(struct choice *c);
/* Call it after loading: USAGE if a stream has no event with the requested name. */
pfr_status choice_check(const struct choice *c, pfr_error *err);
/* Whether all samples are selected, as far as that is known before they are read: comms are not checked. */
bool choice_is_everything(const struct choice *c);
/* Whether an event is selected, by its number from 0. */
bool choice_wants_event(const struct choice *c, uint32_t event);
bool choice_wants(const struct choice *c, const struct profile_sample *sample);

#endif
