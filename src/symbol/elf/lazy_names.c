/* SPDX-License-Identifier: Apache-2.0 */
/* Symbol names that are read on demand; see lazy_names.h. */
#include "symbol/elf/lazy_names.h"
#include "base/io/exact_io.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_table.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)4096) /* bytes that are read at once, because related names are close together */
#define LONG_NAMES_PART 4u   /* budget for long names is the memory limit divided by this */

struct late_text {
    struct memory *memory;
    struct arena arena;
    struct u64_map long_names; /* offset -> name that does not end in its block */
    struct stat facts;         /* state of the file when it was opened */
    uint64_t offset, size, charged;
    uint64_t long_left; /* bytes of long names that may still be read, because symbols may share bytes */
    char **blocks;      /* NULL: not read yet */
    size_t nr_blocks;
    int fd;
    bool failed; /* a read failed, or the file changed */
};

static bool is_same_time(struct timespec a, struct timespec b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static enum symbol_result read_some(struct late_text *t, uint64_t from, char *to, size_t length) {
    struct stat now;
    const bool is_same =
        fstat(t->fd, &now) == 0 && now.st_size == t->facts.st_size && is_same_time(now.st_mtim, t->facts.st_mtim);
    t->failed = !is_same || !read_exactly(t->fd, to, length, t->offset + from);
    return t->failed ? SYMBOL_IO : SYMBOL_FOUND;
}

/* --- Opening. */

/* Finds the last NUL; bytes after it are excluded. */
static enum symbol_result find_end(struct late_text *t) {
    char bytes[BLOCK];
    while (t->size > 0) {
        const size_t length = t->size < BLOCK ? (size_t)t->size : BLOCK;
        const enum symbol_result result = read_some(t, t->size - length, bytes, length);
        if (result != SYMBOL_FOUND)
            return result;
        const char *last = memrchr(bytes, '\0', length);
        t->size -= last ? (uint64_t)(bytes + length - last) - 1 : length;
        if (last)
            break;
    }
    return SYMBOL_FOUND;
}

static enum symbol_result begin(struct late_text *t) {
    if (!mem_charge(t->memory, t->size))
        return table_memory_result(t->memory);
    t->charged = t->size;
    const enum symbol_result result = find_end(t);
    if (result != SYMBOL_FOUND)
        return result;
    t->long_left = t->memory->limit / LONG_NAMES_PART;
    t->nr_blocks = (size_t)(t->size / BLOCK + 1);
    t->blocks = mem_zeroed(t->memory, t->nr_blocks, sizeof *t->blocks);
    return t->blocks ? SYMBOL_FOUND : table_memory_result(t->memory);
}

void late_text_close(struct late_text *t) {
    if (!t)
        return;
    if (t->fd >= 0)
        close(t->fd);
    arena_free(&t->arena);
    u64_map_free(&t->long_names);
    mem_free(t->memory, t->blocks, t->nr_blocks, sizeof *t->blocks);
    mem_discharge(t->memory, t->charged);
    mem_free(t->memory, t, 1, sizeof *t);
}

enum symbol_result late_text_open(const struct elf_object *object, const struct elf_section *section,
                                  struct memory *memory, struct late_text **text) {
    struct late_text *t = mem_alloc(memory, 1, sizeof *t);
    *text = NULL;
    if (!t)
        return table_memory_result(memory);
    *t = (struct late_text){.memory = memory, .offset = section->offset, .size = section->size};
    arena_init(&t->arena, memory);
    u64_map_init(&t->long_names, memory);
    t->fd = fcntl(object->fd, F_DUPFD_CLOEXEC, 0);
    const bool holds = t->fd >= 0 && fstat(t->fd, &t->facts) == 0;
    const enum symbol_result result = holds ? begin(t) : SYMBOL_FOUND;
    if (holds && result == SYMBOL_FOUND)
        *text = t;
    else
        late_text_close(t);
    return result;
}

/* --- Names. */

static enum symbol_result read_block(struct late_text *t, size_t number, const char **block) {
    const uint64_t from = (uint64_t)number * BLOCK, left = t->size - from;
    char *bytes = t->blocks[number];
    *block = bytes;
    if (bytes)
        return SYMBOL_FOUND;
    bytes = arena_take(&t->arena, BLOCK, 1);
    if (!bytes)
        return table_memory_result(t->memory);
    const enum symbol_result result = read_some(t, from, bytes, left < BLOCK ? (size_t)left : BLOCK);
    if (result == SYMBOL_FOUND)
        *block = t->blocks[number] = bytes;
    return result;
}

static enum symbol_result keep_long_name(struct late_text *t, const char *bytes, size_t length, char **name) {
    if (length > t->long_left)
        return SYMBOL_LIMIT;
    *name = arena_text(&t->arena, bytes, length);
    t->long_left -= *name ? length : 0;
    return *name ? SYMBOL_FOUND : table_memory_result(t->memory);
}

/* Reads a name that continues after its block, in pieces of growing size until its end is found. */
static enum symbol_result read_long_name(struct late_text *t, uint64_t at, char **name) {
    const uint64_t left = t->size - at;
    const size_t most = SYMBOL_NAME_MOST < left ? SYMBOL_NAME_MOST : (size_t)left;
    for (size_t room = BLOCK;; room *= 2) {
        const size_t length = room < most ? room : most;
        char *bytes = mem_alloc(t->memory, length, 1);
        if (!bytes)
            return table_memory_result(t->memory);
        enum symbol_result result = read_some(t, at, bytes, length);
        const char *end = result == SYMBOL_FOUND ? memchr(bytes, '\0', length) : NULL;
        const bool done = result != SYMBOL_FOUND || end || length == most;
        if (result == SYMBOL_FOUND && done) {
            result = keep_long_name(t, bytes, end ? (size_t)(end - bytes) : length, name);
        }
        mem_free(t->memory, bytes, length, 1);
        if (done)
            return result;
    }
}

static enum symbol_result find_long_name(struct late_text *t, uint64_t at, const char **name) {
    uint64_t kept;
    char *made = NULL;
    if (u64_map_get(&t->long_names, at, &kept)) {
        *name = (const char *)(uintptr_t)kept;
        return SYMBOL_FOUND;
    }
    const enum symbol_result result = read_long_name(t, at, &made);
    if (result != SYMBOL_FOUND)
        return result;
    *name = made;
    return u64_map_at(&t->long_names, at, (uint64_t)(uintptr_t)made, NULL) ? result : table_memory_result(t->memory);
}

enum symbol_result late_text_at(struct late_text *t, uint64_t at, const char **name) {
    const size_t skip = (size_t)(at % BLOCK);
    const char *block;
    *name = NULL;
    if (at >= t->size)
        return SYMBOL_FOUND;
    if (t->failed)
        return SYMBOL_IO;
    const enum symbol_result result = read_block(t, (size_t)(at / BLOCK), &block);
    if (result != SYMBOL_FOUND)
        return result;
    const uint64_t left = t->size - (at - skip);
    const size_t have = left < BLOCK ? (size_t)left : BLOCK;
    if (!memchr(block + skip, '\0', have - skip))
        return find_long_name(t, at, name);
    *name = block + skip;
    return SYMBOL_FOUND;
}
