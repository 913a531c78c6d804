/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_SCRATCH_FILE_H
#define PFR_TESTS_SCRATCH_FILE_H
/* Makes a folder for one test, and files in it. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "test.h"
#include "symbol/table/symbol_source.h"

struct scratch_file {
    char folder[64], path[96];
};

static inline void scratch_make(struct scratch_file *scratch) {
    const char *parent = getenv("TMPDIR");
    const int length = snprintf(scratch->folder, sizeof scratch->folder, "%s/perfray-symbol-XXXXXX",
                                parent && strlen(parent) < 32 ? parent : "/tmp");
    assert_true(length > 0 && (size_t)length < sizeof scratch->folder);
    assert_non_null(mkdtemp(scratch->folder));
    snprintf(scratch->path, sizeof scratch->path, "%s/file", scratch->folder);
}

static inline void scratch_write(const struct scratch_file *scratch, const void *bytes, size_t length) {
    FILE *file = fopen(scratch->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static inline void scratch_remove(const struct scratch_file *scratch) {
    unlink(scratch->path);
    rmdir(scratch->folder);
}

static inline void assert_result_is(enum symbol_result result, enum symbol_result expected) {
    if (result != expected)
        fail_msg("the result is \"%s\", not \"%s\"", symbol_result_text(result), symbol_result_text(expected));
}

/* Returns the name at an address, or the text of the result if there is no symbol. */
static inline const char *name_at(const struct symbol_source *source, struct symbol_handle *handle, uint64_t address) {
    struct symbol symbol;
    const enum symbol_result result = source->find(handle, address, &symbol);
    return result == SYMBOL_FOUND ? symbol.name : symbol_result_text(result);
}

#endif
