/* SPDX-License-Identifier: Apache-2.0 */
/* Functions shared by all sources: texts of results, and conversion of file offsets to addresses. */
#include "symbol/table/symbol_source.h"

static const char *const result_texts[SYMBOL_RESULTS] = {
    [SYMBOL_FOUND] = "found",
    [SYMBOL_NO_MATCH] = "no symbol covers the address",
    [SYMBOL_NO_FILE] = "no such file",
    [SYMBOL_NOT_PERMITTED] = "not permitted to read it",
    [SYMBOL_NOT_REGULAR] = "not a regular file",
    [SYMBOL_NOT_ELF] = "not an ELF object",
    [SYMBOL_OTHER_BUILD] = "its build-id is another one",
    [SYMBOL_NO_BUILD_ID] = "it has no build-id to compare",
    [SYMBOL_NO_SYMBOLS] = "it has no symbols",
    [SYMBOL_HIDDEN] = "the kernel hides its addresses (kptr_restrict)",
    [SYMBOL_DAMAGED] = "it is damaged",
    [SYMBOL_LIMIT] = "it is larger than the limits allow",
    [SYMBOL_NO_MEMORY] = "out of memory",
    [SYMBOL_IO] = "it could not be read",
};

const char *symbol_result_text(enum symbol_result result) {
    return (unsigned)result < SYMBOL_RESULTS ? result_texts[result] : "unknown outcome";
}

void build_id_text(char to[BUILD_ID_TEXT_ROOM], const uint8_t *id, size_t size) {
    static const char digits[] = "0123456789abcdef";
    for (size_t i = 0; i < size && i < BUILD_ID_MOST; i++) {
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
    *to = '\0';
}

static bool segment_to_address(const struct symbol_segment *segment, uint64_t offset, uint64_t *address) {
    if (offset < segment->offset || offset - segment->offset >= segment->size)
        return false;
    *address = segment->address + (offset - segment->offset);
    return true;
}

static bool behind_a_segment(struct symbol_segments segments, uint64_t offset, uint64_t *address) {
    const struct symbol_segment *last = NULL;
    for (size_t i = 0; i < segments.count; i++)
        if (segments.at[i].offset <= offset && (!last || segments.at[i].offset > last->offset))
            last = &segments.at[i];
    if (last)
        *address = last->address + (offset - last->offset);
    return last != NULL;
}

bool segments_to_address(struct symbol_segments segments, uint64_t offset, uint64_t *address) {
    for (size_t i = 0; i < segments.count; i++)
        if (segments.at[i].executable && segment_to_address(&segments.at[i], offset, address))
            return true;
    for (size_t i = 0; i < segments.count; i++)
        if (segment_to_address(&segments.at[i], offset, address))
            return true;
    return behind_a_segment(segments, offset, address);
}
