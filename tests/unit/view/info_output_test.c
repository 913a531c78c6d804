/* SPDX-License-Identifier: Apache-2.0 */
/* The small printing functions of info: ranges of bits, sizes, names, attrs, and names of BTF types. */
#include "test.h"

#include "view/info/info_attr.h"
#include "view/info/info_bpf.h"
#include "view/info/info_output.h"

/* An output that writes to memory. */
static void begin(pfr_output *to) {
    *to = (pfr_output){0};
    memory_init(&to->memory, NULL, 0);
    out_open_memory(&to->out, &to->memory);
}

static void assert_said(pfr_output *to, const char *expected) {
    size_t length;
    out_char(&to->out, '\0');
    assert_string_equal(out_bytes(&to->out, &length), expected);
    out_close(&to->out, NULL);
    assert_int_equal(to->memory.used, 0);
}

static void assert_ranges(uint64_t low, uint64_t high, uint64_t count, const char *expected) {
    const uint64_t words[2] = {low, high};
    const pfr_u64s view = {.at = (const uint8_t *)words, .count = 2};
    pfr_output to;
    begin(&to);
    say_bit_ranges(&to, &view, count);
    assert_said(&to, expected);
}

TEST(bit_ranges_join_neighbours) {
    assert_ranges(0, 0, 128, "");
    assert_ranges(1, 0, 128, "0");
    assert_ranges(0x3b, 0, 128, "0-1,3-5");
    assert_ranges(1ull << 63, 1, 128, "63-64");
    assert_ranges(UINT64_MAX, UINT64_MAX, 128, "0-127");
    assert_ranges(UINT64_MAX, UINT64_MAX, 70, "0-69");
    assert_ranges(5, 0, 3, "0,2");
}

static void assert_unit(uint64_t bytes, const char *expected) {
    pfr_output to;
    begin(&to);
    say_bytes_unit(&to, bytes);
    assert_said(&to, expected);
}

TEST(sizes_are_divided_while_more_than_one_is_left) {
    assert_unit(0, "0B");
    assert_unit(1024, "1024B");
    assert_unit(2048, "2K");
    assert_unit(24ull << 30, "24G");
    assert_unit(5ull << 40, "5120G");
}

TEST(record_types_without_a_name_show_their_number) {
    char room[TYPE_NAME_ROOM];
    assert_string_equal(record_type_name(9, room), "SAMPLE");
    assert_string_equal(record_type_name(UINT32_MAX, room), "TYPE4294967295");
}

TEST(names_are_escaped_unless_raw_ones_are_wanted) {
    pfr_output to;
    begin(&to);
    say_name(&to, "a\033b");
    to.raw_names = true;
    say_name(&to, "a\033b");
    assert_said(&to, "a\\x1bba\033b");
}

TEST(attr_members_that_are_zero_are_left_out) {
    const struct pfr_rec_attr attr = {
        .type = 1, .config = 0x10, .sample_type = 1 << 16 | 1 << 17 | 1, .clockid = UINT32_MAX};
    pfr_output to;
    begin(&to);
    say_attr(&to, &attr, &attr_style_list);
    assert_said(&to, ": type: 1, config: 0x10, sample_type: IP|IDENTIFIER, clockid: -1");
}

TEST(an_empty_attr_prints_nothing) {
    const struct pfr_rec_attr attr = {0};
    pfr_output to;
    begin(&to);
    say_attr(&to, &attr, &attr_style_header);
    assert_said(&to, "");
}

/* BTF with an int (followed by 4 bytes) and a function, named "int" and "fn". */
static const struct {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t size, type_at, type_length, string_at, string_length;
    uint32_t types[7];
    char strings[8];
} small_btf = {0xeb9f, 1, 0, 24, 0, 28, 28, 8, {1, 1u << 24, 4, 32, 5, 12u << 24, 1}, "\0int\0fn"};

static void assert_type_name(uint64_t length, uint32_t id, const char *expected) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    struct btf btf = {.data = {(const uint8_t *)&small_btf, length}};
    btf_index(&btf, &memory, false);
    const pfr_text name = btf_type_name(&btf, id);
    assert_int_equal(name.length, strlen(expected));
    assert_memory_equal(name.length ? name.at : "", expected, name.length);
    btf_free(&btf, &memory);
    assert_int_equal(memory.used, 0);
}

TEST(btf_names_are_found_by_number) {
    assert_type_name(sizeof small_btf, 1, "int");
    assert_type_name(sizeof small_btf, 2, "fn");
    assert_type_name(sizeof small_btf, 3, "");
    assert_type_name(sizeof small_btf, 0, "");
    for (uint64_t length = 0; length < sizeof small_btf; length++)
        assert_type_name(length, 2, "");
}
