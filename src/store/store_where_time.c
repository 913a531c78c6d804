/* SPDX-License-Identifier: Apache-2.0 */
/* Points in time in expressions. */
#include "store/store_where_time.h"

#include "base/text/text.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static bool read_ago(const char *text, uint64_t now, uint64_t *time) {
    uint64_t ago;
    if (!parse_duration(text, &ago))
        return false;
    *time = now > ago ? now - ago : 0;
    return true;
}

/* "2026-11-28", "2026-11-28 12:00", "2026-11-28T12:00:30Z": UTC. */
static bool read_date(const char *text, uint64_t *time) {
    static const char *const forms[] = {"%Y-%m-%d", "%Y-%m-%d %H:%M", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M",
                                        "%Y-%m-%dT%H:%M:%S"};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm tm = {0};
        const char *const end = strptime(text, forms[i], &tm);
        if (!end || (*end && strcmp(end, "Z") != 0))
            continue;
        const time_t seconds = timegm(&tm);
        if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / SECOND_NS)
            return false;
        *time = (uint64_t)seconds * SECOND_NS;
        return true;
    }
    return false;
}

bool where_time_read(const char *text, uint64_t now, uint64_t *time) {
    const uint64_t today = now - now % DAY_NS;
    if (strcmp(text, "now") == 0)
        return *time = now, true;
    if (strcmp(text, "today") == 0)
        return *time = today, true;
    if (strcmp(text, "yesterday") == 0)
        return *time = today > DAY_NS ? today - DAY_NS : 0, true;
    if (*text == '-')
        return read_ago(text + 1, now, time);
    if (*text == '@')
        return parse_seconds(text + 1, time);
    return read_date(text, time);
}

void where_time_write(uint64_t time, char to[WHERE_TIME_ROOM]) {
    const time_t seconds = (time_t)(time / SECOND_NS);
    struct tm tm;
    if (!time || !gmtime_r(&seconds, &tm) || !strftime(to, WHERE_TIME_ROOM, "%Y-%m-%dT%H:%M:%SZ", &tm))
        snprintf(to, WHERE_TIME_ROOM, "-");
}
