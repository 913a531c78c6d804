/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_OFF_CPU_H
#define PERFRAY_TOOL_OFF_CPU_H
/* record --off-cpu: the events that say why threads wait, as far as this user may have them. */
#include <perfray/sampling.h>
#include "options.h"

#define OFF_CPU_EVENTS_MOST 64u

struct off_cpu {
    const char *events[OFF_CPU_EVENTS_MOST + 1], *filters[OFF_CPU_EVENTS_MOST + 1];
};

/* Adds them to what is to be recorded; how->note gets which they are, and what is missing. `lists` must outlive
   `how`. false: there are too many events, which is reported. */
bool off_cpu_add(pfr_recorder_options *how, struct off_cpu *lists);

#endif
