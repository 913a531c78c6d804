/* SPDX-License-Identifier: Apache-2.0 */
/* Requirements of the writer besides reproducing records that were read: counts, sizes, buffer space and rejected
   inputs. */
#include "test.h"
#include "wire/any_layout.h"
#include "wire/layout_write.h"

static const struct pfr_context plain = {.swap = false};

static uint64_t write_it(unsigned number, const struct pfr_context *c, const void *rec, uint8_t bytes[512]) {
    struct writing to = writing_into(bytes, 512);
    pfr_error err;
    ASSERT_OK(layout_write(layout_at(number), c, rec, &to, &err), err);
    return to.used;
}

TEST(text_without_room_is_padded_to_eight_and_strings_to_64) {
    struct pfr_rec_comm comm = {.pid = 1, .tid = 2, .comm = {"work", 4, 0}};
    struct pfr_rec_string string = {.text = {"x86_64", 6, 0}};
    const struct pfr_context little = {.swap = SWAP_OF_LITTLE};
    uint8_t bytes[512];
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(write_it(L_comm, &little, &comm, bytes), 16);
    assert_memory_equal(bytes, "\1\0\0\0\2\0\0\0work\0\0\0\0", 16);
    assert_int_equal(write_it(L_string, &plain, &string, bytes), 68);
    assert_int_equal(load_u32(bytes, false), 64);
}

TEST(counts_are_those_of_what_they_count) {
    static const uint64_t chain[] = {1, 2, 3};
    struct pfr_context c = {.word = {[WORD_SAMPLE] = 1 << 5}};
    struct pfr_rec_sample sample = {.nr_chain = 99, .chain = {(const uint8_t *)chain, 3, 0}};
    uint8_t bytes[512];
    assert_int_equal(write_it(L_sample, &c, &sample, bytes), 32);
    assert_int_equal(load_u64(bytes, false), 3);
    c.swap = true;
    write_it(L_sample, &c, &sample, bytes);
    assert_int_equal(load_u64(bytes + 16, true), 2);
}

TEST(sizes_are_what_was_written) {
    struct pfr_rec_build_id_entry entry = {.entry_size = 7, .filename = {"/bin/sh", 7, 64}};
    struct pfr_rec_attr attr = {.size = 0, .config4 = 5};
    uint8_t bytes[512];
    assert_int_equal(write_it(L_build_id_entry, &plain, &entry, bytes), 100);
    assert_int_equal(load_u16(bytes + 6, false), 100);
    assert_int_equal(write_it(L_attr, &plain, &attr, bytes), 144);
    assert_int_equal(load_u32(bytes + 4, false), 144);
}

TEST(words_are_made_of_their_bits_from_either_end) {
    struct pfr_rec_attr attr = {.size = 64, .flags = {.word = 12345, .disabled = 1, .precise_ip = 2}};
    struct pfr_context c = plain;
    uint8_t bytes[512];
    write_it(L_attr, &c, &attr, bytes);
    assert_int_equal(load_u64(bytes + 40, false), 1 | 2 << 15);
    c.mirrored = true;
    write_it(L_attr, &c, &attr, bytes);
    assert_int_equal(load_u64(bytes + 40, false), 1ull << 63 | 2ull << 47);
}

static void refused(unsigned number, const struct pfr_context *c, const void *rec, pfr_status expected) {
    uint8_t bytes[512];
    struct writing to = writing_into(bytes, sizeof bytes);
    pfr_error err;
    ASSERT_STATUS(layout_write(layout_at(number), c, rec, &to, &err), expected, err);
}

TEST(values_that_the_layout_cannot_store_are_refused) {
    static const uint8_t many[70000];
    const struct pfr_context regs = {.word = {[WORD_REGS_USER] = 7}};
    const struct pfr_rec_regs_user two = {.abi = 2, .regs = {many, 2, 0}};
    const struct pfr_rec_text_poke poke = {.old_bytes = {many, sizeof many}};
    const struct pfr_rec_thread_map_entry comm = {.comm = {"a name of more than 16", 22, 16}};
    const struct pfr_rec_bpf_event tag = {.tag = {many, 7}};
    const struct pfr_rec_aux_data large = {.data = {many, 513}};
    refused(L_regs_user, &regs, &two, PFR_ERR_USAGE);
    refused(L_text_poke, &plain, &poke, PFR_ERR_USAGE);
    refused(L_thread_map_entry, &plain, &comm, PFR_ERR_USAGE);
    refused(L_bpf_event, &plain, &tag, PFR_ERR_USAGE);
    refused(L_aux_data, &plain, &large, PFR_ERR_LIMIT);
}

TEST(views_with_wrong_sizes_are_refused) {
    static const uint8_t bytes[64];
    const struct pfr_context c = {.swap = false};
    const struct pfr_rec_string longer = {.text = {"longer than its room", 20, 4}};
    const struct pfr_rec_text_poke without = {.old_len = 3, .new_len = 2};
    const struct pfr_rec_thread_map few = {.nr = 9, .entries = {bytes, 24, 3, &c, L_thread_map_entry}};
    const struct pfr_rec_thread_map cut = {.nr = 2, .entries = {bytes, 40, 2, &c, L_thread_map_entry}};
    const struct pfr_rec_thread_map many = {.nr = 1, .entries = {bytes, 48, 1, &c, L_thread_map_entry}};
    const struct pfr_rec_sample_id id = {.pid = 1};
    uint8_t to[512];
    refused(L_string, &plain, &longer, PFR_ERR_USAGE);
    refused(L_thread_map, &plain, &few, PFR_ERR_USAGE);
    refused(L_thread_map, &plain, &cut, PFR_ERR_DAMAGE);
    assert_int_equal(write_it(L_thread_map, &plain, &many, to), 8 + 24);
    write_it(L_text_poke, &plain, &without, to); /* the counts come from the views, which are empty */
    assert_int_equal(load_u16(to + 8, false), 0);
    assert_int_equal(write_it(L_sample_id, &plain, &id, to), 0);
}

TEST(two_lists_with_one_count_must_agree) {
    static const uint8_t entries[48];
    const struct pfr_context c = {.word = {[WORD_BRANCH] = 1 << 19}};
    struct pfr_rec_branch_stack stack = {.entries = {entries, 48, 2, &c, L_branch_entry}, .counters = {entries, 1, 0}};
    refused(L_branch_stack, &c, &stack, PFR_ERR_USAGE);
    stack.counters.count = 2;
    refused(L_branch_stack, &c, &stack, PFR_OK);
}
