/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENT_NAME_H
#define PFR_FILE_EVENT_NAME_H
/* What other files use of event_name.c, which says how it works. */
#include "file/read/recording.h"

/* The name, in the arena; NULL: out of memory */
const char *event_name_make(pfr_reader *r, const struct pfr_rec_attr *attr);

/* What its periods count: "ns" for the clocks of the kernel, a recorded unit without a factor; NULL: what its name
 * says. */
const char *event_unit(const pfr_event *event);

#endif
