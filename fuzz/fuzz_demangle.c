/* SPDX-License-Identifier: Apache-2.0 */
/* A mangled name. The demangled name is text of limited length, and the same when requested again. */
#include "fuzz.h"
#include "symbol/demangle/demangle.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    static char first[DEMANGLED_MOST], again[DEMANGLED_MOST];
    struct cursor in = cursor_on(bytes, length, 0, false);
    const unsigned flags = (unsigned)fuzz_take(&in, 1) & (DEMANGLE_PARAMETERS | DEMANGLE_HASH);
    const size_t left = cursor_left(&in);
    char *name = calloc(left + 1, 1);
    LAW(name, "no memory");
    if (left)
        memcpy(name, in.at, left);
    const size_t made = demangle_here(name, flags, first);
    LAW(made <= DEMANGLED_MOST, "%zu bytes from %zu", made, left);
    LAW(demangle_here(name, flags, again) == made && memcmp(first, again, made) == 0, "another answer for %s", name);
    free(name);
    return 0;
}
