/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "wire/variant.h"

static const struct pfr_context little = {.swap = false}, other = {.swap = true};

static void put_u16(uint8_t *at, uint16_t v) {
    memcpy(at, &v, sizeof v);
}

TEST(an_mmap2_without_prot_is_known_by_its_name_at_64) {
    uint8_t record[96] = {10};
    memcpy(record + 64, "/bin/work", 9);
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 1);
    memcpy(record + 64, "[stack]", 8);
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 1);
    assert_int_equal(variant_of(L_mmap2, record, 65, &little), 0);
    assert_int_equal(variant_of(L_mmap, record, sizeof record, &little), 0);
}

TEST(an_mmap2_with_prot_or_with_a_build_id_has_no_variant) {
    uint8_t record[96] = {10};
    record[64] = 5; /* PROT_READ | PROT_EXEC */
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 0);
    memcpy(record + 64, "/\0\0\0", 4);
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 0);
    memcpy(record + 64, "/lib", 4);
    put_u16(record + 4, 1 << 14);
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 0);
    put_u16(record + 4, __builtin_bswap16(1 << 14));
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &other), 0);
}

TEST(build_ids_without_pid_are_known_by_one_name_at_32) {
    uint8_t entries[128] = {0};
    put_u16(entries + 6, 64);
    put_u16(entries + 64 + 6, 64);
    memcpy(entries + 64 + 32, "/lib/libc.so", 12);
    assert_int_equal(variant_of(L_feature_build_id, entries, sizeof entries, &little), 1);
    assert_int_equal(variant_of(L_feature_build_id, entries, 64, &little), 0);
    put_u16(entries + 6, 20); /* too short for an entry: the rest is not read */
    assert_int_equal(variant_of(L_feature_build_id, entries, sizeof entries, &little), 0);
}

TEST(build_ids_with_pid_have_no_variant) {
    uint8_t entry[100] = {0};
    put_u16(entry + 6, 100);
    entry[32] = 20;
    memcpy(entry + 36, "/lib/libc.so", 12);
    assert_int_equal(variant_of(L_build_id_entry, entry, sizeof entry, &little), 0);
    put_u16(entry + 4, 1 << 15);
    memcpy(entry + 32, "/x", 2);
    assert_int_equal(variant_of(L_build_id_entry, entry, sizeof entry, &little), 0);
}

TEST(an_index_of_auxtrace_without_count_is_known_by_its_length) {
    uint8_t index[48] = {0};
    for (size_t entries = 1; entries < 3; entries++) {
        assert_int_equal(variant_of(L_feature_auxtrace, index, 16 * entries, &little), 1);
        assert_int_equal(variant_of(L_feature_auxtrace, index, 8 + 16 * entries, &little), 0);
    }
    assert_int_equal(variant_of(L_feature_auxtrace, index, 8, &little), 0);
    assert_int_equal(variant_of(L_feature_auxtrace, index, 0, &little), 0);
}

static uint64_t metadata_variant(size_t name, uint64_t count, size_t tail) {
    static uint8_t record[65536];
    memset(record, 0, sizeof record);
    memset(record + 8, 'n', 12);
    memcpy(record + 8 + name, &count, sizeof count);
    return variant_of(L_bpf_metadata, record, 16 + name + 320 * count + tail, &little);
}

TEST(the_name_of_bpf_metadata_has_the_size_that_makes_the_count_fit) {
    static const uint16_t names[] = {16, 128, 256, 512};
    for (unsigned i = 0; i < 4; i++)
        for (uint64_t count = 0; count < 4; count++)
            for (size_t tail = 0; tail <= 48; tail += 48)
                assert_int_equal(metadata_variant(names[i], count, tail), names[i]);
    assert_int_equal(metadata_variant(64, 1, 0), 0);
}

TEST(bytes_at_the_place_of_a_name_must_look_like_a_name) {
    static const char second[] = {31, ' ', 127, 0};
    uint8_t record[96] = {10};
    for (unsigned i = 0; i < sizeof second; i++) {
        record[64] = '/';
        record[65] = (uint8_t)second[i];
        assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 0);
    }
    record[64] = '[';
    record[65] = 'v';
    assert_int_equal(variant_of(L_mmap2, record, sizeof record, &little), 1);
    assert_int_equal(variant_of(LAYOUTS, record, sizeof record, &little), 0);
}
