/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A symbol list of a just-in-time compiler. The list must be a file with its own name, not a link, so it is written to
 * the temporary directory and removed at once.
 */
#include "fuzz_symbols.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LINES_MOST 256u

static void write_map(char path[256], const uint8_t *bytes, size_t length) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, 256, "%.200s/perfray-fuzz-%d.map", folder ? folder : "/tmp", (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    LAW(fd >= 0, "%s cannot be made", path);
    LAW(write(fd, bytes, length) == (ssize_t)length, "no room for %zu bytes", length);
    close(fd);
}

/* Start and last byte of each line. */
static size_t find_addresses(const uint8_t *bytes, size_t length, uint64_t addresses[2 * LINES_MOST]) {
    size_t count = 0;
    char line[48] = {0}, *end;
    for (size_t at = 0; at + sizeof line < length && count < 2 * LINES_MOST; at++) {
        if (at > 0 && bytes[at - 1] != '\n')
            continue;
        memcpy(line, bytes + at, sizeof line - 1);
        addresses[count] = strtoull(line, &end, 16);
        addresses[count + 1] = addresses[count] + strtoull(end, NULL, 16) - 1;
        count += 2;
    }
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint64_t addresses[2 * LINES_MOST];
    char path[256];
    write_map(path, bytes, length);
    const struct symbol_object object = {.kind = SYMBOL_JIT, .path = path, .owner = (uint32_t)getuid()};
    fuzz_symbols(&perf_map_symbol_source, &object, addresses, find_addresses(bytes, length, addresses));
    unlink(path);
    return 0;
}
