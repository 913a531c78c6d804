/* SPDX-License-Identifier: Apache-2.0 */
/* Cache files of line information; see line_cache.h. */
#include "symbol/dwarf/line_cache.h"

#include "symbol/table/cache_folder.h"

#include <string.h>
#include <unistd.h>

#define SUFFIX ".lines"
_Static_assert(BUILD_ID_TEXT_ROOM + sizeof SUFFIX <= CACHE_NAME_ROOM, "names hold build-ids");

static void file_name(const struct line_key *key, char name[CACHE_NAME_ROOM]) {
    build_id_text(name, key->id.bytes, key->id.size);
    strcat(name, SUFFIX);
}

/* --- Reading. */

static void forget(struct line_cache *c) {
    if (c->bytes)
        mem_free(c->memory, c->bytes, c->size, 1);
    c->bytes = NULL;
    c->image = (struct line_image){0};
}

static void read_image(struct line_cache *c, int folder) {
    char name[CACHE_NAME_ROOM];
    forget(c);
    file_name(&c->key, name);
    c->bytes = cache_file_read(folder, name, LINE_IMAGE_MOST, c->memory, &c->size);
    if (!c->bytes)
        return;
    const enum symbol_result result = line_image_open(&c->image, c->bytes, c->size, &c->key);
    c->state = result == SYMBOL_FOUND     ? LINE_CACHE_READ
               : result == SYMBOL_DAMAGED ? LINE_CACHE_DAMAGED
                                          : LINE_CACHE_NONE;
    if (result != SYMBOL_FOUND)
        forget(c);
}

void line_cache_open(struct line_cache *c, const char *folder, const struct line_key *key, struct memory *memory) {
    *c = (struct line_cache){.memory = memory, .folder = key->id.size ? folder : NULL, .key = *key};
    line_maker_init(&c->more, memory);
    const int fd = c->folder ? cache_folder_open(c->folder) : -1;
    if (fd < 0)
        return;
    read_image(c, fd);
    close(fd);
}

bool line_cache_find(struct line_cache *c, uint64_t address, struct source_frames *frames) {
    const struct line_range *range = c->bytes ? line_image_find(&c->image, address) : NULL;
    if (!range || !line_image_frames(&c->image, range, c->frames, &frames->count))
        return false;
    frames->at = c->frames;
    frames->from = range->from;
    frames->end = range->end;
    return true;
}

void line_cache_add(struct line_cache *c, const struct source_frames *frames) {
    if (c->folder)
        line_maker_add(&c->more, frames);
}

/* --- Writing. */

/* Adds the ranges that other processes have written meanwhile. */
static void write_image(struct line_cache *c, int folder) {
    char name[CACHE_NAME_ROOM];
    size_t size;
    read_image(c, folder);
    if (c->bytes && !line_maker_add_image(&c->more, &c->image))
        return;
    uint8_t *bytes = line_maker_write(&c->more, &c->key, &size);
    if (!bytes)
        return;
    file_name(&c->key, name);
    cache_file_put(folder, name, bytes, size);
    mem_free(c->memory, bytes, size, 1);
    cache_folder_bound(folder, SUFFIX, LINE_CACHE_MOST, c->memory);
}

void line_cache_close(struct line_cache *c) {
    if (!c->memory)
        return;
    const int folder = c->folder && c->more.count ? cache_folder_make(c->folder) : -1;
    const int lock = folder >= 0 ? cache_folder_lock(folder) : -1;
    if (lock >= 0) {
        write_image(c, folder);
        close(lock);
    }
    if (folder >= 0)
        close(folder);
    forget(c);
    line_maker_free(&c->more);
    *c = (struct line_cache){0};
}
