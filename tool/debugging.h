/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_DEBUGGING_H
#define PERFRAY_TOOL_DEBUGGING_H
/* Hooks for tests, by environment variables: PERFRAY_SIZES and PERFRAY_HASH_SEED (perfray/debug.h). */
#include <stdbool.h>

/* Call this before any other function of the library. Returns false, after a message, if a variable is invalid. */
bool apply_debug_variables(void);

#endif
