/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object file with debug information. The addresses to look up are the aligned words of the file, because it
 * contains the addresses that have lines. Laws: a result is valid for its whole range, and a second lookup gives the
 * same result.
 */
#include "fuzz_symbols.h"
#include "symbol/dwarf/debug_lines.h"

#define WORDS_MOST 1024u

static void check_answer(struct debug_lines *lines, uint64_t address) {
    struct source_frames first, second;
    const enum symbol_result result = debug_lines_find(lines, address, &first);
    if (result != SYMBOL_FOUND)
        return;
    const struct source_frame innermost = first.at[0];
    const size_t count = first.count;
    LAW(address >= first.from && address < first.end && count > 0, "%zu frames at %#jx", count, (uintmax_t)address);
    LAW(debug_lines_find(lines, first.from, &second) == SYMBOL_FOUND && second.count == count, "other frames at %#jx",
        (uintmax_t)first.from);
    LAW(second.at[0].line == innermost.line && second.at[0].function == innermost.function, "another line at %#jx",
        (uintmax_t)first.from);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct memory memory;
    struct debug_lines *lines;
    struct fuzz_file file;
    fuzz_file_open(&file, bytes, length);
    memory_init(&memory, NULL, (uint64_t)64 << 20);
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = file.path};
    if (debug_lines_open(&object, &memory, &lines) == SYMBOL_FOUND) {
        for (size_t at = 0; at + 8 <= length && at / 8 < WORDS_MOST; at += 8)
            check_answer(lines, load_u64(bytes + at, false));
        debug_lines_close(lines);
    }
    LAW(memory.used == 0, "%ju bytes are left", (uintmax_t)memory.used);
    fuzz_file_close(&file);
    return 0;
}
