/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_DEBUGGING_H
#define PERFRAY_TOOL_DEBUGGING_H
/* Hooks for tests, by environment variables: PERFRAY_SIZES and PERFRAY_HASH_SEED (perfray/debug.h). */
#include <stdbool.h>

/* Before anything else of the library is called. false: a variable makes no sense, which was reported. */
bool apply_debug_variables(void);

#endif
