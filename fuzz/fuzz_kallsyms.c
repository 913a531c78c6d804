/* SPDX-License-Identifier: Apache-2.0 */
/* A list of kernel symbols; looks up the address at the start of each line, and the address before it. */
#include "fuzz_symbols.h"

#include <stdlib.h>

#define LINES_MOST 256u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    uint64_t addresses[2 * LINES_MOST];
    size_t count = 0;
    struct fuzz_file file;
    char digits[20] = {0};
    for (size_t at = 0; at + sizeof digits < length && count < 2 * LINES_MOST; at++) {
        if (at > 0 && bytes[at - 1] != '\n')
            continue;
        memcpy(digits, bytes + at, sizeof digits - 1);
        addresses[count] = strtoull(digits, NULL, 16);
        addresses[count + 1] = addresses[count] - 1;
        count += 2;
    }
    fuzz_file_open(&file, bytes, length);
    const struct symbol_object object = {.kind = SYMBOL_KERNEL, .path = file.path};
    fuzz_symbols(&kallsyms_symbol_source, &object, addresses, count);
    fuzz_file_close(&file);
    return 0;
}
