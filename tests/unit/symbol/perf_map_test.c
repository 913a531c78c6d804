/* SPDX-License-Identifier: Apache-2.0 */
/* Perf map files: names with spaces, code at an address that is defined again, and files that must not be opened. */
#include <fcntl.h>
#include <sys/stat.h>
#include "scratch_file.h"
#include "base/failing_alloc.h"

static const char *const sample = "1000 100 first\n"
                                  "0x2000 0x80 LazyCompile:~add /srv/app.js:12\n"
                                  "1040 20 again inside\n"
                                  "1000 10 again at the start\n"
                                  "3000 0 empty\n"
                                  "zzz\n"
                                  "12345678123456781 10 too many digits\n"
                                  "4000 10 \n"
                                  "5000 10 cut";

static enum symbol_result open_map(const struct scratch_file *scratch, struct memory *memory,
                                   struct symbol_handle **handle) {
    const struct symbol_object object = {.kind = SYMBOL_JIT, .path = scratch->path, .owner = geteuid()};
    memory_init(memory, NULL, 0);
    return perf_map_symbol_source.open(&object, memory, handle);
}

TEST(perf_map_last_definition_wins) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    scratch_make(&scratch);
    scratch_write(&scratch, sample, strlen(sample));
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_FOUND);
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x100f), "again at the start");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x1010), "first");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x105f), "again inside");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x10ff), "first");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x1100), symbol_result_text(SYMBOL_NO_MATCH));
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x207f), "LazyCompile:~add /srv/app.js:12");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x3000), "empty");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x4000), symbol_result_text(SYMBOL_NO_MATCH));
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x5000), "cut");
    perf_map_symbol_source.close(handle);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(perf_map_leaves_out_lines_that_never_end) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    const size_t length = 200000;
    char *text = malloc(length);
    assert_non_null(text);
    memset(text, '1', length);
    memcpy(text, "1000 10 one\n2000 10 ", 20);
    memcpy(text + length - 14, "\n3000 10 three", 14);
    scratch_make(&scratch);
    scratch_write(&scratch, text, length);
    free(text);
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_FOUND);
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x1000), "one");
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x2000), symbol_result_text(SYMBOL_NO_MATCH));
    assert_string_equal(name_at(&perf_map_symbol_source, handle, 0x3000), "three");
    perf_map_symbol_source.close(handle);
    scratch_remove(&scratch);
}

TEST(perf_map_opens_only_regular_files_of_the_right_owner) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    scratch_make(&scratch);
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_NO_FILE);
    assert_int_equal(symlink("/etc/passwd", scratch.path), 0);
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_NOT_REGULAR);
    unlink(scratch.path);
    assert_int_equal(mkfifo(scratch.path, 0600), 0);
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_NOT_REGULAR);
    unlink(scratch.path);
    scratch_write(&scratch, sample, strlen(sample));
    if (chown(scratch.path, 65534, 65534) == 0)
        assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_NOT_PERMITTED);
    scratch_remove(&scratch);
}

TEST(perf_map_of_ten_gigabytes_is_refused_unread) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    scratch_make(&scratch);
    scratch_write(&scratch, sample, strlen(sample));
    if (truncate(scratch.path, (off_t)10 << 30) == 0)
        assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_LIMIT);
    scratch_remove(&scratch);
}

TEST(perf_map_without_a_symbol) {
    struct scratch_file scratch;
    struct memory memory;
    struct symbol_handle *handle;
    scratch_make(&scratch);
    scratch_write(&scratch, "\n\n", 2);
    assert_result_is(open_map(&scratch, &memory, &handle), SYMBOL_NO_SYMBOLS);
    assert_null(handle);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
}

TEST(perf_map_every_allocation_fails_once) {
    struct scratch_file scratch;
    struct failing_alloc failing;
    const struct symbol_object object = {.kind = SYMBOL_JIT, .path = scratch.path, .owner = geteuid()};
    scratch_make(&scratch);
    scratch_write(&scratch, sample, strlen(sample));
    for (long n = 1;; n++) {
        struct memory memory;
        struct symbol_handle *handle;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const enum symbol_result result = perf_map_symbol_source.open(&object, &memory, &handle);
        perf_map_symbol_source.close(handle);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    scratch_remove(&scratch);
}
