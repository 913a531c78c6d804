/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_CACHING_H
#define PERFRAY_TOOL_CACHING_H
/* The cache of the commands: its folder, and the option row of --no-cache, for a struct with a member `cache` that is
   initially true. */
#include "command.h"

#define CACHE_ROW_AT(place)                                                                                            \
    { "no-cache", 0, OPT_CLEAR, place, NULL, "do not use the cache of source lines and kernel symbols" }
#define CACHE_ROW(type) CACHE_ROW_AT(offsetof(type, naming.cache))

/* $XDG_CACHE_HOME/perfray, otherwise ~/.cache/perfray. NULL: there is no such folder, or the cache is not `wanted`.
 * Valid until the next call. */
const char *cache_folder(bool wanted);

#endif
