/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_STORE_SPOOL_H
#define PERFRAY_TOOL_STORE_SPOOL_H
/*
 * A directory of recordings for a store that cannot be reached now. NAME.data is a copy of the recording, and NAME.push
 * has a line KEY=VALUE for each label and number. NAME.push gets its name last, so incomplete copies are never pushed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_LABEL 256u

struct spooled {
    char service[SPOOL_LABEL], version[SPOOL_LABEL], host[SPOOL_LABEL];
    bool has_host; /* a host was given; false: the recorded host is used */
    uint64_t slot, ended;
    bool ended_is_given;
};

/* Stores a copy of `file` and its labels. Returns false if a message was printed. */
bool spool_keep(const char *folder, const char *file, const struct spooled *labels);

/* Calls `push` for each waiting recording, oldest name first, and removes the recording if the result is true; stops at
   the first false. Returns false, after a message, if the directory cannot be read. */
typedef bool spool_push(void *context, const char *file, const struct spooled *labels);
bool spool_drain(const char *folder, spool_push *push, void *context);

#endif
