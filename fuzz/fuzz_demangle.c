/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name. The answer is text within its limit, and the same when asked again. */
#include "fuzz.h"
#include "symbol/demangle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct cursor in = cursor_on(bytes, length, 0, false);
    const unsigned flags = (unsigned)fuzz_take(&in, 1) & (DEMANGLE_PARAMETERS | DEMANGLE_HASH);
    const size_t left = cursor_left(&in);
    struct memory memory;
    struct demangler d;
    char *name = calloc(left + 1, 1), *kept = NULL;
    LAW(name, "no memory");
    if (left)
        memcpy(name, in.at, left);
    memory_init(&memory, NULL, fuzz_limits.memory);
    demangler_init(&d, &memory);
    const char *first = demangle(&d, name, flags);
    LAW(!first || (*first && strlen(first) < DEMANGLED_MOST), "%zu bytes from %zu", strlen(first), left);
    if (first)
        kept = strdup(first);
    const char *again = demangle(&d, name, flags);
    LAW(!first == !again && (!first || strcmp(kept, again) == 0), "another answer for %s", name);
    demangler_free(&d);
    LAW(memory.used == 0, "%ju bytes are still held", (uintmax_t)memory.used);
    free(kept);
    free(name);
    return 0;
}
