/* SPDX-License-Identifier: Apache-2.0 */
/* Making, asking and freeing the handle that all sources of this folder share. */
#include <unistd.h>
#include "symbol/elf/elf_names.h"
#include "symbol/table/symbol_handle.h"

enum symbol_result handle_new(struct memory *memory, struct symbol_handle **handle) {
    struct symbol_handle *made = mem_zeroed(memory, 1, sizeof *made);
    *handle = made;
    if (!made)
        return table_memory_result(memory);
    made->memory = memory;
    made->unread = -1;
    table_init(&made->table, memory);
    kernel_list_init(&made->list, memory);
    kernel_image_init(&made->image, memory);
    return SYMBOL_FOUND;
}

void handle_close(struct symbol_handle *handle) {
    if (!handle)
        return;
    if (handle->unread >= 0)
        close(handle->unread);
    table_free(&handle->table);
    if (handle->elf)
        elf_names_free(handle->elf);
    mem_free(handle->memory, handle->elf, 1, sizeof *handle->elf);
    kernel_list_free(&handle->list);
    kernel_image_close(&handle->image);
    mem_free(handle->memory, handle->segments, handle->segment_count, sizeof *handle->segments);
    mem_free(handle->memory, handle, 1, sizeof *handle);
}

enum symbol_result handle_settle(struct symbol_handle **handle, enum symbol_result result) {
    if (result != SYMBOL_FOUND) {
        handle_close(*handle);
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
