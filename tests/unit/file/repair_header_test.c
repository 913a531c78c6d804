/* SPDX-License-Identifier: Apache-2.0 */
/* Invalid file headers of rare kinds: the corrections, the messages, and the parts that are not changed. */
#include "base/memory/sizes.h"
#include "recording_builder.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

/* A header longer than any known version, with everything after it shifted accordingly. */
static struct builder longer_header(unsigned header_size) {
    struct builder b = {0};
    const uint64_t entry = BUILT_ATTR + 16, data = header_size + entry;
    put_bytes(&b, magic_of(&b), 8);
    put_number(&b, header_size, 8);
    put_number(&b, entry, 8);
    put_section(&b, header_size, entry);
    put_section(&b, data, 4 * 32);
    put_room(&b, header_size - 56);
    put_attr(&b, false);
    put_section(&b, 0, 0);
    for (unsigned i = 0; i < 4; i++)
        put_sample(&b, i, 0);
    return b;
}

TEST(a_longer_future_header_is_accepted_if_all_sections_follow_it) {
    enum { LONGER = 128 };
    struct builder b = longer_header(LONGER);
    pfr_reader *r = open_built(&b, NULL);
    assert_int_equal(pfr_get_header(r)->header_size, LONGER);
    assert_int_equal(read_through(r).samples, 4);
    assert_int_equal(pfr_get_quality(r)->holes, 0);
    pfr_close(r);
    set_number(&b, b.bytes + 40, 1 << 20, 8); /* records beyond the end: such a header is not trusted */
    r = open_built(&b, NULL);
    assert_int_equal(pfr_get_header(r)->header_size, 104);
    const struct tally t = read_through(r);
    assert_int_equal(t.samples, 4); /* the records are found after the attrs */
    assert_int_equal(t.holes, 2);
    pfr_close(r);
    free(b.bytes);
}

/* An invalid magic, and a header in the other byte order than the data after it, give two findings at byte 0. */
TEST(two_header_errors_are_reported_separately) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_record rec;
        pfr_error err;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1});
        for (unsigned i = 0; i < 3; i++)
            put_sample(&b, i, 0);
        end_file(&b);
        memcpy(b.bytes, "garbage!", 8);
        for (unsigned at = 8; at < 104; at += 8) {
            uint64_t word;
            memcpy(&word, b.bytes + at, 8);
            word = __builtin_bswap64(word);
            memcpy(b.bytes + at, &word, 8);
        }
        pfr_reader *r = open_built(&b, NULL);
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
        assert_string_equal(err.where, "file_header.magic");
        ASSERT_STATUS(pfr_next(r, &rec, &err), PFR_HOLE, err);
        assert_string_equal(err.where, "file_header");
        assert_int_equal(read_through(r).samples, 3);
        assert_int_equal(pfr_get_header(r)->big_endian, big);
        pfr_close(r);
        free(b.bytes);
    }
}

/* If the size of the records is impossible, four consecutive sections show where the records end, if the file ends with
   these sections. */
static void find_table_of_four(size_t behind, bool is_found) {
    struct builder b = {0};
    pfr_error err = {0};
    pfr_record rec;
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 0xfu << 3});
    for (unsigned i = 0; i < 3; i++)
        put_sample(&b, i, 0);
    set_number(&b, b.bytes + 48, UINT64_MAX, 8);
    for (uint64_t at = b.length, i = 0; i < 4; i++)
        put_section(&b, at + 4 * 16 + 20 * i, 20);
    for (unsigned i = 0; i < 4; i++) {
        put_number(&b, 16, 4);
        put_bytes(&b, "fifteen letters", 16);
    }
    memset(put_room(&b, behind), 0xa5, behind);
    pfr_reader *r = open_built(&b, NULL);
    const bool reported = pfr_next(r, &rec, &err) == PFR_HOLE && strcmp(err.where, "file_header.data.size") == 0;
    assert_int_equal(reported, is_found);
    const struct tally t = read_through(r);
    assert_int_equal(t.last, PFR_END);
    assert_int_equal(t.samples + !reported, 3); /* otherwise the first record would be one */
    assert_int_equal(pfr_get_header(r)->data_size == 3 * 32, is_found);
    pfr_close(r);
    free(b.bytes);
}

TEST(a_short_feature_table_is_accepted_at_the_end_of_the_file) {
    find_table_of_four(0, true);
    find_table_of_four(64, false);
}

/* A size that extends the records by one row into the feature table: the rest of the table looks like a table, too. */
TEST(records_do_not_go_on_into_the_table_of_features) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 0xfu << 3});
        for (unsigned i = 0; i < 3; i++)
            put_sample(&b, i, 0);
        set_number(&b, b.bytes + 48, 3 * 32 + 16, 8);
        for (uint64_t at = b.length, i = 0; i < 4; i++)
            put_section(&b, at + 4 * 16 + 32 * i, 32);
        for (unsigned i = 0; i < 4; i++) {
            put_number(&b, 28, 4);
            put_bytes(&b, "three letters and fourteen!", 28);
        }
        pfr_reader *r = open_built(&b, NULL);
        const struct tally t = read_through(r);
        assert_int_equal(t.samples, 3);
        assert_int_equal(t.holes, 1);
        assert_int_equal(pfr_get_header(r)->data_size, 3 * 32);
        assert_int_equal(pfr_feature_count(r), 4);
        pfr_close(r);
        free(b.bytes);
    }
}

/* Opens the bytes as a file, in which the read buffer moves; bytes in memory are one buffer. */
static pfr_reader *open_as_file(const struct builder *b, int *fd) {
    char path[32];
    pfr_error err;
    *fd = memfd_create("built", MFD_CLOEXEC);
    assert_int_equal(write(*fd, b->bytes, b->length), b->length);
    assert_int_equal(lseek(*fd, 0, SEEK_SET), 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    pfr_reader *r = pfr_open(path, NULL, &err);
    if (!r)
        fail_msg("not opened: %s", err.text);
    return r;
}

/* The records' size in the header ends within a record, and no feature table shows the end: the reader looks beyond the
   end, which moves its window. */
TEST(records_go_on_past_a_doubtful_end_within_one) {
    enum { SAMPLES = 40 };
    struct builder b = {0};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = 0xfu << 3});
    for (unsigned i = 0; i < SAMPLES; i++)
        put_sample(&b, i, 0);
    for (unsigned cut = 1; cut < 32; cut++) {
        set_number(&b, b.bytes + 48, 7 * 32 + cut, 8);
        for (unsigned chunk = 64; chunk < 400; chunk += 7) {
            int fd;
            sizes.input_chunk = chunk;
            pfr_reader *r = open_as_file(&b, &fd);
            assert_int_equal(read_through(r).samples, SAMPLES);
            pfr_close(r);
            close(fd);
        }
    }
    sizes_draw(0, NULL);
    free(b.bytes);
}
