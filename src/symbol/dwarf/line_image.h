/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LINE_IMAGE_H
#define PFR_SYMBOL_LINE_IMAGE_H
/*
 * Lines and inlined calls of ranges of addresses as the bytes of a file, so that they need not be found out again
 * (line_cache.h keeps such files). All numbers are in this machine's byte order, which the file says:
 *
 *     0    "pfrlines"
 *     8    u32 revision of the format and of what debug_lines answers, LINE_IMAGE_REVISION
 *     12   u32 0x01020304
 *     16   u64 XXH3 of all bytes from 24 on
 *     24   u64 size of the whole
 *     32   u64 size of the object that has the debugging information, u64 when it was changed (ns since 1970)
 *     48   u32 bytes of the build-id, u32 ranges, u32 frames, u32 bytes of texts
 *     64   64 bytes: the build-id, and zeros
 *     128  ranges, by address: u64 from, u64 end (not included), u32 innermost frame + 1 or 0 for none, u32 0
 *          frames: u32 function + 1, u32 file + 1 (offsets in the texts, 0: not known), u32 line,
 *                  u32 2 * (frame around it + 1, which stands before it; 0: none) + (1: it was inlined there)
 *          texts, each with its NUL
 *
 * The bytes may be anybody's: they are checked whole before one of them is believed.
 */
#include "base/tables/intern.h"
#include "symbol/dwarf/debug_lines.h"
#include "symbol/elf/elf_object.h"

#define LINE_IMAGE_REVISION 1u
#define LINE_IMAGE_MOST ((uint64_t)64 << 20)

/* What the file is of. */
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

/* A checked file; `bytes` stay the caller's. */
struct line_image {
    const uint8_t *bytes;
    const struct line_range *ranges;
    const struct line_frame *frames;
    const char *texts;
    uint32_t range_count, frame_count, text_size;
};

/* FOUND; OTHER_BUILD: of another revision, object or machine, and otherwise sound as far as that was looked at;
   DAMAGED. `bytes` are aligned as malloc does. */
enum symbol_result line_image_open(struct line_image *image, const uint8_t *bytes, size_t size,
                                   const struct line_key *key);

/* The range around an address; NULL: the file says nothing of it. */
const struct line_range *line_image_find(const struct line_image *image, uint64_t address);

#define LINE_FRAMES_MOST 256u

/* Its frames, innermost first; false: there are more than so many. */
bool line_image_frames(const struct line_image *image, const struct line_range *range,
                       struct source_frame to[LINE_FRAMES_MOST], size_t *count);

/* What will be a file: ranges in any order. */
struct line_image_maker {
    struct memory *memory;
    struct intern_table texts, frames;
    struct line_range *ranges;
    size_t count, room;
    uint64_t text_size;
};

/* Takes no memory yet. */
void line_maker_init(struct line_image_maker *maker, struct memory *memory);
void line_maker_free(struct line_image_maker *maker);

/* What debug_lines_find gave. False: no memory, or it cannot be kept; the rest can. */
bool line_maker_add(struct line_image_maker *maker, const struct source_frames *frames);
bool line_maker_add_image(struct line_image_maker *maker, const struct line_image *image);

/* The file, the caller's to free (*size bytes of the maker's memory); NULL: no memory, or it would be too large. */
uint8_t *line_maker_write(struct line_image_maker *maker, const struct line_key *key, size_t *size);

#endif
