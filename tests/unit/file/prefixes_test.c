/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Every prefix of a recording can be opened, or an error explains why not. It gives the complete records of the prefix,
 * equal to those of the whole file. Unless the prefix is complete, missing data is reported.
 */
#include "recorded_files.h"
#include "recording_builder.h"

#include <unistd.h>

enum { MOST_RECORDS = 4096 };

struct whole {
    uint8_t *bytes;
    size_t length, begin, end; /* begin, end: of the data section */
    uint64_t ends[MOST_RECORDS], sums[MOST_RECORDS];
    size_t count;
};

/* The end of each record, and a checksum of all bytes up to there. Records inside a COMPRESSED record end where that
   record ends. */
static void learn_records(struct whole *w, pfr_reader *r) {
    pfr_error err;
    pfr_record rec;
    pfr_status s;
    uint64_t sum = 0;
    w->count = 0;
    while ((s = pfr_next(r, &rec, &err)) == PFR_OK) {
        assert_true(w->count < MOST_RECORDS);
        const uint64_t own_end = rec.offset + rec.size;
        w->ends[w->count] = rec.inside ? w->ends[w->count - 1] : own_end;
        sum = w->sums[w->count] = mix_bytes(sum + rec.type, rec.bytes, rec.size);
        w->count++;
    }
    assert_int_equal(s, PFR_END);
    assert_true(w->count > 0);
}

static void learn_whole(struct whole *w) {
    pfr_error err;
    pfr_reader *r = pfr_open_bytes(w->bytes, w->length, NULL, &err);
    assert_non_null(r);
    w->begin = pfr_get_header(r)->data_offset;
    w->end = w->begin + pfr_get_header(r)->data_size;
    learn_records(w, r);
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
    uint8_t *copy = malloc(length + 1); /* a separate block, so that sanitizers detect a read beyond the end */
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

static void read_prefixes_of(struct whole *w, const char *name, size_t step) {
    learn_whole(w);
    for (size_t length = 0; length < w->length; length += STEP_OF(step))
        read_prefix(w, name, length);
    read_prefix(w, name, w->length);
    free(w->bytes);
}

static void read_prefixes(const char *name, size_t step) {
    static struct whole w;
    char path[RECORDED_PATH];
    w.bytes = load_whole(recorded_path(path, name), &w.length);
    read_prefixes_of(&w, name, step);
}

/* Generated recordings in the byte order that no recording of tests/fixtures/recorded has. */
static void read_built(struct builder *b, const char *name) {
    static struct whole w;
    for (uint32_t i = 0; i < 10; i++) {
        put_comm(b, 7 + i, i % 2 ? "a name of several words" : "short", FIRST_ID);
        put_sample(b, 0x1000 + i, FIRST_ID + i % 2);
    }
    if (strcmp(name, "file") == 0)
        end_file(b);
    w.bytes = b->bytes;
    w.length = b->length;
    read_prefixes_of(&w, name, 1);
}

/* --- A directory: one of its data files is truncated, the others are complete. */

static void write_bytes(const char *path, const uint8_t *bytes, size_t length) {
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
}

static void read_cut_directory(const char *folder, size_t expected, uint64_t sum, bool is_missing, size_t length) {
    pfr_error err = {0};
    pfr_reader *r = pfr_open(folder, NULL, &err);
    if (!r)
        fail_msg("with %zu bytes of data.1 the folder is refused: %s", length, err.text);
    const struct tally t = read_through(r);
    uint64_t own = 0;
    size_t count = 0;
    assert_int_equal(pfr_rewind(r, &err), PFR_OK);
    for (pfr_record rec; (err.status = pfr_next(r, &rec, &err)) >= 0 && err.status != PFR_END;)
        if (err.status == PFR_OK) {
            own = mix_bytes(own + rec.type, rec.bytes, rec.size);
            count++;
        }
    if (t.last != PFR_END || count != expected || own != sum)
        fail_msg("%zu bytes of data.1 give %zu records, %zu are whole", length, count, expected);
    if (is_missing && !is_missed(pfr_get_quality(r), t.holes))
        fail_msg("nothing is missed in %zu bytes of data.1", length);
    pfr_close(r);
}

/* Reads the directory with each prefix of data.1, which is the last part and has the records from `first` on. */
static void cut_part(const struct whole *w, size_t first, const char *folder, const char *path) {
    size_t whole = first, length;
    uint8_t *bytes = load_whole(path, &length);
    for (size_t cut = 0; cut <= length; cut += STEP_OF(1u)) {
        write_bytes(path, bytes, cut);
        while (whole < w->count && w->ends[whole] <= cut)
            whole++;
        const bool at_border = cut == 0 || (whole > first && w->ends[whole - 1] == cut);
        read_cut_directory(folder, whole, whole ? w->sums[whole - 1] : 0, !at_border, cut);
    }
    free(bytes);
}

static size_t records_of_first_parts(pfr_reader *r) {
    pfr_error err;
    pfr_record rec;
    size_t count = 0;
    while (pfr_next(r, &rec, &err) == PFR_OK && rec.part < 2)
        count++;
    assert_int_equal(pfr_rewind(r, &err), PFR_OK);
    return count;
}

static void read_prefixes_of_part(const char *name) {
    static const char *const parts[] = {"data", "data.0", "data.1"};
    static struct whole w;
    char folder[] = "/tmp/perfray-prefixes-XXXXXX", from[RECORDED_PATH], to[RECORDED_PATH];
    pfr_error err;
    const size_t used =
        strlen(recorded_path(from, name)); /* skips the test before a folder is made if the recordings are missing */
    assert_non_null(mkdtemp(folder));
    for (size_t i = 0; i < 3; i++) {
        size_t length;
        snprintf(from + used, sizeof from - used, "/%s", parts[i]);
        snprintf(to, sizeof to, "%s/%s", folder, parts[i]);
        uint8_t *bytes = load_whole(from, &length);
        write_bytes(to, bytes, length);
        free(bytes);
    }
    pfr_reader *r = pfr_open(folder, NULL, &err);
    assert_non_null(r);
    const size_t first = records_of_first_parts(r);
    learn_records(&w, r);
    pfr_close(r);
    cut_part(&w, first, folder, to);
    for (size_t i = 0; i < 3; i++) {
        snprintf(to, sizeof to, "%s/%s", folder, parts[i]);
        unlink(to);
    }
    rmdir(folder);
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

TEST(every_prefix_of_more_files) {
    read_prefixes("no-samples.data", 1);
    read_prefixes("stat-interval.data", 1);
    read_prefixes("buildid-mmap.data", 1);
}

TEST(every_prefix_of_a_stream_with_groups) {
    read_prefixes("pipe-group.data", 1);
}

TEST(every_prefix_of_a_foreign_file) {
    struct builder b = {.big = true};
    begin_file(&b, &(struct plan){.header_size = 104, .events = 2});
    read_built(&b, "file");
}

TEST(every_prefix_of_a_foreign_stream) {
    struct builder b = {.big = true};
    begin_pipe(&b, 2);
    read_built(&b, "stream");
}

TEST(every_prefix_of_a_part_of_a_directory) {
    read_prefixes_of_part("threads.data");
    read_prefixes_of_part("threads-zstd.data");
}
