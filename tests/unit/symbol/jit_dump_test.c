/* SPDX-License-Identifier: Apache-2.0 */
/* Jitdumps in both byte orders, truncated at every byte, damaged in every byte, and files that may not be opened. */
#include "jit_dump_builder.h"

#include "base/failing_alloc.h"
#include "scratch_file.h"
#include "symbol/jit/jit_dump.h"

#include <fcntl.h>
#include <sys/stat.h>

static enum symbol_result open_dump(const struct scratch_file *scratch, struct memory *memory, struct jit_dump **dump) {
    const struct symbol_object object = {.kind = SYMBOL_JIT, .path = scratch->path, .owner = geteuid()};
    return jit_dump_open(&object, memory, UINT64_MAX, dump);
}

/* Two pieces of code; the first one has lines and unwinding information, and is moved. */
static void make_dump(struct builder *b) {
    begin_dump(b, 0);
    put_lines(b, 0x1000, 3, 2 * LINE_BYTES("a.js") - 1 + LINE_BYTES("\xff") + 1);
    put_line(b, 0x1000, 10, "a.js");
    put_line(b, 0x1004, 11, "\xff");
    put_line(b, 0x1008, 20, "b.js");
    put_unwinding(b, "frames.", 8, 20);
    put_load(b, 100, 0x1000, 16, 5, "first");
    put_load(b, 200, 0x3000, 8, 6, "second");
    put_move(b, 300, 0x1000, 0x2000, 16, 5);
    put_record(b, DUMP_CLOSE, 0, 400);
}

static const char *name_of(const struct jit_dump *d, uint64_t offset) {
    const struct jit_code *code = jit_dump_code(d, offset);
    return code ? intern_chars(&d->names, code->name) : "-";
}

static void assert_line_is(const struct jit_dump *d, uint64_t offset, uint32_t line, const char *file) {
    const struct jit_line *found = jit_dump_line(d, offset);
    assert_non_null(found);
    assert_int_equal(found->line, line);
    assert_string_equal(intern_chars(&d->names, found->file), file);
}

static void assert_change_is(const struct jit_dump *d, size_t i, uint64_t time, uint64_t address, uint32_t code) {
    assert_int_equal(d->changes[i].time, time);
    assert_int_equal(d->changes[i].address, address);
    assert_int_equal(d->changes[i].code, code);
}

static void assert_is_whole(const struct jit_dump *d) {
    const uint64_t first = d->codes[0].offset, second = d->codes[1].offset;
    assert_int_equal(d->nr_codes, 2);
    assert_int_equal(d->nr_changes, 4);
    assert_int_equal(d->damaged, 0);
    assert_int_equal(d->ended, SYMBOL_FOUND);
    assert_change_is(d, 0, 100, 0x1000, 0);
    assert_change_is(d, 1, 200, 0x3000, 1);
    assert_change_is(d, 2, 300, 0x1000, JIT_GONE);
    assert_change_is(d, 3, 300, 0x2000, 0);
    assert_string_equal(name_of(d, first), "first");
    assert_string_equal(name_of(d, first + 15), "first");
    assert_string_equal(name_of(d, first + 16), "-");
    assert_string_equal(name_of(d, second + 7), "second");
    assert_line_is(d, first, 10, "a.js");
    assert_line_is(d, first + 5, 11, "a.js");
    assert_line_is(d, first + 15, 20, "b.js");
    assert_null(jit_dump_line(d, second));
    assert_int_equal(d->codes[0].frames_size, 8);
    assert_int_equal(d->codes[1].frames_size, 0);
}

static void read_in(bool big) {
    struct scratch_file scratch;
    struct builder b = {.big = big};
    struct memory memory;
    struct jit_dump *d;
    make_dump(&b);
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_is_whole(d);
    assert_string_equal((const char *)d->codes[0].frames, "frames.");
    jit_dump_close(d);
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
    free(b.bytes);
}

TEST(jit_dump_of_either_byte_order) {
    read_in(false);
    read_in(true);
}

TEST(jit_dump_names_by_offset) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    struct symbol_handle *handle;
    struct symbol symbol;
    make_dump(&b);
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_result_is(jit_dump_symbols(d, &memory, &handle), SYMBOL_FOUND);
    const uint64_t first = d->codes[0].offset, second = d->codes[1].offset;
    assert_string_equal(name_at(&jit_dump_symbol_source, handle, second + 3), "second");
    assert_result_is(jit_dump_symbol_source.find(handle, first + 16, &symbol), SYMBOL_NO_MATCH);
    assert_int_equal(symbol.from, first + 16);
    assert_int_equal(symbol.end, second);
    assert_result_is(jit_dump_symbol_source.find(handle, second + 8, &symbol), SYMBOL_NO_MATCH);
    assert_int_equal(symbol.end, UINT64_MAX);
    assert_result_is(jit_dump_symbol_source.find(handle, 3, &symbol), SYMBOL_NO_MATCH);
    assert_int_equal(symbol.end, first);
    jit_dump_symbol_source.close(handle);
    jit_dump_close(d);
    scratch_remove(&scratch);
    free(b.bytes);
}

/* Some writers add the size of an ELF header to the addresses of lines; it is subtracted. */
TEST(jit_dump_lines_after_an_elf_header) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    begin_dump(&b, 0);
    put_lines(&b, 0x1000, 2, 2 * LINE_BYTES("a"));
    put_line(&b, 0x1040, 1, "a");
    put_line(&b, 0x1048, 2, "a");
    put_load(&b, 1, 0x1000, 16, 1, "one");
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_line_is(d, d->codes[0].offset + 7, 1, "a");
    assert_line_is(d, d->codes[0].offset + 8, 2, "a");
    jit_dump_close(d);
    scratch_remove(&scratch);
    free(b.bytes);
}

/* A record that is not valid is skipped, together with the lines before it. */
TEST(jit_dump_skips_invalid_records) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    begin_dump(&b, 0);
    put_lines(&b, 0x1000, UINT64_MAX, LINE_BYTES("a"));
    put_line(&b, 0x1000, 1, "a");
    const size_t load = b.length;
    put_load(&b, 1, 0x1000, 16, 1, "one");
    set_number(&b, b.bytes + load + 40, UINT64_MAX - 3, 8); /* size of the code */
    put_lines(&b, 0x1000, 2, 2 * LINE_BYTES("a"));
    put_line(&b, 0x1008, 1, "a");
    put_line(&b, 0x1000, 2, "a"); /* a decreasing address */
    put_move(&b, 1, 0x1000, 0x2000, 16, 77);
    put_record(&b, 99, 8, 1);
    put_number(&b, 0, 8);
    put_load(&b, 1, 0x1000, 16, 1, "two");
    put_move(&b, 2, 0x1000, 0x2000, 17, 1);
    put_load(&b, 3, 0x1000, 0, 2, "empty");
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_int_equal(d->nr_codes, 1);
    assert_int_equal(d->nr_changes, 1);
    assert_string_equal(name_of(d, d->codes[0].offset), "two");
    assert_null(jit_dump_line(d, d->codes[0].offset));
    assert_int_equal(d->damaged, 5);
    assert_int_equal(d->damaged_at, DUMP_HEADER);
    jit_dump_close(d);
    scratch_remove(&scratch);
    free(b.bytes);
}

/* Writes into the existing file: making a new one for each byte would be too slow. */
static void put_at(const struct scratch_file *scratch, const uint8_t *bytes, size_t length, size_t at) {
    const int fd = open(scratch->path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, bytes, length, (off_t)at), length);
    close(fd);
}

TEST(jit_dump_grows_while_it_is_read) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    make_dump(&b);
    scratch_make(&scratch);
    memory_init(&memory, NULL, 0);
    scratch_write(&scratch, b.bytes, DUMP_HEADER);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    for (size_t length = DUMP_HEADER; length <= b.length; length++) {
        put_at(&scratch, b.bytes + length - 1, 1, length - 1);
        jit_dump_read_on(d);
        assert_int_equal(d->ended, SYMBOL_FOUND);
    }
    assert_is_whole(d);
    jit_dump_close(d);
    scratch_remove(&scratch);
    free(b.bytes);
}

/* If the file is truncated anywhere, the complete records are found; if any byte is changed, opening ends and lookups
   work. */
TEST(jit_dump_cut_and_changed_at_every_byte) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    make_dump(&b);
    scratch_make(&scratch);
    memory_init(&memory, NULL, 0);
    scratch_write(&scratch, b.bytes, b.length);
    for (size_t length = b.length + 1; length-- > 0;) {
        assert_int_equal(truncate(scratch.path, (off_t)length), 0);
        const enum symbol_result result = open_dump(&scratch, &memory, &d);
        assert_result_is(result, length < DUMP_HEADER ? SYMBOL_NOT_ELF : SYMBOL_FOUND);
        assert_true(!d || (d->damaged == 0 && d->nr_codes <= 2));
        jit_dump_close(d);
    }
    put_at(&scratch, b.bytes, b.length, 0);
    for (size_t at = 0; at < 3 * b.length; at++) {
        uint8_t *byte = &b.bytes[at / 3], before = *byte;
        *byte = at % 3 == 0 ? 0 : at % 3 == 1 ? 0xff : (uint8_t)(before ^ 1);
        put_at(&scratch, byte, 1, at / 3);
        open_dump(&scratch, &memory, &d);
        for (uint64_t offset = 0; d && offset < b.length; offset += 3) {
            name_of(d, offset);
            jit_dump_line(d, offset);
        }
        jit_dump_close(d);
        *byte = before;
        put_at(&scratch, byte, 1, at / 3);
    }
    assert_int_equal(memory.used, 0);
    scratch_remove(&scratch);
    free(b.bytes);
}

TEST(jit_dump_with_a_name_of_two_megabytes) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    char *name = malloc((2 << 20) + 1);
    assert_non_null(name);
    memset(name, 'n', 2 << 20);
    name[2 << 20] = '\0';
    begin_dump(&b, 0);
    put_load(&b, 1, 0x1000, 16, 1, name);
    name[1000000] = '\0';
    put_load(&b, 1, 0x2000, 16, 1, name);
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_int_equal(d->damaged, 1);
    assert_int_equal(strlen(name_of(d, d->codes[0].offset)), 1000000);
    jit_dump_close(d);
    scratch_remove(&scratch);
    free(b.bytes);
    free(name);
}

TEST(jit_dump_opens_only_regular_files_of_the_right_owner) {
    struct scratch_file scratch;
    struct builder b = {0};
    struct memory memory;
    struct jit_dump *d;
    make_dump(&b);
    scratch_make(&scratch);
    memory_init(&memory, NULL, 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_NO_FILE);
    assert_int_equal(symlink("/etc/passwd", scratch.path), 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_NOT_REGULAR);
    unlink(scratch.path);
    assert_int_equal(mkfifo(scratch.path, 0600), 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_NOT_REGULAR);
    unlink(scratch.path);
    scratch_write(&scratch, b.bytes, b.length);
    assert_int_equal(truncate(scratch.path, (off_t)1 << 40), 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND); /* the CLOSE record ends it */
    assert_is_whole(d);
    jit_dump_close(d);
    scratch_write(&scratch, b.bytes, b.length - 16);
    assert_int_equal(truncate(scratch.path, (off_t)1 << 40), 0);
    assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_FOUND);
    assert_int_equal(d->nr_codes, 2);
    assert_result_is(d->ended, SYMBOL_DAMAGED);
    jit_dump_close(d);
    if (chown(scratch.path, 65534, 65534) == 0)
        assert_result_is(open_dump(&scratch, &memory, &d), SYMBOL_NOT_PERMITTED);
    scratch_remove(&scratch);
    free(b.bytes);
}

TEST(jit_dump_every_allocation_fails_once) {
    struct scratch_file scratch;
    struct failing_alloc failing;
    struct builder b = {0};
    make_dump(&b);
    scratch_make(&scratch);
    scratch_write(&scratch, b.bytes, b.length);
    for (long n = 1;; n++) {
        struct memory memory;
        struct jit_dump *d;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const enum symbol_result result = open_dump(&scratch, &memory, &d);
        jit_dump_close(d);
        assert_int_equal(failing.blocks, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
    scratch_remove(&scratch);
    free(b.bytes);
}

TEST(jit_dump_is_found_by_its_name) {
    static const char *const names[] = {"jit-1.dump", "/tmp/a b/jit-4711.dump"};
    static const char *const others[] = {
        "jit-.dump", "jit-1x.dump", "jit-1.dum", "xjit-1.dump", "/jit-1.dump/x", "", "jit-1.dump (deleted)"};
    for (size_t i = 0; i < 2; i++)
        assert_true(jit_dump_is_named(names[i], strlen(names[i])));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(jit_dump_is_named(others[i], strlen(others[i])));
}
