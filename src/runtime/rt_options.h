/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_RUNTIME_RT_OPTIONS_H
#define PFR_RUNTIME_RT_OPTIONS_H
/* Options of a recording: see rt_options.c. */
#include "runtime/rt_recorder.h"

/* --- rt_options.c */
void rt_options_read(struct rt_options *o, char *const *environment, const char *program);

/* Parses key=value pairs separated by blanks, ':' or ','; sets defaults for the other keys. If a word is unknown,
 * returns false and sets *wrong to the word. */
bool rt_options_parse(struct rt_options *o, const char *text, const char **wrong);

#endif
