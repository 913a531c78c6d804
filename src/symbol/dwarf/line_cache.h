/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LINE_CACHE_H
#define PFR_SYMBOL_LINE_CACHE_H
/*
 * A folder with what was found out of the lines of objects, a file for each build-id (line_image.h): what was asked
 * once need not be looked for again by the next report, nor its debugging information be read.
 *
 *     struct line_cache cache;
 *     line_cache_open(&cache, "/home/me/.cache/perfray", &key, memory);
 *     if (!line_cache_find(&cache, address, &frames)) {
 *         ... find out ...
 *         line_cache_add(&cache, &frames);
 *     }
 *     line_cache_close(&cache);                          writes what is new
 *
 * Nothing of it can make a report fail: a folder that cannot be made, that is somebody else's or that others may write
 * to is not used; a file that is damaged, cut or of another object is as if it were not there; what cannot be written
 * is not kept. Files are made under another name and moved into place, so that they are always whole; who writes at the
 * same time waits for a lock, for a moment, and adds to what the other wrote. Files have mode 0600, no symbolic link is
 * followed. When all of them have more than LINE_CACHE_MOST bytes, those that were not used for longest go.
 */
#include "symbol/dwarf/line_image.h"

#define LINE_CACHE_MOST ((uint64_t)512 << 20)

struct line_cache {
    struct memory *memory;
    const char *folder; /* the caller's; NULL: there is none */
    struct line_key key;
    struct line_image image;
    uint8_t *bytes; /* of the image */
    size_t size;
    enum line_cache_state state;
    struct line_image_maker more;
    struct source_frame frames[LINE_FRAMES_MOST];
};

/* `folder`, which must outlive it, may be NULL; an object without a build-id is not kept. Close it always. */
void line_cache_open(struct line_cache *cache, const char *folder, const struct line_key *key, struct memory *memory);
void line_cache_close(struct line_cache *cache);

/* False: it is not known. Else *frames is as debug_lines_find gives it; no frames: nothing is known of the address. */
bool line_cache_find(struct line_cache *cache, uint64_t address, struct source_frames *frames);

/* What debug_lines_find gave; no frames: NO_MATCH. */
void line_cache_add(struct line_cache *cache, const struct source_frames *frames);

#endif
