/* SPDX-License-Identifier: Apache-2.0 */
/* Names and lines by offset in a jitdump; see jit_dump.h. */
#include "symbol/jit/jit_dump.h"
#include "symbol/table/symbol_handle.h"

struct jit_handle {
    struct symbol_handle base;
    const struct jit_dump *dump;
};

/* V8 and LLVM count line addresses from the header of the ELF file that `perf inject` makes for each code. */
#define ELF_HEADER_SIZE 64u

/* Number of codes that begin at or before an offset. */
static size_t codes_up_to(const struct jit_dump *d, uint64_t offset) {
    size_t low = 0, high = d->nr_codes;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (d->codes[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct jit_code *jit_dump_code(const struct jit_dump *d, uint64_t offset) {
    const size_t up_to = codes_up_to(d, offset);
    const struct jit_code *code = up_to ? &d->codes[up_to - 1] : NULL;
    return code && offset - code->offset < code->size ? code : NULL;
}

const struct jit_line *jit_dump_line(const struct jit_dump *d, uint64_t offset) {
    const struct jit_code *code = jit_dump_code(d, offset);
    if (!code || code->nr_lines == 0)
        return NULL;
    const struct jit_line *lines = d->lines + code->line;
    const uint64_t at = offset - code->offset + (d->nearest_line == ELF_HEADER_SIZE ? ELF_HEADER_SIZE : 0);
    size_t low = 0, high = code->nr_lines;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (lines[middle].from <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &lines[low - 1] : NULL;
}

enum symbol_result jit_dump_symbols(const struct jit_dump *d, struct memory *memory, struct symbol_handle **handle) {
    const enum symbol_result result = handle_new(memory, sizeof(struct jit_handle), handle);
    if (result == SYMBOL_FOUND)
        ((struct jit_handle *)*handle)->dump = d;
    return result;
}

static const struct jit_dump *dump_of(const struct symbol_handle *handle) {
    return ((const struct jit_handle *)handle)->dump;
}

static enum symbol_result find(struct symbol_handle *handle, uint64_t address, struct symbol *symbol) {
    const struct jit_dump *d = dump_of(handle);
    const struct jit_code *code = jit_dump_code(d, address);
    if (code) {
        const struct intern_text name = intern_get(&d->names, code->name);
        *symbol = (struct symbol){.name = (const char *)name.bytes,
                                  .name_length = name.length,
                                  .module = "",
                                  .start = code->offset,
                                  .size = code->size,
                                  .from = code->offset,
                                  .end = code->offset + code->size};
        return SYMBOL_FOUND;
    }
    const size_t next = codes_up_to(d, address);
    symbol->from = next ? d->codes[next - 1].offset + d->codes[next - 1].size : 0;
    symbol->end = next < d->nr_codes ? d->codes[next].offset : UINT64_MAX;
    return SYMBOL_NO_MATCH;
}

static uint64_t size_of_names(const struct symbol_handle *handle) {
    return dump_of(handle)->name_bytes;
}

static enum symbol_result open_nothing(const struct symbol_object *object, struct memory *memory,
                                       struct symbol_handle **handle) {
    (void)object, (void)memory;
    *handle = NULL;
    return SYMBOL_NO_FILE;
}

const struct symbol_source jit_dump_symbol_source = {
    "jitdump", open_nothing, find, handle_segments, handle_build_id, size_of_names, NULL, handle_close,
};
