/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_WHERE_TIME_H
#define PFR_STORE_STORE_WHERE_TIME_H
#include "store/store_parts.h"

/* Converts "-90m", "-1d", "2026-11-28 12:00", "now", "today", "yesterday", "@SECONDS" to ns since 1970. Returns false
   if the text is not a time. */
bool where_time_read(const char *text, uint64_t now, uint64_t *time);

#define WHERE_TIME_ROOM 32u
/* "2026-11-28T12:00:00Z"; "-" for 0. */
void where_time_write(uint64_t time, char to[WHERE_TIME_ROOM]);

#endif
