/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_ONCE_H
#define PERFRAY_TOOL_ONCE_H
#include <stdbool.h>

/* Whether once_remember was called with this name since the machine was started. Programs with privileges beyond the
   user's read no file for it: false. */
bool once_was_told(const char *name);

/* Keeps that in the cache folder. Call it when privileges have been dropped; what fails is no failure of the command.
 */
void once_remember(const char *name);

#endif
