/* SPDX-License-Identifier: Apache-2.0 */
/* See full_trace.h. The time that the trace covers is taken from the header that perfray latency prints, the numbers of
   calls from its CSV form. */
#include "full_trace.h"

#include <perfray/latency.h>
#include <perfray/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include "outcome.h"

#define TEXT_ROOM 8192u
#define BUSIEST 3u
#define NAME_ROOM 120u

/* Writes what latency prints with these options, truncated, to `text`. Returns false if the trace cannot be read. */
static bool print_into(char text[TEXT_ROOM], const char *path, pfr_latency_format format) {
    const pfr_latency_options how = {.size = sizeof how, .format = format, .sort = "count", .top = BUSIEST};
    const int fd = memfd_create("perfray", MFD_CLOEXEC);
    pfr_reader *const reader = fd < 0 ? NULL : pfr_open(path, NULL, NULL);
    pfr_output *const out = reader ? pfr_output_open(fd, false, NULL) : NULL;
    const bool printed = out && pfr_latency_print(reader, &how, out, NULL) >= 0;
    const bool closed = pfr_output_close(out, NULL) >= 0;
    const ssize_t length = printed && closed ? pread(fd, text, TEXT_ROOM - 1, 0) : -1;
    pfr_close(reader);
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* Returns 0.0421 for "# 57259 calls in 1 thread, 42.1ms from first to last"; 0: no time was found. */
static double seconds_covered(const char *text) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
    const char *const words = strstr(text, " from first to last\n");
    const char *at = words;
    while (at && at > text && at[-1] != ' ')
        at--;
    char *end = NULL;
    const double number = at ? strtod(at, &end) : 0;
    for (size_t i = 0; at && i < sizeof units / sizeof *units; i++)
        if ((size_t)(words - end) == strlen(units[i].name) && strncmp(end, units[i].name, strlen(units[i].name)) == 0)
            return number * units[i].seconds;
    return 0;
}

static void report_share(const char *program, const char *path, double seconds) {
    char text[TEXT_ROOM];
    const double covered = print_into(text, path, PFR_LATENCY_TEXT) ? seconds_covered(text) : 0;
    if (covered > 0 && covered < seconds)
        complain_as(program, "%s: the trace and the table cover only %.3g of %.3g s (%.0f %%)", path, covered, seconds,
                    100 * covered / seconds);
}

/* A row of CSV: id,"function","object",count,... */
struct busy {
    char name[NAME_ROOM];
    unsigned long long count;
};

static const char *read_busy(const char *row, struct busy *busy) {
    const char *at = strchr(row, '"'), *object, *const end = strchr(row, '\n');
    size_t used = 0;
    if (!at || !end)
        return NULL;
    for (at++; *at && (*at != '"' || at[1] == '"'); at++) {
        at += *at == '"';
        if (used + 1 < sizeof busy->name)
            busy->name[used++] = *at;
    }
    busy->name[used] = '\0';
    object = strstr(at, "\",\"");
    const char *const count = object ? strstr(object + 3, "\",") : strstr(at, "\",,");
    busy->count = count ? strtoull(count + (object ? 2 : 3), NULL, 10) : 0;
    return end + 1;
}

static void report_busiest(const char *program, const char *path) {
    char text[TEXT_ROOM], list[3 * NAME_ROOM + 100] = "", names[3 * NAME_ROOM + 10] = "";
    struct busy busy;
    const char *row = print_into(text, path, PFR_LATENCY_CSV) ? strchr(text, '\n') : NULL;
    if (!row)
        return;
    row++;
    for (unsigned i = 0; i < BUSIEST && *row && (row = read_busy(row, &busy)) != NULL; i++) {
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s (%llu)", i ? ", " : "", busy.name, busy.count);
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%s", i ? "," : "", busy.name);
    }
    complain_as(program,
                "most calls: %s; to omit them use --exclude NAME, --time-filter 1us (short calls), or compile with "
                "-finstrument-functions-exclude-function-list=%s",
                list, names);
}

void report_full_trace(const char *program, const char *path, double seconds) {
    report_share(program, path, seconds);
    report_busiest(program, path);
}
