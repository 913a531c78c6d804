/* SPDX-License-Identifier: Apache-2.0 */
/* Lookups in a symbol source: see fuzz_symbols.h. */
#include "fuzz_symbols.h"

static void check_symbol(const struct symbol *symbol, uint64_t address) {
    LAW(symbol->name && strlen(symbol->name) == symbol->name_length, "a name of %zu bytes", symbol->name_length);
    LAW(symbol->name_length > 0, "an empty name at %#jx", (uintmax_t)address);
    LAW(symbol->module && strlen(symbol->module) < UINT32_MAX, "no module");
    LAW(address >= symbol->start && address - symbol->start < symbol->size, "%s at %#jx has %ju bytes, not %#jx",
        symbol->name, (uintmax_t)symbol->start, (uintmax_t)symbol->size, (uintmax_t)address);
}

static void ask(const struct symbol_source *source, struct symbol_handle *handle, uint64_t address) {
    struct symbol first, again;
    const enum symbol_result result = source->find(handle, address, &first);
    LAW(source->find(handle, address, &again) == result, "another answer for %#jx", (uintmax_t)address);
    if (result != SYMBOL_FOUND)
        return;
    check_symbol(&first, address);
    LAW(first.name == again.name && first.start == again.start && first.size == again.size, "another symbol at %#jx",
        (uintmax_t)address);
}

static void ask_segments(const struct symbol_source *source, struct symbol_handle *handle) {
    const struct symbol_segments segments = source->segments(handle);
    uint64_t address;
    for (size_t i = 0; i < segments.count; i++)
        if (segments_to_address(segments, segments.at[i].offset + segments.at[i].size / 2, &address))
            ask(source, handle, address);
}

void fuzz_symbols(const struct symbol_source *source, const struct symbol_object *object, const uint64_t *addresses,
                  size_t count) {
    struct memory memory;
    struct symbol_handle *handle;
    size_t size;
    memory_init(&memory, NULL, fuzz_limits.memory);
    const enum symbol_result result = source->open(object, &memory, &handle);
    LAW(result < SYMBOL_RESULTS && symbol_result_text(result), "result %d", (int)result);
    LAW((result == SYMBOL_FOUND) == (handle != NULL), "%s, and a handle %p", symbol_result_text(result),
        (void *)handle);
    if (handle) {
        source->build_id(handle, &size);
        LAW(size <= BUILD_ID_MOST, "a build-id of %zu bytes", size);
        ask_segments(source, handle);
        ask(source, handle, 0);
        ask(source, handle, UINT64_MAX);
        for (size_t i = 0; i < count; i++)
            ask(source, handle, addresses[i]);
        source->close(handle);
    }
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
}
