/* SPDX-License-Identifier: Apache-2.0 */
/* An object file. The addresses to look up are the aligned words of the file, because it contains the addresses that
   have symbols. */
#include "fuzz_symbols.h"

#define WORDS_MOST 1024u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint64_t addresses[WORDS_MOST];
    size_t count = 0;
    struct fuzz_file file;
    for (size_t at = 0; at + 8 <= length && count < WORDS_MOST; at += 8)
        addresses[count++] = load_u64(bytes + at, false);
    fuzz_file_open(&file, bytes, length);
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = file.path};
    fuzz_symbols(&elf_symbol_source, &object, addresses, count);
    fuzz_file_close(&file);
    return 0;
}
