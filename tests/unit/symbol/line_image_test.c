/* SPDX-License-Identifier: Apache-2.0 */
/* Cache files of lines: reading returns the frames that were added; a changed byte is detected; with a valid checksum,
 * no bytes outside of the file are read. */
#include "symbol/dwarf/line_image.h"
#include "test.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const struct line_key key = {
    .id = {.bytes = {1, 2, 3, 4, 5, 6, 7, 8}, .size = 8}, .size = 4711, .changed_ns = 42};

static const struct source_frame calls[] = {
    {.function = "inner", .file = "/a.c", .line = 3, .is_inlined = true},
    {.function = "outer", .file = "/a.c", .line = 9},
    {.file = "/b.c", .line = 1},
};

/* Three ranges with 2, 1 and no frames, added in reverse order; one of them twice. */
static uint8_t *make(struct memory *memory, size_t *size) {
    struct line_image_maker maker;
    const struct source_frames none = {.from = 100, .end = 120}, one = {&calls[2], 1, 50, 60}, two = {calls, 2, 10, 20};
    line_maker_init(&maker, memory);
    assert_true(line_maker_add(&maker, &none));
    assert_true(line_maker_add(&maker, &one));
    assert_true(line_maker_add(&maker, &two));
    assert_true(line_maker_add(&maker, &two));
    uint8_t *bytes = line_maker_write(&maker, &key, size);
    assert_non_null(bytes);
    line_maker_free(&maker);
    return bytes;
}

static void expect_frames(const struct line_image *image, uint64_t address, const struct source_frame *wanted,
                          size_t count) {
    struct source_frame found[LINE_FRAMES_MOST];
    size_t got;
    const struct line_range *range = line_image_find(image, address);
    assert_non_null(range);
    assert_true(line_image_frames(image, range, found, &got));
    assert_int_equal(got, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(found[i].line, wanted[i].line);
        assert_int_equal(found[i].is_inlined, wanted[i].is_inlined);
        assert_string_equal(found[i].file, wanted[i].file);
        if (wanted[i].function)
            assert_string_equal(found[i].function, wanted[i].function);
        else
            assert_null(found[i].function);
    }
}

static void expect_all(const struct line_image *image) {
    assert_int_equal(image->range_count, 3);
    expect_frames(image, 10, calls, 2);
    expect_frames(image, 19, calls, 2);
    expect_frames(image, 55, &calls[2], 1);
    expect_frames(image, 119, NULL, 0);
    assert_null(line_image_find(image, 9));
    assert_null(line_image_find(image, 20));
    assert_null(line_image_find(image, 120));
}

TEST(images_round_trip) {
    struct memory memory;
    struct line_image image;
    struct line_image_maker again;
    size_t size, other;
    memory_init(&memory, NULL, 0);
    uint8_t *bytes = make(&memory, &size);
    assert_int_equal(line_image_open(&image, bytes, size, &key), SYMBOL_FOUND);
    expect_all(&image);
    line_maker_init(&again, &memory);
    assert_true(line_maker_add_image(&again, &image));
    uint8_t *copy = line_maker_write(&again, &key, &other);
    assert_int_equal(line_image_open(&image, copy, other, &key), SYMBOL_FOUND);
    expect_all(&image);
    line_maker_free(&again);
    mem_free(&memory, copy, other, 1);
    mem_free(&memory, bytes, size, 1);
    assert_int_equal(memory.used, 0);
}

TEST(an_image_of_another_object_is_not_taken) {
    struct memory memory;
    struct line_image image;
    size_t size;
    memory_init(&memory, NULL, 0);
    uint8_t *bytes = make(&memory, &size);
    struct line_key other = key;
    other.id.bytes[7]++;
    assert_int_equal(line_image_open(&image, bytes, size, &other), SYMBOL_OTHER_BUILD);
    other = key;
    other.size++;
    assert_int_equal(line_image_open(&image, bytes, size, &other), SYMBOL_OTHER_BUILD);
    other = key;
    other.changed_ns++;
    assert_int_equal(line_image_open(&image, bytes, size, &other), SYMBOL_OTHER_BUILD);
    mem_free(&memory, bytes, size, 1);
}

TEST(truncated_or_changed_images_are_refused) {
    struct memory memory;
    struct line_image image;
    size_t size;
    memory_init(&memory, NULL, 0);
    uint8_t *bytes = make(&memory, &size);
    for (size_t at = 0; at < size; at++) {
        uint8_t *cut = malloc(at + 1); /* of the exact size, so that a read beyond it is detected */
        memcpy(cut, bytes, at);
        assert_int_not_equal(line_image_open(&image, cut, at, &key), SYMBOL_FOUND);
        free(cut);
        bytes[at] ^= 0x20;
        /* The zeros after the build-id are only covered by the checksum. */
        assert_int_not_equal(line_image_open(&image, bytes, size, &key), SYMBOL_FOUND);
        bytes[at] ^= 0x20;
    }
    mem_free(&memory, bytes, size, 1);
}

/* An attacker can give a changed file a valid checksum, so any number in it can have any value. */
TEST(an_image_with_a_right_sum_and_wrong_numbers_reads_nothing_outside) {
    static const uint8_t values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    struct memory memory;
    struct line_image image;
    struct source_frame frames[LINE_FRAMES_MOST];
    size_t size, count, sound = 0, unsound = 0, length = 0;
    memory_init(&memory, NULL, 0);
    uint8_t *bytes = make(&memory, &size);
    for (size_t at = 24; at < size; at++)
        for (size_t v = 0; v < sizeof values; v++) {
            const uint8_t was = bytes[at];
            bytes[at] = values[v];
            const uint64_t sum = XXH3_64bits(bytes + 24, size - 24);
            memcpy(bytes + 16, &sum, sizeof sum);
            const bool opened = line_image_open(&image, bytes, size, &key) == SYMBOL_FOUND;
            sound += opened;
            unsound += !opened;
            for (uint32_t i = 0; opened && i < image.range_count; i++)
                if (line_image_frames(&image, &image.ranges[i], frames, &count))
                    for (size_t f = 0; f < count; f++)
                        length += (frames[f].function ? strlen(frames[f].function) : 0) +
                                  (frames[f].file ? strlen(frames[f].file) : 0);
            bytes[at] = was;
        }
    assert_true(sound > 100 && unsound > 100 && length > 0);
    mem_free(&memory, bytes, size, 1);
}
