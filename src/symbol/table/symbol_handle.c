/* SPDX-License-Identifier: Apache-2.0 */
/* The common part of handles; see symbol_handle.h. */
#include "symbol/table/symbol_handle.h"

enum symbol_result handle_new(struct memory *memory, size_t bytes, struct symbol_handle **handle) {
    struct symbol_handle *made = mem_zeroed(memory, 1, bytes);
    *handle = made;
    if (!made)
        return table_memory_result(memory);
    made->memory = memory;
    made->bytes = bytes;
    table_init(&made->table, memory);
    return SYMBOL_FOUND;
}

void handle_close(struct symbol_handle *handle) {
    if (!handle)
        return;
    table_free(&handle->table);
    mem_free(handle->memory, handle->segments, handle->segment_count, sizeof *handle->segments);
    mem_free(handle->memory, handle, 1, handle->bytes);
}

enum symbol_result handle_settle(struct symbol_handle **handle, enum symbol_result result,
                                 void (*close)(struct symbol_handle *handle)) {
    if (result != SYMBOL_FOUND) {
        close(*handle);
        *handle = NULL;
    }
    return result;
}

enum symbol_result handle_find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol) {
    return table_find(&handle->table, address, symbol);
}

struct symbol_segments handle_segments(const struct symbol_handle *handle) {
    return (struct symbol_segments){handle->segments, handle->segment_count};
}

uint64_t handle_size(const struct symbol_handle *handle) {
    return handle->size;
}

const uint8_t *handle_build_id(const struct symbol_handle *handle, size_t *size) {
    *size = handle->build_id_size;
    return handle->build_id;
}
