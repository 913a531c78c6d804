/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines_of OBJECT: reads hexadecimal addresses, one per line, and prints for each the frames that
 * src/symbol/dwarf/debug_lines.h finds: a line "FUNCTION<tab>FILE<tab>LINE" for each frame, innermost first ("?" for
 * unknown parts), then an empty line. Prints the peak memory use on standard error.
 */
#include "symbol/dwarf/debug_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_frames(const struct source_frames *frames) {
    for (size_t i = 0; i < frames->count; i++) {
        const struct source_frame *f = &frames->at[i];
        printf("%s\t%s\t%u\n", f->function ? f->function : "?", f->file ? f->file : "?", f->line);
    }
    putchar('\n');
}

static bool answer(struct debug_lines *lines) {
    char line[64];
    struct source_frames frames;
    while (fgets(line, sizeof line, stdin)) {
        const enum symbol_result result = debug_lines_find(lines, strtoull(line, NULL, 16), &frames);
        if (result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY) {
            fprintf(stderr, "lines_of: %s", symbol_result_text(result));
            return false;
        }
        print_frames(&frames);
    }
    return true;
}

int main(int argc, char **argv) {
    struct memory memory;
    struct debug_lines *lines;
    memory_init(&memory, NULL, (uint64_t)4 << 30);
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = argc == 2 ? argv[1] : ""};
    const enum symbol_result result = debug_lines_open(&object, &memory, &lines);
    if (result != SYMBOL_FOUND) {
        fprintf(stderr, "lines_of: %s: %s\n", object.path, symbol_result_text(result));
        return 1;
    }
    const bool done = answer(lines);
    debug_lines_close(lines);
    fprintf(stderr, "lines_of: %" PRIu64 " bytes\n", memory.peak);
    return !done || memory.used != 0;
}
