/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_WAIT_EVENT_H
#define PFR_MODEL_WAIT_EVENT_H
/*
 * Makes the event offcpu-time of a recording that shows when threads ran:
 *
 *     wait_event_begin(reader, options->event, note, context, &err);    nothing to do for any other event
 *     ... profile_load(&p, reader, ...) ...
 *     wait_event_end(reader);
 *
 * An event that was recorded under this name, as by perf record --off-cpu, is used as it is.
 */
#include <perfray/reader.h>

/* Reads the recording once and rewinds it; a stream must have been spooled. PFR_ERR_USAGE: the recording does not show
   when threads ran. `note` may be NULL. wait_event_end is allowed, but not required, after a failure. */
pfr_status wait_event_begin(pfr_reader *reader, const char *event, void (*note)(void *context, const char *sentence),
                            void *context, pfr_error *err);
void wait_event_end(pfr_reader *reader);

#endif
