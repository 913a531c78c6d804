/* SPDX-License-Identifier: Apache-2.0 */
/*
 * disasm_starts MACHINE ADDRESS FILE OFFSET LENGTH - prints where the instructions of a part of a file begin, one line
 * each: the address in hexadecimal, followed by "bad" for unknown instructions. MACHINE is x86-64 or aarch64.
 */
#include "symbol/disasm/disasm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OVERLAP 16u /* room for an instruction that the end of the piece may have cut */

/* Prints the instructions that are certainly complete; returns their size in bytes. */
static size_t print(const struct code *code, size_t length, bool is_last) {
    size_t done = 0;
    for (size_t i = 0; i < code->count && (is_last || done + OVERLAP < length); i++) {
        printf("%llx%s\n", (unsigned long long)code->at[i].address, code->at[i].kind == INSN_BAD ? " bad" : "");
        done += code->at[i].size;
    }
    return done;
}

static bool print_piece(struct disasm *d, FILE *file, struct memory *memory, uint64_t *address, uint64_t *left) {
    static uint8_t bytes[DISASM_BYTES_MOST];
    const size_t wanted = *left < sizeof bytes ? (size_t)*left : sizeof bytes;
    const size_t length = fread(bytes, 1, wanted, file);
    struct code code;
    if (length != wanted || disasm_run(d, *address, bytes, length, memory, &code) != SYMBOL_FOUND)
        return false;
    const size_t done = print(&code, length, length == *left);
    code_free(&code, memory);
    *address += done;
    *left -= done;
    return fseek(file, (long)done - (long)length, SEEK_CUR) == 0;
}

int main(int count, char **words) {
    struct memory memory;
    struct disasm d;
    bool fine = count == 6;
    memory_init(&memory, NULL, 0);
    FILE *const file = fine ? fopen(words[3], "rb") : NULL;
    if (!file || fseek(file, atol(words[4]), SEEK_SET) != 0)
        return 2;
    uint64_t address = strtoull(words[2], NULL, 0), left = strtoull(words[5], NULL, 0);
    disasm_begin(&d, strcmp(words[1], "aarch64") == 0 ? DISASM_AARCH64 : DISASM_X86_64, false);
    while (fine && left)
        fine = print_piece(&d, file, &memory, &address, &left);
    disasm_end(&d);
    fclose(file);
    return fine ? 0 : 1;
}
