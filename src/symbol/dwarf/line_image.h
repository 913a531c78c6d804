/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LINE_IMAGE_H
#define PFR_SYMBOL_LINE_IMAGE_H
/*
 * File format of cached lines and inlined calls (line_cache.h). All numbers have this machine's byte order, which the
 * file records:
 *
 *  0    "pfrlines"
 *  8    u32 revision of the format and of what debug_lines returns, LINE_IMAGE_REVISION
 *  12   u32 0x01020304
 *  16   u64 XXH3 of all bytes from 24 on
 *  24   u64 size of the file
 *  32   u64 size of the object with the debugging information, u64 time of its last change (ns since 1970)
 *  48   u32 bytes of the build-id, u32 ranges, u32 frames, u32 bytes of texts
 *  64   64 bytes: the build-id, and zeros
 *  128  ranges, by address: u64 from, u64 end (excluded), u32 innermost frame + 1 or 0 for no frame, u32 0
 *       frames: u32 function + 1, u32 file + 1 (offsets in the texts, 0: unknown), u32 line,
 *               u32 2 * (outer frame + 1, which precedes it; 0: outermost) + (1: inlined there)
 *       texts, each with its NUL
 *
 * Other users or programs may have written the file, so all bytes are checked before any is used.
 */
#include "base/tables/intern.h"
#include "symbol/dwarf/debug_lines.h"
#include "symbol/elf/elf_object.h"

#define LINE_IMAGE_REVISION 1u
#define LINE_IMAGE_MOST ((uint64_t)64 << 20)

/* Identifies the object that a file belongs to. */
struct line_key {
    struct build_id id;
    uint64_t size, changed_ns;
};

struct line_range {
    uint64_t from, end;
    uint32_t frame, zero;
};

struct line_frame {
    uint32_t function, file, line, around;
};

/* A checked file; `bytes` still belong to the caller. */
struct line_image {
    const uint8_t *bytes;
    const struct line_range *ranges;
    const struct line_frame *frames;
    const char *texts;
    uint32_t range_count, frame_count, text_size;
};

/* FOUND; OTHER_BUILD: the file is of another revision, object or machine, and was not checked further; DAMAGED. `bytes`
   must be aligned like a result of malloc. */
enum symbol_result line_image_open(struct line_image *image, const uint8_t *bytes, size_t size,
                                   const struct line_key *key);

/* Returns the range that contains the address; NULL: not in the file. */
const struct line_range *line_image_find(const struct line_image *image, uint64_t address);

#define LINE_FRAMES_MOST 256u

/* The frames of a range, innermost first; false: more than LINE_FRAMES_MOST. */
bool line_image_frames(const struct line_image *image, const struct line_range *range,
                       struct source_frame to[LINE_FRAMES_MOST], size_t *count);

/* Collects ranges in any order for a new file. */
struct line_image_maker {
    struct memory *memory;
    struct intern_table texts, frames;
    struct line_range *ranges;
    size_t count, room;
    uint64_t text_size;
};

/* Allocates nothing yet. */
void line_maker_init(struct line_image_maker *maker, struct memory *memory);
void line_maker_free(struct line_image_maker *maker);

/* Adds a result of debug_lines_find. False: out of memory, or the result does not fit the format; further results can
   still be added. */
bool line_maker_add(struct line_image_maker *maker, const struct source_frames *frames);
bool line_maker_add_image(struct line_image_maker *maker, const struct line_image *image);

/* Makes the file. The caller frees *size bytes of the maker's memory. NULL: out of memory, too large, or no
   build-id. */
uint8_t *line_maker_write(struct line_image_maker *maker, const struct line_key *key, size_t *size);

#endif
