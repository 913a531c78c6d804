/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the names that a just-in-time compiler writes for its code, /tmp/perf-PID.map. A line is
 *
 *  7f3a10002000 1c0 LazyCompile:~add /srv/app.js:12
 *
 * address and size in hexadecimal, then the name to the end of the line. Code is discarded and its memory reused, so
 * later lines take precedence. Anybody may create files in /tmp, so the file must be a regular file and not a link, and
 * must belong to the process's user, to root or to this user. The file is read in one pass, up to a limit. Lines that
 * are not symbols are skipped, such as the last line of a process that was killed.
 */
#include <unistd.h>
#include "symbol/table/regular_file.h"
#include "symbol/table/symbol_handle.h"

#define PERF_MAP_BYTES_MOST ((uint64_t)1 << 30)

static bool may_belong_to(uid_t owner, const struct symbol_object *object) {
    return owner == (uid_t)object->owner || owner == 0 || owner == geteuid();
}

static enum symbol_result open_perf_map(const struct symbol_object *object, int *fd, uint64_t *size) {
    struct stat facts;
    const enum symbol_result result = open_regular(object->path, OPEN_NO_LINK, fd, &facts);
    *size = result == SYMBOL_FOUND ? (uint64_t)facts.st_size : 0;
    if (result != SYMBOL_FOUND)
        return result;
    const bool owned = may_belong_to(facts.st_uid, object);
    if (owned && (uint64_t)facts.st_size <= PERF_MAP_BYTES_MOST)
        return SYMBOL_FOUND;
    close(*fd);
    return owned ? SYMBOL_LIMIT : SYMBOL_NOT_PERMITTED;
}

static enum symbol_result read_jit_symbol(struct symbol_table *table, const char *line, const char *end) {
    uint64_t start, size;
    if (!take_hex(&line, end, &start) || !take_hex(&line, end, &size))
        return SYMBOL_FOUND;
    while (end > line && end[-1] == '\r')
        end--;
    if (line == end)
        return SYMBOL_FOUND;
    const struct table_entry entry = {.name = line, .name_length = (uint32_t)(end - line), .start = start};
    return table_add(table, entry, size ? size : 1);
}

static enum symbol_result load_perf_map(struct symbol_handle *handle, int fd) {
    struct line_reader lines;
    enum symbol_result result = line_reader_start(&lines, fd, PERF_MAP_BYTES_MOST, handle->memory);
    while (result == SYMBOL_FOUND) {
        const char *line;
        size_t length;
        result = line_reader_next(&lines, &line, &length);
        if (result == SYMBOL_FOUND)
            result = read_jit_symbol(&handle->table, line, line + length);
    }
    if (lines.buffer)
        line_reader_end(&lines);
    return result == SYMBOL_NO_MATCH ? table_finish(&handle->table, TABLE_LAST) : result;
}

static enum symbol_result perf_map_open(const struct symbol_object *object, struct memory *memory,
                                        struct symbol_handle **handle) {
    int fd;
    uint64_t size;
    *handle = NULL;
    enum symbol_result result = open_perf_map(object, &fd, &size);
    if (result != SYMBOL_FOUND)
        return result;
    result = handle_new(memory, sizeof **handle, handle);
    if (result == SYMBOL_FOUND) {
        (*handle)->size = size;
        result = handle_settle(handle, load_perf_map(*handle, fd), handle_close);
    }
    close(fd);
    return result;
}

const struct symbol_source perf_map_symbol_source = {
    "perf-map", perf_map_open, handle_find, handle_segments, handle_build_id, handle_size, NULL, handle_close,
};
