/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DIFF_LACKING_H
#define PFR_MODEL_DIFF_LACKING_H
/* Interface of diff_lacking.c, which describes how it works. */
#include <perfray/diff.h>
#include <perfray/samples.h>

/* All recordings of a comparison: [0] the base, [1] the new side. */
struct diff_recordings {
    const pfr_diff_run *runs[2];
    uint32_t count[2];
};

/* Whether the recording has samples of the event. */
bool diff_has_event(const pfr_model *model, const char *name);
/* The recording's first event with samples; NULL: there is none. */
const char *diff_first_event(const pfr_model *model);
/* Receives an event and a text with the recordings that lack it: "2 of 3 recordings of the base (a.data, b.data)". */
typedef pfr_status diff_lacking(void *context, const char *event, const char *without, pfr_error *err);
/* Calls `each` for the events of which some recordings have samples and others do not, but for at most
   DIFF_LACKING_MOST events; *more is the number of such events that were left out. */
#define DIFF_LACKING_MOST 8u
pfr_status diff_each_lacking(const struct diff_recordings *all, diff_lacking *each, void *context, uint32_t *more,
                             pfr_error *err);

#endif
