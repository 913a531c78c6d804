/* SPDX-License-Identifier: Apache-2.0 */
/* See kept_trace.h. Counts are taken from the table of perfray latency, because several threads compute this table. */
#include "kept_trace.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <perfray/latency.h>
#include <perfray/reader.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include "outcome.h"

static bool old_name(char name[PATH_MAX], const char *path) {
    const int length = snprintf(name, PATH_MAX, "%s.old", path);
    return length > 0 && length < PATH_MAX;
}

bool keep_trace(const char *program, const char *path, bool *kept) {
    char old[PATH_MAX];
    struct stat facts;
    *kept = false;
    if (lstat(path, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size == 0 || !old_name(old, path))
        return true;
    *kept = rename(path, old) == 0;
    if (!*kept)
        complain_as(program, "%s: cannot rename it to %s: %s", path, old, strerror(errno));
    return *kept;
}

void restore_trace(const char *program, const char *path) {
    char old[PATH_MAX];
    if (old_name(old, path) && rename(old, path) != 0)
        complain_as(program, "%s: cannot rename %s to it: %s", path, old, strerror(errno));
}

/* "# 9001 calls in 1 thread, ..." heads the table; a line without # is the row of a function. */
static void count_line(const char *line, struct trace_counts *counts) {
    uint64_t number;
    if (counts->calls == 0 && sscanf(line, "# %" SCNu64 " call", &number) == 1)
        counts->calls = number;
    counts->functions += *line != '#';
}

static bool count_lines(int fd, struct trace_counts *counts) {
    FILE *const table = fdopen(fd, "r");
    char *line = NULL;
    size_t room = 0;
    if (!table)
        return close(fd), false;
    rewind(table);
    while (getline(&line, &room, table) > 0)
        count_line(line, counts);
    free(line);
    return fclose(table) == 0 && counts->calls > 0;
}

bool count_calls(const char *path, struct trace_counts *counts) {
    const pfr_symbol_options naming = {.size = sizeof naming};
    const pfr_latency_options how = {.size = sizeof how, .deduce = true, .naming = &naming};
    const int fd = memfd_create("perfray", MFD_CLOEXEC);
    pfr_reader *const reader = fd < 0 ? NULL : pfr_open(path, NULL, NULL);
    pfr_output *const out = reader ? pfr_output_open(fd, false, NULL) : NULL;
    *counts = (struct trace_counts){0};
    const bool printed = out && pfr_latency_print(reader, &how, out, NULL) >= 0;
    const bool closed = pfr_output_close(out, NULL) >= 0;
    pfr_close(reader);
    if (printed && closed)
        return count_lines(fd, counts);
    if (fd >= 0)
        close(fd);
    return false;
}
