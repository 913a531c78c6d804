/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_OFF_CPU_H
#define PERFRAY_TOOL_OFF_CPU_H
/* record --off-cpu: adds the events that show why threads wait, as far as this user is permitted to record them. */
#include <perfray/sampling.h>
#include "options.h"

#define OFF_CPU_EVENTS_MOST 64u

struct off_cpu {
    const char *events[OFF_CPU_EVENTS_MOST + 1], *filters[OFF_CPU_EVENTS_MOST + 1];
};

/* Adds these events to `how`, and passes notes about the added and the missing events to how->note. `lists` must
   outlive `how`. Returns false, after a message, if there are too many events. */
bool off_cpu_add(pfr_recorder_options *how, struct off_cpu *lists);

#endif
