/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_LINES_H
#define PFR_SYMBOL_DEBUG_LINES_H
/*
 * Which line of which file an address is of, and what was inlined there, by the DWARF of an object. Opening reads the
 * sections and hops over the units; the first address of a unit has its entries walked and its line number program run,
 * once, into tables that all further addresses are bisected in.
 *
 *     struct debug_lines *lines;
 *     struct source_frames frames;
 *     if (debug_lines_open(&object, memory, &lines) == SYMBOL_FOUND) {
 *         if (debug_lines_find(lines, address, &frames) == SYMBOL_FOUND)
 *             frames.at[0].file, .line, .function
 *         debug_lines_close(lines);
 *     }
 *
 * What is damaged costs itself: a unit its lines, the rest stays. Memory is the handle's, time is bounded by the size
 * of the sections: no table of theirs is read more than a few times, whatever points to it.
 */
#include "symbol/table/symbol_source.h"

struct source_frame {
    const char *function; /* as linkers call it (mangled), NULL: not known */
    const char *file;     /* its path, NULL: not known */
    uint32_t line;        /* 0: not known */
    bool is_inlined;      /* into the function of the next frame, at whose file and line it was called */
};

struct source_frames {
    const struct source_frame *at; /* innermost first; valid until the next find, texts until close */
    size_t count;
    uint64_t from, end; /* around the address: all of [from, end) have the same frames, or none */
};

struct debug_lines;
#define DEBUG_MISSED_ROOM 512u

enum line_cache_state { LINE_CACHE_NONE, LINE_CACHE_READ, LINE_CACHE_DAMAGED };

/* FOUND; NO_SYMBOLS: the object has no DWARF; and what opening an object gives otherwise. Relocatable objects have
   none for us: their addresses are not known before they are linked. */
enum symbol_result debug_lines_open(const struct symbol_object *object, struct memory *memory,
                                    struct debug_lines **lines);
void debug_lines_close(struct debug_lines *lines);

/* FOUND: at least one frame, of which file or function is known. NO_MATCH: nothing is known of the address; LIMIT,
   NO_MEMORY. After LIMIT, here as when it is opened, the memory has failed with it (PFR_ERR_LIMIT). */
enum symbol_result debug_lines_find(struct debug_lines *lines, uint64_t address, struct source_frames *frames);

/* Whether functions have no names because more of them would have to be read than the object has bytes. */
bool debug_lines_cut(const struct debug_lines *lines);

/* Bytes of the file. */
uint64_t debug_lines_size(const struct debug_lines *lines);

/* Files that were looked for in vain, up to now: without them lines are known, and mostly no inlined function. */
struct debug_missed {
    uint32_t units; /* whose entries were split off into files that are not there (-gsplit-dwarf) */
    char
        split[DEBUG_MISSED_ROOM]; /* the first of these, as the object names it; NUL-terminated, cut where it is long */
    char shared[DEBUG_MISSED_ROOM]; /* the file that the object shares with others (dwz); "": it is there, or none is */
};
const struct debug_missed *debug_lines_missed(const struct debug_lines *lines);

/* Whether answers of before were there, in the folder that was asked for (symbol_object.cache). */
enum line_cache_state debug_lines_cache(const struct debug_lines *lines);

#endif
