/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LINE_CACHE_H
#define PFR_SYMBOL_LINE_CACHE_H
/*
 * Cache of line information in a folder, one file per build-id (line_image.h). A later report that looks up the same
 * addresses then needs no search and no debugging information.
 *
 *  struct line_cache cache;
 *  line_cache_open(&cache, "/home/me/.cache/perfray", &key, memory);
 *  if (!line_cache_find(&cache, address, &frames)) {
 *      ... look it up ...
 *      line_cache_add(&cache, &frames);
 *  }
 *  line_cache_close(&cache);                          writes new entries
 *
 * The cache never makes a report fail. A folder that cannot be made, belongs to another user or is writable by others
 * is not used; a file that is damaged, truncated or of another object is ignored; write errors are ignored. Files are
 * written under a temporary name and renamed, so they are always complete; a concurrent writer waits briefly for a
 * lock, and adds its entries to those in the file. Files have mode 0600, and symbolic links are not followed. If all
 * files together exceed LINE_CACHE_MOST bytes, the least recently used ones are deleted.
 */
#include "symbol/dwarf/line_image.h"

#define LINE_CACHE_MOST ((uint64_t)512 << 20)

struct line_cache {
    struct memory *memory;
    const char *folder; /* belongs to the caller; NULL: no cache */
    struct line_key key;
    struct line_image image;
    uint8_t *bytes; /* bytes of `image` */
    size_t size;
    enum line_cache_state state;
    struct line_image_maker more;
    struct source_frame frames[LINE_FRAMES_MOST];
};

/* `folder` may be NULL and must outlive the cache. Objects without a build-id are not cached. Always call
 * line_cache_close. */
void line_cache_open(struct line_cache *cache, const char *folder, const struct line_key *key, struct memory *memory);
void line_cache_close(struct line_cache *cache);

/* False: not cached. Otherwise sets *frames like debug_lines_find; if there are no frames, nothing is known about the
 * address. */
bool line_cache_find(struct line_cache *cache, uint64_t address, struct source_frames *frames);

/* Adds a result of debug_lines_find; a result without frames means NO_MATCH. */
void line_cache_add(struct line_cache *cache, const struct source_frames *frames);

#endif
