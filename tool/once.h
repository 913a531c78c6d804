/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_ONCE_H
#define PERFRAY_TOOL_ONCE_H
#include <stdbool.h>

/* Whether once_remember was called with this name since the machine was started. Always false in programs with
   privileges beyond the user's, which do not read the file. */
bool once_was_reported(const char *name);

/* Stores that a message was printed, in the cache folder. Call it after privileges have been dropped. Errors are
   ignored. */
void once_remember(const char *name);

#endif
