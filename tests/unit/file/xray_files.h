/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_XRAY_FILES_H
#define PFR_TESTS_XRAY_FILES_H
/*
 * Gives access to the traces of tests/fixtures/xray (made by tests/support/xray_files.py), and builds small
 * little-endian traces of version 5 in memory, without the tables of src/wire.
 */
#include "recorded_files.h"
#include "recording_builder.h"

#include <perfray/trace.h>

static inline unsigned each_trace_in(const char *name, void (*use)(const char *path, void *context), void *context) {
    char folder[RECORDED_PATH], path[RECORDED_PATH + 300];
    unsigned count = 0;
    DIR *dir = opendir(recorded_path(folder, name));
    assert_non_null(dir);
    for (struct dirent *e; (e = readdir(dir));) {
        if (e->d_name[0] == '.')
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        use(path, context);
        count++;
    }
    closedir(dir);
    return count;
}

/* Calls `use` with the path of every trace; returns how many there were. */
static inline unsigned each_trace(void (*use)(const char *path, void *context), void *context) {
    return each_trace_in("../xray", use, context);
}

/* The same for tests/fixtures/recorder, with traces as perfray's runtime leaves them
   (tests/support/recorder_files.py). */
static inline unsigned each_recorder_trace(void (*use)(const char *path, void *context), void *context) {
    return each_trace_in("../recorder", use, context);
}

static inline void put_xray_header(struct builder *b, unsigned version, uint64_t buffer_size) {
    put_number(b, version, 2);
    put_number(b, 1, 2);
    put_number(b, 3, 4);
    put_number(b, 1000000000, 8);
    put_number(b, buffer_size, 8);
    put_number(b, 0, 8);
}

/* Adds a metadata record with a first member of `width` bytes, and a second one of 8 bytes, or as many as fit. */
static inline void put_metadata(struct builder *b, unsigned kind, uint64_t first, unsigned width, uint64_t second) {
    const size_t begin = b->length;
    put_number(b, kind << 1 | 1, 1);
    put_number(b, first, width);
    put_number(b, second, width > 7 ? 15 - width : 8);
    put_room(b, 16 - (b->length - begin));
}

static inline void put_call(struct builder *b, unsigned action, uint32_t function, uint32_t delta) {
    put_number(b, (uint64_t)function << 4 | action << 1, 4);
    put_number(b, delta, 4);
}

/* Adds extents for `size` bytes plus the 64 bytes at the start of a buffer of version 5. */
static inline void put_extents(struct builder *b, uint64_t size) {
    put_metadata(b, 7, 0, 4, 0);
    set_number(b, b->bytes + b->length - 15, size, 8);
}

static inline void put_preamble(struct builder *b, uint32_t tid, uint64_t tsc) {
    put_metadata(b, 0, tid, 4, 0);
    put_metadata(b, 4, 5, 8, 250);
    put_metadata(b, 9, 77, 4, 0);
    put_metadata(b, 2, 3, 2, tsc);
}

#endif
