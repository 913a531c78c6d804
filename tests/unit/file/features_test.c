/* SPDX-License-Identifier: Apache-2.0 */
/* Features whose layout depends on their length or on another feature. */
#include "recording_builder.h"

#include <perfray/record_structs.h>

enum { BUILD_ID = 2, HOSTNAME = 3, RELEASE = 4, NRCPUS = 7, CPU_TOPOLOGY = 13, AUXTRACE = 18, CPUS = 2 };

/* A file without events and records, and the table of its sections, whose contents the caller appends in order. */
static void begin_features(struct builder *b, uint64_t bits, const size_t *sizes) {
    begin_file(b, &(struct plan){.header_size = 104, .features = bits});
    put_head(b, 68, 0, 8);
    end_file(b);
    const size_t count = (size_t)__builtin_popcountll(bits);
    uint64_t at = b->length + 16 * count;
    for (size_t i = 0; i < count; at += sizes[i++])
        put_section(b, at, sizes[i]);
}

static void decode_feature(pfr_reader *r, uint32_t bit, void *body, size_t size) {
    pfr_error err;
    const pfr_feature *f = pfr_find_feature(r, bit, &err);
    assert_non_null(f);
    ASSERT_OK(pfr_decode_feature(r, f, body, size, &err), err);
}

static void put_index(struct builder *b, size_t entries) {
    for (uint64_t i = 0; i < entries; i++)
        put_section(b, 1000 + i, 48);
}

static void expect_entries(const pfr_items *items, uint64_t count) {
    struct pfr_rec_auxtrace_index_entry e;
    pfr_items_iter it = pfr_items_begin(items);
    assert_int_equal(items->count, count);
    for (uint64_t i = 0; i < count; i++) {
        assert_int_equal(pfr_items_next(&it, &e, sizeof e, NULL), PFR_OK);
        assert_int_equal(e.file_offset, 1000 + i);
        assert_int_equal(e.size, 48);
    }
    if (count > 0)
        assert_int_equal(pfr_items_next(&it, &e, sizeof e, NULL), PFR_END);
}

TEST(an_index_of_auxtrace_is_read_with_and_without_its_count) {
    for (unsigned i = 0; i < 4; i++) {
        const bool counted = i & 1;
        struct builder b = {.big = i & 2};
        struct pfr_rec_feature_auxtrace index;
        const size_t sizes[] = {0, (counted ? 8 : 0) + 3 * 16};
        begin_features(&b, 1u << HOSTNAME | 1u << AUXTRACE, sizes); /* HOSTNAME determines the width of the bitmap's
                                                                       words */
        if (counted)
            put_number(&b, 3, 8);
        put_index(&b, 3);
        pfr_reader *r = open_built(&b, NULL);
        decode_feature(r, AUXTRACE, &index, sizeof index);
        assert_int_equal(index.nr, counted ? 3 : 0);
        expect_entries(&index.entries, counted ? 3 : 0);
        expect_entries(&index.uncounted, counted ? 0 : 3);
        pfr_close(r);
        free(b.bytes);
    }
}

static void put_list(struct builder *b, const char *text) {
    put_number(b, 1, 4);
    put_number(b, 4, 4);
    put_bytes(b, text, 4);
}

enum { LIST = 12, PLACES = 8 * CPUS, DIES = LIST + 4 * CPUS };

static void put_topology(struct builder *b) {
    put_list(b, "0-1");
    put_list(b, "0-1");
    for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
        put_number(b, 1 + cpu, 4);
        put_number(b, 0, 4);
    }
    put_list(b, "0-1");
    put_number(b, 5, 4);
    put_number(b, 6, 4);
}

static void read_topology(bool nrcpus, struct pfr_rec_feature_cpu_topology *t) {
    struct builder b = {0};
    const size_t sizes[] = {8, 2 * LIST + PLACES + DIES};
    begin_features(&b, (nrcpus ? 1u << NRCPUS : 0) | 1u << CPU_TOPOLOGY, nrcpus ? sizes : sizes + 1);
    for (unsigned i = 0; nrcpus && i < 2; i++)
        put_number(&b, CPUS, 4);
    put_topology(&b);
    pfr_reader *r = open_built(&b, NULL);
    decode_feature(r, CPU_TOPOLOGY, t, sizeof *t);
    pfr_close(r);
    free(b.bytes);
}

TEST(topology_is_read_with_the_count_of_cpus) {
    struct pfr_rec_feature_cpu_topology t;
    read_topology(true, &t);
    assert_int_equal(t.cpus.count, CPUS);
    assert_int_equal(t.nr_dies, 1);
    assert_int_equal(t.die_ids.count, CPUS);
    assert_int_equal(t.uncounted.length, 0);
}

TEST(topology_without_the_count_of_cpus_keeps_what_it_cannot_tell_apart) {
    struct pfr_rec_feature_cpu_topology t;
    read_topology(false, &t);
    assert_int_equal(t.core_siblings.count, 1);
    assert_int_equal(t.thread_siblings.count, 1);
    assert_int_equal(t.uncounted.length, PLACES + DIES);
    assert_int_equal(t.cpus.count, 0);
    assert_int_equal(t.nr_dies, 0);
    assert_int_equal(t.die_ids.count, 0);
}

/* Entries of Linux before 2.6.36 have no pid: the build id is followed by four bytes of padding, then the name. */
static void put_old_build_id(struct builder *b, uint8_t first, const char *name) {
    put_head(b, 0, 1, 8 + 24 + 16);
    put_number(b, first, 1);
    put_room(b, 23);
    memcpy(put_room(b, 16), name, strlen(name));
}

TEST(build_ids_without_a_pid_are_read) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        struct pfr_rec_feature_build_id ids;
        struct pfr_rec_build_id_entry entry;
        pfr_error err;
        const size_t sizes[] = {2 * 48, 0};
        begin_features(&b, 1u << BUILD_ID | 1u << HOSTNAME, sizes);
        put_old_build_id(&b, 0xaa, "/bin/true");
        put_old_build_id(&b, 0xbb, "[kernel]");
        pfr_reader *r = open_built(&b, NULL);
        decode_feature(r, BUILD_ID, &ids, sizeof ids);
        pfr_items_iter it = pfr_items_begin(&ids.entries);
        ASSERT_OK(pfr_items_next(&it, &entry, sizeof entry, &err), err);
        assert_int_equal(entry.build_id.at[0], 0xaa);
        assert_string_equal(entry.filename.at, "/bin/true");
        ASSERT_OK(pfr_items_next(&it, &entry, sizeof entry, &err), err);
        assert_string_equal(entry.filename.at, "[kernel]");
        ASSERT_STATUS(pfr_items_next(&it, &entry, sizeof entry, &err), PFR_END, err);
        const pfr_feature *f = pfr_find_feature(r, BUILD_ID, &err);
        ASSERT_OK(pfr_check_feature(r, f, &err), err);
        ASSERT_STATUS(pfr_decode_feature(r, f, &ids, 3, &err), PFR_ERR_USAGE, err);
        pfr_close(r);
        free(b.bytes);
    }
}

/* A feature in the other byte order does not fit its section; this is reported with its offset. */
TEST(a_feature_in_the_other_byte_order_is_a_hole) {
    for (unsigned big = 0; big < 2; big++) {
        struct builder b = {.big = big};
        pfr_error err;
        const size_t sizes[] = {0, 4 + 8};
        begin_features(&b, 1u << HOSTNAME | 1u << RELEASE, sizes);
        b.big = !big;
        const size_t at = b.length;
        put_number(&b, 8, 4);
        put_bytes(&b, "6.1.0\0\0", 8);
        b.big = big;
        pfr_reader *r = open_built(&b, NULL);
        const pfr_feature *f = pfr_find_feature(r, RELEASE, &err);
        assert_non_null(f);
        ASSERT_STATUS(pfr_check_feature(r, f, &err), PFR_HOLE, err);
        assert_int_equal(pfr_check_feature(r, f, NULL), PFR_HOLE);
        assert_in_range(err.offset, at, at + 12);
        assert_non_null(strstr(err.text, "osrelease"));
        pfr_close(r);
        free(b.bytes);
    }
}

/* Not even BUILD_ID, which is accepted in a big-endian file that sets other bits. */
TEST(a_file_without_features_has_none) {
    for (unsigned i = 0; i < 4; i++) {
        const bool big = i & 1, odd = i & 2;
        struct builder b = {.big = big};
        pfr_error err;
        begin_file(&b, &(struct plan){.header_size = 104, .events = 1, .features = odd ? 1u << RELEASE : 0});
        put_sample(&b, 1, 0);
        end_file(&b);
        if (odd)
            put_section(&b, b.length + 16, 0);
        pfr_reader *r = open_built(&b, NULL);
        assert_int_equal(pfr_feature_count(r), odd);
        assert_int_equal(pfr_find_feature(r, BUILD_ID, &err) != NULL, odd && big);
        assert_int_equal(read_through(r).samples, 1);
        assert_int_equal(pfr_get_quality(r)->holes, 0);
        pfr_close(r);
        free(b.bytes);
    }
}
