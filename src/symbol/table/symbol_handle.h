/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_HANDLE_H
#define PFR_SYMBOL_SYMBOL_HANDLE_H
/*
 * State that every source of names keeps for an open object. A source that needs more state has its own struct with
 * this struct as the first member, casts to its own struct in its functions, and has its own close function.
 */
#include "symbol/table/symbol_table.h"

struct symbol_handle {
    struct memory *memory;
    size_t bytes; /* size of the struct that begins with this one */
    struct symbol_table table;
    struct symbol_segment *segments;
    size_t segment_count;
    uint8_t build_id[BUILD_ID_MOST];
    size_t build_id_size;
    uint64_t size; /* size of the file */
    struct debug_link debug_link;
};

/* Makes a handle of `bytes` bytes; the bytes after the common part are zero. FOUND, LIMIT or NO_MEMORY; *handle is NULL
   unless FOUND. */
enum symbol_result handle_new(struct memory *memory, size_t bytes, struct symbol_handle **handle);

/* Returns `result`; unless it is FOUND, closes *handle and sets it to NULL. */
enum symbol_result handle_settle(struct symbol_handle **handle, enum symbol_result result,
                                 void (*close)(struct symbol_handle *handle));

/* Functions that sources share in their table of symbol_source.h. */
enum symbol_result handle_find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol);
struct symbol_segments handle_segments(const struct symbol_handle *handle);
const uint8_t *handle_build_id(const struct symbol_handle *handle, size_t *size);
uint64_t handle_size(const struct symbol_handle *handle);
/* Frees the common part and the handle itself. `handle` may be NULL. */
void handle_close(struct symbol_handle *handle);

#endif
