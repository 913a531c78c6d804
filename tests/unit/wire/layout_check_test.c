/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"
#include "wire/layout_check.h"

/* The last finding, and the number of findings. */
struct heard {
    unsigned count;
    uint64_t offset, length;
    const char *rule, *field;
};

static void hear(void *context, const struct check_finding *finding) {
    struct heard *heard = context;
    heard->count++;
    heard->offset = finding->offset;
    heard->length = finding->length;
    heard->rule = finding->rule;
    heard->field = finding->field ? finding->field->name : "";
}

static struct heard check(unsigned number, const void *bytes, uint64_t length, uint64_t sample) {
    struct pfr_context c = {.swap = SWAP_OF_LITTLE, .word = {[WORD_SAMPLE] = sample}};
    struct heard heard = {.rule = ""};
    const uint64_t reported = layout_check(layout_at(number), &c, bytes, length, 1000, hear, &heard);
    assert_int_equal(reported, heard.count);
    return heard;
}

static void assert_heard(struct heard heard, const char *rule, const char *field, uint64_t offset) {
    assert_int_equal(heard.count, 1);
    assert_string_equal(heard.rule, rule);
    assert_string_equal(heard.field, field);
    assert_int_equal(heard.offset, offset);
}

TEST(a_clean_record_has_no_findings) {
    assert_int_equal(check(L_comm, "\1\0\0\0\2\0\0\0work\0\0\0\0", 16, 0).count, 0);
}

TEST(text_without_nul_and_garbage_after_it_are_found) {
    assert_heard(check(L_comm, "\1\0\0\0\2\0\0\0work", 12, 0), "text-without-nul", "comm", 1008);
    assert_heard(check(L_comm, "\1\0\0\0\2\0\0\0work\0\0x\0", 16, 0), "padding-not-zero", "comm", 1012);
}

TEST(reserved_numbers_and_bits_are_found) {
    static const uint8_t cpu[8] = {1, 0, 0, 0, 7};
    uint8_t branches[32] = {1};
    assert_heard(check(L_sample_id, cpu, sizeof cpu, 1 << 7), "reserved-not-zero", "cpu_reserved", 1004);
    branches[31] = 0x80; /* the last bit of flags */
    assert_heard(check(L_branch_stack, branches, sizeof branches, 0), "reserved-not-zero", "reserved", 1024);
}

TEST(bytes_after_the_end_are_found_unless_they_are_padding) {
    static const uint8_t lost[32] = {[17] = 1}, padded[23] = {0}, zeros[24] = {0};
    assert_heard(check(L_lost, lost, 18, 0), "bytes-after-end", "", 1016);
    assert_heard(check(L_lost, lost, 24, 0), "bytes-after-end", "", 1016);
    assert_int_equal(check(L_lost, padded, 23, 0).count, 0);
    assert_heard(check(L_lost, lost, 32, 0), "bytes-after-end", "", 1016);
    assert_heard(check(L_lost, zeros, 24, 0), "zeros-after-end", "", 1016);
}

TEST(what_does_not_fit_is_found_and_so_is_the_other_byte_order) {
    static const uint8_t swapped[] = {0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 6, 7, 8, 1, 2, 3, 4, 5, 6, 7, 8};
    static const uint8_t cut[] = {1, 2, 3};
    const struct heard heard = check(L_namespaces, "\0\0\0\1\0\0\0\2\0\0\0\0\0\0\0\0", 12, 0);
    assert_heard(heard, "does-not-fit", "", 1008);
    assert_heard(check(L_lost, cut, sizeof cut, 0), "does-not-fit", "", 1000);
    const struct heard two = check(L_stat_config, swapped, sizeof swapped, 0);
    assert_int_equal(two.count, 2);
    assert_string_equal(two.rule, "other-byte-order");
}
