/* SPDX-License-Identifier: Apache-2.0 */
/* Lines and inlined calls of small objects (tests/fixtures/objects): complete, truncated, damaged, and with failing
 * allocations. */
#include "symbol/dwarf/debug_lines.h"
#include "scratch_file.h"
#include "fixture_object.h"
#include "base/failing_alloc.h"

#define FROM 0x280u /* all their code is in this range */
#define END 0x1200u

static const struct {
    const char *name;
    size_t deepest; /* frames of one address, as llvm-symbolizer 19 gives them */
} objects[] = {
    {"nested-gcc2.so", 1}, /* DWARF 2 cannot express the ranges of the other frames */
    {"nested-gcc4.so", 3}, {"nested-gcc5.so", 3}, {"nested-zlib.so", 3}, {"nested-zstd.so", 4}, {"nested-s390x.so", 3},
};

static enum symbol_result open_at(const char *path, struct memory *memory, struct debug_lines **lines) {
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = path};
    return debug_lines_open(&object, memory, lines);
}

/* Each caller's frame must be at the line of its call in nested.c. */
static void check_chain(const struct source_frames *f) {
    for (size_t i = 0; i + 1 < f->count; i++) {
        const char *caller = f->at[i + 1].function;
        const uint32_t line = f->at[i + 1].line;
        assert_true(f->at[i].is_inlined);
        if (strcmp(caller, "twice") == 0)
            assert_int_equal(line, 12);
        else if (strcmp(caller, "hot") == 0)
            assert_int_equal(line, 18);
        else
            assert_string_equal(caller, "cold");
        if (strcmp(caller, "cold") == 0)
            assert_int_equal(line, 23);
    }
    assert_false(f->at[f->count - 1].is_inlined);
    assert_string_equal(f->at[0].file, "/nested/nested.c");
}

TEST(debug_lines_list_inlined_calls) {
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        struct memory memory;
        struct debug_lines *lines;
        struct source_frames frames;
        size_t deepest = 0;
        memory_init(&memory, NULL, 0);
        assert_result_is(open_at(fixture_object(objects[i].name), &memory, &lines), SYMBOL_FOUND);
        for (uint64_t address = FROM; address < END; address++) {
            if (debug_lines_find(lines, address, &frames) != SYMBOL_FOUND)
                continue;
            assert_true(frames.from <= address && address < frames.end);
            check_chain(&frames);
            deepest = frames.count > deepest ? frames.count : deepest;
        }
        assert_int_equal(deepest, objects[i].deepest);
        debug_lines_close(lines);
        assert_int_equal(memory.used, 0);
    }
}

static enum symbol_result ask_all(const char *path, struct memory *memory) {
    struct debug_lines *lines;
    struct source_frames frames;
    enum symbol_result result = open_at(path, memory, &lines);
    for (uint64_t address = FROM; result == SYMBOL_FOUND && address < END; address += 3) {
        const enum symbol_result found = debug_lines_find(lines, address, &frames);
        if (found == SYMBOL_NO_MEMORY || found == SYMBOL_LIMIT)
            result = found;
    }
    debug_lines_close(lines);
    return result;
}

TEST(debug_lines_survive_every_failing_allocation) {
    struct failing_alloc failing;
    for (long n = 1;; n++) {
        struct memory memory;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        const enum symbol_result result = ask_all(fixture_object("nested-zstd.so"), &memory);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
        assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        if (!failing.has_failed)
            break;
    }
}

TEST(debug_lines_survive_each_damaged_byte) {
    static uint8_t bytes[32 << 10];
    struct scratch_file scratch;
    FILE *file = fopen(fixture_object("nested-gcc5.so"), "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    scratch_make(&scratch);
    for (size_t at = 0; at < length; at += STEP_OF(7u)) {
        struct memory memory;
        const uint8_t was = bytes[at];
        memory_init(&memory, NULL, (uint64_t)16 << 20);
        bytes[at] ^= (uint8_t)(1u + at % 255);
        scratch_write(&scratch, bytes, at % 2 ? length : length - at % length);
        ask_all(scratch.path, &memory);
        assert_int_equal(memory.used, 0);
        bytes[at] = was;
    }
    scratch_remove(&scratch);
}

/* Objects with a part of their data in another file. */
static const struct {
    const char *name, *other;
} apart[] = {
    {"nested-package.so", "nested-package.so.dwp"},
    {"nested-split.so", "nested-split.so-nested.dwo"},
    {"nested-shared.so", "nested-shared.debug"},
};

static size_t read_fixture(const char *name, uint8_t *bytes, size_t room) {
    FILE *file = fopen(fixture_object(name), "rb");
    assert_non_null(file);
    const size_t length = fread(bytes, 1, room, file);
    fclose(file);
    assert_true(length > 0 && length < room);
    return length;
}

/* A folder with an object and, if has_other, its other part. */
static void put_apart(struct scratch_file *object, struct scratch_file *other, size_t i, bool has_other) {
    static uint8_t bytes[32 << 10];
    scratch_make(object);
    snprintf(object->path, sizeof object->path, "%s/%s", object->folder, apart[i].name);
    scratch_write(object, bytes, read_fixture(apart[i].name, bytes, sizeof bytes));
    *other = *object;
    snprintf(other->path, sizeof other->path, "%s/%s", object->folder, apart[i].other);
    if (has_other)
        scratch_write(other, bytes, read_fixture(apart[i].other, bytes, sizeof bytes));
}

static void remove_apart(const struct scratch_file *object, const struct scratch_file *other) {
    unlink(other->path);
    scratch_remove(object);
}

/* Counts the addresses that have a function, and the addresses in an inlined function. */
static void count_named(const char *path, size_t *named, size_t *inlined) {
    struct memory memory;
    struct debug_lines *lines;
    struct source_frames frames;
    memory_init(&memory, NULL, 0);
    assert_result_is(open_at(path, &memory, &lines), SYMBOL_FOUND);
    *named = *inlined = 0;
    for (uint64_t address = FROM; address < END; address++) {
        if (debug_lines_find(lines, address, &frames) != SYMBOL_FOUND)
            continue;
        *named += frames.at[frames.count - 1].function != NULL;
        *inlined += frames.count > 1;
    }
    debug_lines_close(lines);
    assert_int_equal(memory.used, 0);
}

TEST(debug_lines_read_what_is_in_other_files) {
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        struct scratch_file object, other;
        size_t named, inlined, bare_named, bare_inlined;
        put_apart(&object, &other, i, true);
        count_named(object.path, &named, &inlined);
        unlink(other.path);
        count_named(object.path, &bare_named, &bare_inlined);
        assert_true(named > bare_named && inlined > 0);
        assert_true(inlined > bare_inlined || strcmp(apart[i].name, "nested-shared.so") == 0);
        remove_apart(&object, &other);
    }
}

TEST(debug_lines_survive_damage_and_failing_allocations_in_other_files) {
    static uint8_t bytes[32 << 10];
    for (size_t i = 0; i < sizeof apart / sizeof *apart; i++) {
        struct scratch_file object, other;
        struct failing_alloc failing;
        struct memory memory;
        put_apart(&object, &other, i, true);
        failing.has_failed = true;
        for (long n = 1; failing.has_failed; n++) {
            failing_alloc_begin(&failing, n);
            memory_init(&memory, &failing.alloc, 0);
            const enum symbol_result result = ask_all(object.path, &memory);
            assert_int_equal(failing.blocks, 0);
            assert_result_is(result, failing.has_failed ? SYMBOL_NO_MEMORY : SYMBOL_FOUND);
        }
        const size_t length = read_fixture(apart[i].other, bytes, sizeof bytes);
        for (size_t at = 0; at < length; at += STEP_OF(3u)) {
            const uint8_t was = bytes[at];
            memory_init(&memory, NULL, (uint64_t)16 << 20);
            bytes[at] ^= (uint8_t)(1u + at % 255);
            scratch_write(&other, bytes, at % 2 ? length : length - at % length);
            ask_all(object.path, &memory);
            assert_int_equal(memory.used, 0);
            bytes[at] = was;
        }
        remove_apart(&object, &other);
    }
}
