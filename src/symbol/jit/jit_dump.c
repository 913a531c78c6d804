/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the records of a jitdump; see jit_dump.h, and tools/perf/Documentation/jitdump-specification.txt in the
 * kernel's sources for the layouts. A record is limited by its own length. A record that contradicts itself is skipped
 * and counted; a record with an impossible length ends the dump.
 */
#include "symbol/jit/jit_dump.h"

#include "base/tables/hashmap.h"
#include "base/memory/cursor.h"
#include "symbol/jit/byte_window.h"
#include "symbol/table/regular_file.h"
#include "symbol/table/symbol_handle.h"

#include <string.h>
#include <unistd.h>

#define MAGIC 0x4A695444u
#define HEADER_SIZE 40u
#define BY_CPU_CLOCK 1u /* flag in the header */
#define RECORD_HEADER 16u
#define SAME_FILE "\xff" /* a line with this name has the file of the previous line */

enum { RECORD_LOAD, RECORD_MOVE, RECORD_DEBUG_INFO, RECORD_CLOSE, RECORD_UNWINDING_INFO, RECORD_TYPES };

struct jit_reading {
    struct byte_window window;
    uint64_t next;          /* offset of the next record */
    uint64_t time;          /* time of the current record */
    struct u64_map code_of; /* number given by the compiler -> index in `codes` */
    /* Lines and frames that earlier records announced for the next LOAD. */
    uint64_t lines_address;
    const uint8_t *frames;
    uint32_t lines_from, frames_size;
    bool ended;
};

bool jit_dump_is_named(const char *path, size_t length) {
    static const char front[] = "jit-", back[] = ".dump";
    const char *slash = memrchr(path, '/', length);
    const char *at = slash ? slash + 1 : path, *end = path + length;
    if ((size_t)(end - at) < sizeof front + sizeof back - 1 || memcmp(at, front, 4) != 0 ||
        memcmp(end - 5, back, 5) != 0)
        return false;
    for (at += 4, end -= 5; at < end; at++)
        if (*at < '0' || *at > '9')
            return false;
    return true;
}

/* --- One record. FOUND: the record was read; NO_MATCH: the record contradicts itself; other results end the dump. */

static enum symbol_result take_numbers(struct jit_dump *d, size_t size, struct cursor *in) {
    const uint8_t *bytes;
    const enum symbol_result result = byte_window_take(&d->reading->window, size, &bytes);
    *in = cursor_on(result == SYMBOL_FOUND ? bytes : NULL, result == SYMBOL_FOUND ? size : 0, 0, d->swap);
    return result;
}

/* Estimated bytes per change. Measured: a change, its code, the hashed name and the model's map of it take 265
   bytes. */
#define CHANGE_TAKES 256u

static enum symbol_result take_name(struct jit_dump *d, uint32_t *name) {
    const char *text;
    size_t length;
    const enum symbol_result result = byte_window_text(&d->reading->window, &text, &length);
    if (result == SYMBOL_LIMIT)
        return SYMBOL_NO_MATCH;
    if (result != SYMBOL_FOUND)
        return result;
    d->name_bytes += length;
    d->taken += length;
    return intern_put(&d->names, text, length, name, NULL) < 0 ? table_memory_result(d->memory) : SYMBOL_FOUND;
}

static enum symbol_result add_change(struct jit_dump *d, uint64_t address, uint64_t size, uint32_t code) {
    if (d->nr_changes >= 2 * (size_t)SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    if (d->nr_changes == d->changes_room) {
        void *more = mem_grow(d->memory, d->changes, d->nr_changes, &d->changes_room, 64, sizeof *d->changes);
        if (!more)
            return table_memory_result(d->memory);
        d->changes = more;
    }
    d->changes[d->nr_changes++] = (struct jit_change){d->reading->time, address, size, code};
    d->taken += CHANGE_TAKES;
    return SYMBOL_FOUND;
}

static void forget_announced(struct jit_dump *d) {
    d->reading->lines_from = (uint32_t)d->nr_lines;
    d->reading->frames_size = 0;
}

static enum symbol_result add_code(struct jit_dump *d, const struct jit_code *code, uint64_t number) {
    if (d->nr_codes >= SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    if (d->nr_codes == d->codes_room) {
        void *more = mem_grow(d->memory, d->codes, d->nr_codes, &d->codes_room, 64, sizeof *d->codes);
        if (!more)
            return table_memory_result(d->memory);
        d->codes = more;
    }
    uint64_t *at = u64_map_at(&d->reading->code_of, number, 0, NULL);
    if (!at)
        return table_memory_result(d->memory);
    *at = d->nr_codes;
    d->codes[d->nr_codes++] = *code;
    return add_change(d, code->address, code->size, (uint32_t)d->nr_codes - 1);
}

/* Assigns announced lines and frames to a code; lines for another address are dropped. */
static void take_announced(struct jit_dump *d, struct jit_code *code) {
    const struct jit_reading *r = d->reading;
    if (r->lines_address != code->address)
        d->nr_lines = r->lines_from;
    code->line = r->lines_from;
    code->nr_lines = (uint32_t)d->nr_lines - r->lines_from;
    code->frames = r->frames;
    code->frames_size = r->frames_size;
    for (uint32_t i = 0; i < code->nr_lines; i++)
        if (d->lines[code->line + i].from < d->nearest_line)
            d->nearest_line = d->lines[code->line + i].from;
    forget_announced(d);
}

static enum symbol_result read_load(struct jit_dump *d) {
    struct jit_code code = {0};
    struct cursor in;
    uint64_t ids, mapped, number;
    enum symbol_result result = take_numbers(d, 40, &in);
    if (result != SYMBOL_FOUND || !take_u64(&in, &ids) || !take_u64(&in, &mapped) || !take_u64(&in, &code.address) ||
        !take_u64(&in, &code.size) || !take_u64(&in, &number))
        return result;
    result = take_name(d, &code.name);
    if (result != SYMBOL_FOUND)
        return result;
    code.offset = d->reading->window.at;
    if (!byte_window_skip(&d->reading->window, code.size))
        return SYMBOL_NO_MATCH;
    take_announced(d, &code);
    return code.size ? add_code(d, &code, number) : SYMBOL_FOUND;
}

static enum symbol_result read_move(struct jit_dump *d) {
    struct cursor in;
    uint64_t ids, mapped, from, to, size, number, code;
    enum symbol_result result = take_numbers(d, 48, &in);
    if (result != SYMBOL_FOUND || !take_u64(&in, &ids) || !take_u64(&in, &mapped) || !take_u64(&in, &from) ||
        !take_u64(&in, &to) || !take_u64(&in, &size) || !take_u64(&in, &number))
        return result;
    if (!u64_map_get(&d->reading->code_of, number, &code) || size > d->codes[code].size)
        return SYMBOL_NO_MATCH;
    result = add_change(d, from, size, JIT_GONE);
    return result == SYMBOL_FOUND ? add_change(d, to, size, (uint32_t)code) : result;
}

static enum symbol_result add_line(struct jit_dump *d, const struct jit_line *line) {
    if (d->nr_lines >= UINT32_MAX / 2)
        return SYMBOL_LIMIT;
    if (d->nr_lines == d->lines_room) {
        void *more = mem_grow(d->memory, d->lines, d->nr_lines, &d->lines_room, 64, sizeof *d->lines);
        if (!more)
            return table_memory_result(d->memory);
        d->lines = more;
    }
    d->lines[d->nr_lines++] = *line;
    d->taken += 2 * sizeof *d->lines;
    return SYMBOL_FOUND;
}

/* Reads a line of the code at `base`. *line is the previous line, in case the new one has the same file. */
static enum symbol_result read_line(struct jit_dump *d, uint64_t base, struct jit_line *line) {
    struct cursor in;
    uint64_t address;
    uint32_t file;
    enum symbol_result result = take_numbers(d, 16, &in);
    if (result != SYMBOL_FOUND || !take_u64(&in, &address) || !take_u32(&in, &line->line))
        return result;
    result = take_name(d, &file);
    if (result != SYMBOL_FOUND)
        return result;
    if (strcmp(intern_chars(&d->names, file), SAME_FILE) != 0)
        line->file = file;
    if (address < base || address - base > UINT32_MAX || (line->from > address - base) || line->file == INTERN_NONE)
        return SYMBOL_NO_MATCH;
    line->from = (uint32_t)(address - base);
    return add_line(d, line);
}

/* Lines are sorted by address. If a line is invalid, all lines of the record are dropped (file names written by V8 of
 * node 20 are not text). */
static enum symbol_result read_debug_info(struct jit_dump *d) {
    struct jit_line line = {.file = INTERN_NONE};
    struct cursor in;
    uint64_t count = 0;
    d->nr_lines = d->reading->lines_from;
    enum symbol_result result = take_numbers(d, 16, &in);
    if (result != SYMBOL_FOUND || !take_u64(&in, &d->reading->lines_address) || !take_u64(&in, &count))
        return result;
    for (uint64_t i = 0; i < count && result == SYMBOL_FOUND; i++)
        result = read_line(d, d->reading->lines_address, &line);
    if (result != SYMBOL_FOUND)
        d->nr_lines = d->reading->lines_from;
    return result;
}

static enum symbol_result keep_frames(struct jit_dump *d, size_t size) {
    const uint8_t *bytes;
    const enum symbol_result result = byte_window_take(&d->reading->window, size, &bytes);
    if (result != SYMBOL_FOUND)
        return result;
    d->reading->frames = arena_copy(&d->frames, bytes, size, 8);
    if (!d->reading->frames)
        return table_memory_result(d->memory);
    d->reading->frames_size = (uint32_t)size;
    d->taken += size;
    return SYMBOL_FOUND;
}

static enum symbol_result read_unwinding_info(struct jit_dump *d) {
    struct jit_reading *r = d->reading;
    struct cursor in;
    uint64_t size, header, mapped;
    const enum symbol_result result = take_numbers(d, 24, &in);
    if (result != SYMBOL_FOUND || !take_u64(&in, &size) || !take_u64(&in, &header) || !take_u64(&in, &mapped))
        return result;
    r->frames_size = 0;
    if (header > size || size - header > BYTE_WINDOW_MOST)
        return SYMBOL_NO_MATCH;
    return mapped ? keep_frames(d, (size_t)(size - header)) : SYMBOL_FOUND;
}

static enum symbol_result read_close(struct jit_dump *d) {
    d->reading->ended = true;
    return SYMBOL_FOUND;
}

typedef enum symbol_result read_record_fn(struct jit_dump *d);

static read_record_fn *const readers[RECORD_TYPES] = {
    [RECORD_LOAD] = read_load,
    [RECORD_MOVE] = read_move,
    [RECORD_DEBUG_INFO] = read_debug_info,
    [RECORD_CLOSE] = read_close,
    [RECORD_UNWINDING_INFO] = read_unwinding_info,
};

/* --- All records. */

static void note_damage(struct jit_dump *d) {
    if (d->damaged++ == 0)
        d->damaged_at = d->reading->next;
}

/* Reads the body of a record. If it contradicts itself, skips it and drops the lines and frames announced so far. */
static enum symbol_result read_body(struct jit_dump *d, uint32_t type) {
    const enum symbol_result result = type < RECORD_TYPES ? readers[type](d) : SYMBOL_FOUND;
    if (result != SYMBOL_NO_MATCH)
        return result;
    note_damage(d);
    d->nr_lines = d->reading->lines_from;
    forget_announced(d);
    return SYMBOL_FOUND;
}

/* Reads one record. NO_MATCH: the record is incomplete, or not written yet. */
static enum symbol_result read_record(struct jit_dump *d) {
    struct jit_reading *r = d->reading;
    struct cursor in;
    uint32_t type = 0, size = 0;
    r->window.at = r->next;
    r->window.end = r->window.size;
    enum symbol_result result = take_numbers(d, RECORD_HEADER, &in);
    if (result != SYMBOL_FOUND || !take_u32(&in, &type) || !take_u32(&in, &size) || !take_u64(&in, &r->time))
        return result;
    if (size < RECORD_HEADER)
        return note_damage(d), SYMBOL_DAMAGED;
    if (size > r->window.size - r->next)
        return SYMBOL_NO_MATCH;
    r->window.end = r->next + size;
    result = read_body(d, type);
    r->next = r->window.end;
    return result;
}

void jit_dump_read_on(struct jit_dump *d) {
    struct jit_reading *r = d->reading;
    struct stat facts;
    if (d->ended != SYMBOL_FOUND || r->ended || r->window.fd < 0)
        return;
    if (fstat(r->window.fd, &facts) != 0 || facts.st_size < 0)
        return;
    const uint64_t size = (uint64_t)facts.st_size;
    r->window.size = size < JIT_DUMP_BYTES_MOST ? size : JIT_DUMP_BYTES_MOST;
    enum symbol_result result = SYMBOL_FOUND;
    while (result == SYMBOL_FOUND && !r->ended && r->next < r->window.size)
        result = d->taken < d->room ? read_record(d) : SYMBOL_LIMIT;
    d->ended = result == SYMBOL_NO_MATCH ? SYMBOL_FOUND : result;
    if (d->ended == SYMBOL_FOUND && !r->ended && size > JIT_DUMP_BYTES_MOST)
        d->ended = SYMBOL_LIMIT;
    byte_window_free(&r->window);
}

static enum symbol_result read_header(struct jit_dump *d) {
    struct byte_window *w = &d->reading->window;
    struct cursor in;
    uint32_t magic = 0, version, size = 0, machine = 0, unused;
    uint64_t time, flags = 0;
    w->end = w->size;
    enum symbol_result result = take_numbers(d, HEADER_SIZE, &in);
    if (result != SYMBOL_FOUND)
        return result == SYMBOL_NO_MATCH ? SYMBOL_NOT_ELF : result;
    in.swap = d->swap = load_u32(in.at, true) == MAGIC;
    if (!take_u32(&in, &magic) || !take_u32(&in, &version) || !take_u32(&in, &size) || !take_u32(&in, &machine) ||
        !take_u32(&in, &unused) || !take_u32(&in, &d->pid) || !take_u64(&in, &time) || !take_u64(&in, &flags))
        return SYMBOL_NOT_ELF;
    d->machine = (uint16_t)machine;
    d->by_cpu_clock = flags & BY_CPU_CLOCK;
    d->reading->next = size;
    return magic == MAGIC && size >= HEADER_SIZE ? SYMBOL_FOUND : SYMBOL_NOT_ELF;
}

static enum symbol_result open_dump(const struct symbol_object *object, int *fd, uint64_t *size) {
    struct stat facts;
    const bool apart = object->symfs && *object->symfs;
    const enum symbol_result result = apart ? open_regular_under(object->symfs, object->path, fd, &facts)
                                            : open_regular(object->path, OPEN_NO_LINK, fd, &facts);
    if (result != SYMBOL_FOUND)
        return result;
    *size = (uint64_t)facts.st_size;
    if (facts.st_uid == (uid_t)object->owner || facts.st_uid == 0 || facts.st_uid == geteuid())
        return SYMBOL_FOUND;
    close(*fd);
    return SYMBOL_NOT_PERMITTED;
}

static struct jit_dump *new_dump(int fd, struct memory *memory, uint64_t room) {
    struct jit_dump *made = mem_zeroed(memory, 1, sizeof *made);
    struct jit_reading *reading = made ? mem_zeroed(memory, 1, sizeof *reading) : NULL;
    if (!reading) {
        mem_free(memory, made, 1, sizeof *made);
        return NULL;
    }
    made->memory = memory;
    made->room = room;
    made->nearest_line = UINT32_MAX;
    made->reading = reading;
    intern_init(&made->names, memory);
    arena_init(&made->frames, memory);
    u64_map_init(&reading->code_of, memory);
    byte_window_init(&reading->window, fd, memory);
    return made;
}

enum symbol_result jit_dump_open(const struct symbol_object *object, struct memory *memory, uint64_t room,
                                 struct jit_dump **dump) {
    int fd;
    uint64_t size;
    *dump = NULL;
    enum symbol_result result = open_dump(object, &fd, &size);
    if (result != SYMBOL_FOUND)
        return result;
    struct jit_dump *made = new_dump(fd, memory, room);
    if (!made) {
        close(fd);
        return table_memory_result(memory);
    }
    made->reading->window.size = size;
    result = read_header(made);
    if (result == SYMBOL_FOUND)
        jit_dump_read_on(made);
    if (made->ended == SYMBOL_NO_MEMORY)
        result = SYMBOL_NO_MEMORY;
    if (result == SYMBOL_FOUND)
        *dump = made;
    else
        jit_dump_close(made);
    return result;
}

void jit_dump_let_go(struct jit_dump *d) {
    if (!d->reading)
        return;
    byte_window_free(&d->reading->window);
    u64_map_free(&d->reading->code_of);
    close(d->reading->window.fd);
    mem_free(d->memory, d->reading, 1, sizeof *d->reading);
    d->reading = NULL;
}

void jit_dump_close(struct jit_dump *d) {
    if (!d)
        return;
    jit_dump_let_go(d);
    intern_free(&d->names);
    arena_free(&d->frames);
    mem_free(d->memory, d->codes, d->codes_room, sizeof *d->codes);
    mem_free(d->memory, d->changes, d->changes_room, sizeof *d->changes);
    mem_free(d->memory, d->lines, d->lines_room, sizeof *d->lines);
    mem_free(d->memory, d, 1, sizeof *d);
}
