/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_HANDLE_H
#define PFR_SYMBOL_SYMBOL_HANDLE_H
/*
 * What every source of names keeps for an object that was opened. A source that keeps more embeds it as the first
 * member of a struct of its own, which its functions cast to, and closes it with a function of its own.
 */
#include "symbol/table/symbol_table.h"

struct symbol_handle {
    struct memory *memory;
    size_t bytes; /* of the struct that this one begins */
    struct symbol_table table;
    struct symbol_segment *segments;
    size_t segment_count;
    uint8_t build_id[BUILD_ID_MOST];
    size_t build_id_size;
    uint64_t size; /* of the file */
    struct debug_link debug_link;
};

/* A handle of `bytes`, zero after its common part. FOUND, LIMIT or NO_MEMORY; *handle is NULL unless FOUND. */
enum symbol_result handle_new(struct memory *memory, size_t bytes, struct symbol_handle **handle);

/* `result` itself; when that is not FOUND, *handle is closed and made NULL. */
enum symbol_result handle_settle(struct symbol_handle **handle, enum symbol_result result,
                                 void (*close)(struct symbol_handle *handle));

/* Functions of the table in symbol_source.h that sources share. */
enum symbol_result handle_find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol);
struct symbol_segments handle_segments(const struct symbol_handle *handle);
const uint8_t *handle_build_id(const struct symbol_handle *handle, size_t *size);
uint64_t handle_size(const struct symbol_handle *handle);
/* Frees the common part and the handle itself; NULL is fine. */
void handle_close(struct symbol_handle *handle);

#endif
