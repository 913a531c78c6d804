/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_TOOL_STORE_SPOOL_H
#define PERFRAY_TOOL_STORE_SPOOL_H
/*
 * Recordings that wait for a store that is away, in a directory: NAME.data, a copy, and NAME.push, a line
 * KEY=VALUE for each label and number. The second gets its name last, so what was not copied whole is never pushed.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SPOOL_LABEL 256u

struct spooled {
    char service[SPOOL_LABEL], version[SPOOL_LABEL], host[SPOOL_LABEL];
    bool has_host; /* else the recorded one */
    uint64_t slot, ended;
    bool ended_is_given;
};

/* A copy of `file` with its labels. false: a message was printed. */
bool spool_keep(const char *folder, const char *file, const struct spooled *labels);

/* Calls `push` for each recording that waits, oldest name first, and removes it if that returns true; else ends there.
   false: the directory cannot be read, and a message was printed. */
typedef bool spool_push(void *context, const char *file, const struct spooled *labels);
bool spool_drain(const char *folder, spool_push *push, void *context);

#endif
