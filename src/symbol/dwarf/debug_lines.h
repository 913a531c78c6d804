/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DEBUG_LINES_H
#define PFR_SYMBOL_DEBUG_LINES_H
/*
 * Finds the source line of an address and the inlined calls there, from the DWARF of an object. Opening reads the
 * sections and the headers of units. The first lookup in a unit walks its entries and runs its line number program,
 * once; the results are tables for later lookups.
 *
 *  struct debug_lines *lines;
 *  struct source_frames frames;
 *  if (debug_lines_open(&object, memory, &lines) == SYMBOL_FOUND) {
 *      if (debug_lines_find(lines, address, &frames) == SYMBOL_FOUND)
 *          frames.at[0].file, .line, .function
 *      debug_lines_close(lines);
 *  }
 *
 * Damage costs only the lines of the damaged unit. Memory is allocated from the handle's limit. The size of the
 * sections bounds the time: no table in them is read more than a few times, even if many entries refer to the table.
 */
#include "symbol/table/symbol_source.h"

struct source_frame {
    const char *function; /* mangled name; NULL: unknown */
    const char *file;     /* path of the file; NULL: unknown */
    uint32_t line;        /* 0: unknown */
    bool is_inlined; /* inlined into the function of the next frame; that frame has the file and line of the call */
};

struct source_frames {
    const struct source_frame *at; /* innermost frame first; valid until the next find, the texts until close */
    size_t count;
    uint64_t from, end; /* all addresses in [from, end) have the same frames, or all have no frames */
};

struct debug_lines;
#define DEBUG_MISSED_ROOM 512u

enum line_cache_state { LINE_CACHE_NONE, LINE_CACHE_READ, LINE_CACHE_DAMAGED };

/* FOUND; NO_SYMBOLS: the object has no DWARF, or is relocatable: its addresses are unknown until it is linked. Also
 * returns the results of opening an object. */
enum symbol_result debug_lines_open(const struct symbol_object *object, struct memory *memory,
                                    struct debug_lines **lines);
void debug_lines_close(struct debug_lines *lines);

/* FOUND: at least one frame, with a known file or function. NO_MATCH: nothing is known about the address. LIMIT,
   NO_MEMORY. After LIMIT, both here and in debug_lines_open, `memory` has failed with PFR_ERR_LIMIT. */
enum symbol_result debug_lines_find(struct debug_lines *lines, uint64_t address, struct source_frames *frames);

/* Whether functions lack names because the limit on bytes read for names was reached. */
bool debug_lines_cut(const struct debug_lines *lines);

/* Size of the object's file in bytes. */
uint64_t debug_lines_size(const struct debug_lines *lines);

/* Files not found so far. Without them, lines are known, but most inlined functions are not. */
struct debug_missed {
    uint32_t units;                 /* number of units whose split files are missing (-gsplit-dwarf) */
    char split[DEBUG_MISSED_ROOM];  /* the first missing split file, as named by the object; NUL-terminated, may be
                                       truncated */
    char shared[DEBUG_MISSED_ROOM]; /* the missing file shared with other objects (dwz); "": it is not missing */
};
const struct debug_missed *debug_lines_missed(const struct debug_lines *lines);

/* Whether the cache folder (symbol_object.cache) had earlier results. */
enum line_cache_state debug_lines_cache(const struct debug_lines *lines);

#endif
