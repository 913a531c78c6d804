/* SPDX-License-Identifier: Apache-2.0 */
/* Sequential reading of parts of a file; see byte_window.h. */
#include "symbol/jit/byte_window.h"
#include "base/io/exact_io.h"

#include "symbol/elf/elf_object.h"
#include "symbol/table/symbol_table.h"

#include <string.h>

#define FIRST_ROOM ((size_t)64 << 10)

void byte_window_init(struct byte_window *w, int fd, struct memory *memory) {
    *w = (struct byte_window){.memory = memory, .fd = fd};
}

void byte_window_free(struct byte_window *w) {
    mem_free(w->memory, w->buffer, w->room, 1);
    w->buffer = NULL;
    w->room = w->have = 0;
}

static enum symbol_result make_room(struct byte_window *w, size_t size) {
    size_t room = w->room ? w->room : FIRST_ROOM;
    while (room < size)
        room *= 2;
    if (room == w->room)
        return SYMBOL_FOUND;
    uint8_t *more = mem_resize(w->memory, w->buffer, w->room, room, 1);
    if (!more)
        return table_memory_result(w->memory);
    w->buffer = more;
    w->room = room;
    return SYMBOL_FOUND;
}

/* Drops the bytes that were taken. Bytes that were skipped are never read. */
static void drop_taken(struct byte_window *w) {
    const uint64_t taken = w->at - w->start;
    w->have = taken < w->have ? w->have - (size_t)taken : 0;
    if (w->have)
        memmove(w->buffer, w->buffer + taken, w->have);
    w->start = w->at;
}

static size_t at_most(uint64_t left, size_t room) {
    return left < room ? (size_t)left : room;
}

/* Makes the next `size` bytes contiguous in the buffer; the caller has checked that they do not cross the border. */
static enum symbol_result fill(struct byte_window *w, size_t size) {
    const uint64_t taken = w->at - w->start;
    if (taken <= w->have && w->have - taken >= size)
        return SYMBOL_FOUND;
    drop_taken(w);
    const enum symbol_result result = make_room(w, size);
    if (result != SYMBOL_FOUND)
        return result;
    const uint64_t from = w->start + w->have;
    const size_t wanted = at_most(w->size - from, w->room - w->have);
    if (!read_exactly(w->fd, w->buffer + w->have, wanted, from))
        return SYMBOL_IO;
    w->have += wanted;
    return SYMBOL_FOUND;
}

enum symbol_result byte_window_take(struct byte_window *w, size_t size, const uint8_t **bytes) {
    if (w->end - w->at < size)
        return SYMBOL_NO_MATCH;
    if (size > BYTE_WINDOW_MOST)
        return SYMBOL_LIMIT;
    const enum symbol_result result = fill(w, size);
    if (result != SYMBOL_FOUND)
        return result;
    *bytes = w->buffer + (w->at - w->start);
    w->at += size;
    return SYMBOL_FOUND;
}

enum symbol_result byte_window_text(struct byte_window *w, const char **text, size_t *length) {
    const uint64_t left = w->end - w->at;
    for (size_t seen = 0, size = 64; seen < left && seen < BYTE_WINDOW_MOST; seen = size, size *= 4) {
        size = at_most(left, size < BYTE_WINDOW_MOST ? size : BYTE_WINDOW_MOST);
        const enum symbol_result result = fill(w, size);
        if (result != SYMBOL_FOUND)
            return result;
        const uint8_t *from = w->buffer + (w->at - w->start);
        const uint8_t *nul = memchr(from + seen, '\0', size - seen);
        if (!nul)
            continue;
        *text = (const char *)from;
        *length = (size_t)(nul - from);
        w->at += *length + 1;
        return SYMBOL_FOUND;
    }
    return left > BYTE_WINDOW_MOST ? SYMBOL_LIMIT : SYMBOL_NO_MATCH;
}

bool byte_window_skip(struct byte_window *w, uint64_t size) {
    if (w->end - w->at < size)
        return false;
    w->at += size;
    return true;
}
