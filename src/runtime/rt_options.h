/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_OPTIONS_H
#define PFR_RUNTIME_RT_OPTIONS_H
/* What other files use of rt_options.c, which says how it works. */
#include "runtime/rt_recorder.h"

/* --- rt_options.c */
void rt_options_read(struct rt_options *o, char *const *environment, const char *program);

/* key=value, blank, ':' or ',' between, and the usual for the rest; false: the word at *wrong is not known. */
bool rt_options_parse(struct rt_options *o, const char *text, const char **wrong);

#endif
