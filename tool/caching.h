/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_CACHING_H
#define PERFRAY_TOOL_CACHING_H
/* Where verbs keep what they found out: the row of --no-cache, for a struct with a member `cache` that is true at
   first, and the folder. */
#include "command.h"

#define CACHE_ROW_AT(place)                                                                                            \
    { "no-cache", 0, OPT_CLEAR, place, NULL, "do not use the cache of source lines and kernel symbols" }
#define CACHE_ROW(type) CACHE_ROW_AT(offsetof(type, naming.cache))

/* $XDG_CACHE_HOME/perfray, else ~/.cache/perfray; NULL: there is neither, or it is not wished for. Valid until the next
 * call. */
const char *cache_folder(bool wanted);

#endif
