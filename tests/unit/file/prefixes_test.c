/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every prefix of a recording: it opens, or says why not; it gives the records that lie whole within the prefix, the
 * same ones as the whole file; and unless that is everything, something is said to be missing.
 */
#include "recorded_files.h"
#include "recording_builder.h"

enum { MOST_RECORDS = 4096 };

struct whole {
    uint8_t *bytes;
    size_t length, begin, end; /* begin, end: of the records */
    uint64_t ends[MOST_RECORDS], sums[MOST_RECORDS];
    size_t count;
};

/* Where each record ends, and a sum of all bytes up to there. Records inside COMPRESSED end where that does. */
static void learn_whole(struct whole *w, const char *path) {
    pfr_error err;
    pfr_record rec;
    uint64_t sum = 0;
    w->bytes = load_whole(path, &w->length);
    w->count = 0;
    pfr_reader *r = pfr_open_bytes(w->bytes, w->length, NULL, &err);
    assert_non_null(r);
    w->begin = pfr_get_header(r)->data_offset;
    w->end = w->begin + pfr_get_header(r)->data_size;
    while (pfr_next(r, &rec, &err) == PFR_OK) {
        assert_true(w->count < MOST_RECORDS);
        const uint64_t own_end = rec.offset + rec.size;
        w->ends[w->count] = rec.inside ? w->ends[w->count - 1] : own_end;
        sum = w->sums[w->count] = mix_bytes(sum + rec.type, rec.bytes, rec.size);
        w->count++;
    }
    pfr_close(r);
}

static size_t whole_records(const struct whole *w, size_t length) {
    size_t count = 0;
    while (count < w->count && w->ends[count] <= length)
        count++;
    return count;
}

static bool is_missed(const pfr_quality *q, uint64_t holes) {
    return holes || q->holes || q->truncated_bytes || q->not_finalised;
}

static void read_prefix(const struct whole *w, const char *name, size_t length) {
    pfr_error err = {0};
    pfr_record rec;
    pfr_status s;
    uint64_t sum = 0, holes = 0;
    size_t count = 0;
    uint8_t *copy = malloc(length + 1); /* of its own, so that the sanitizer sees a read past the end */
    memcpy(copy, w->bytes, length);
    uint8_t *exact = realloc(copy, length ? length : 1);
    pfr_reader *r = pfr_open_bytes(exact, length, NULL, &err);
    if (!r) {
        if (length >= w->begin || err.text[0] == 0)
            fail_msg("%s: %zu bytes are refused: %s", name, length, err.text);
        free(exact);
        return;
    }
    while ((s = pfr_next(r, &rec, &err)) >= 0 && s != PFR_END) {
        if (s == PFR_HOLE) {
            holes++;
            if (err.offset != PFR_NO_OFFSET && err.offset > length)
                fail_msg("%s: %zu bytes have a hole at %ju", name, length, (uintmax_t)err.offset);
            continue;
        }
        sum = mix_bytes(sum + rec.type, rec.bytes, rec.size);
        count++;
    }
    const size_t expected = whole_records(w, length);
    if (s != PFR_END || count != expected || (count && sum != w->sums[count - 1]))
        fail_msg("%s: %zu bytes give %zu records, %zu are whole (%s)", name, length, count, expected,
                 pfr_status_name(s));
    const bool at_border = length == w->begin || (expected && w->ends[expected - 1] == length);
    const bool is_stream = pfr_get_header(r)->container == PFR_PIPE;
    if (length < w->end && !is_missed(pfr_get_quality(r), holes) && !(is_stream && at_border))
        fail_msg("%s: nothing is missed in %zu of %zu bytes", name, length, w->length);
    pfr_close(r);
    free(exact);
}

static void read_prefixes(const char *name, size_t step) {
    static struct whole w;
    char path[RECORDED_PATH];
    learn_whole(&w, recorded_path(path, name));
    for (size_t length = 0; length < w.length; length += step)
        read_prefix(&w, name, length);
    read_prefix(&w, name, w.length);
    free(w.bytes);
}

TEST(every_prefix_of_a_file) {
    read_prefixes("stat.data", 1);
}

TEST(every_prefix_of_a_stream) {
    read_prefixes("pipe.data", 1);
}

TEST(every_prefix_of_a_compressed_stream) {
    read_prefixes("pipe-zstd.data", 1);
}

TEST(every_prefix_of_a_compressed_file) {
    read_prefixes("zstd.data", 1);
}

TEST(prefixes_of_files_with_tracepoints) {
    read_prefixes("tracepoints.data", 61);
    read_prefixes("pipe-tracepoints.data", 61);
}
