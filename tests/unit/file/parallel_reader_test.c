/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A walk in which several threads read the bytes finds the same records, holes and counts as a single thread, wherever
 * chunks end, whatever is damaged, and even if a chunk cannot be read.
 */
#include "file/read/next.h"
#include "recording_builder.h"
#include "../base/input_samples.h"
#include "base/memory/fail.h"
#include "file/read/parallel_reader.h"

#include <errno.h>

enum { STRETCH = 4096, PAGES_OF_RECORDS = 40 };

struct seen {
    pfr_reader *reader;
    struct tally tally;
    uint64_t holes_sum;              /* checksum of their offsets and texts */
    uint64_t at_hand;                /* records visited by parallel readers */
    uint64_t parallel_readers, stop; /* stop: record at which the walk fails; 0: never */
    bool gives_up;                   /* the walk ends after one round */
};

static void note_record(struct seen *s, const pfr_record *rec) {
    s->tally.records++;
    s->tally.samples += rec->type == PFR_RECORD_SAMPLE;
    s->tally.sum = mix_bytes(s->tally.sum + rec->offset + rec->part + (uint64_t)rec->event, rec->bytes, rec->size);
}

static void note_hole(struct seen *s, const pfr_error *hole) {
    s->tally.holes++;
    s->holes_sum = mix_bytes(s->holes_sum + hole->offset * 31 + hole->length + s->tally.records,
                             (const uint8_t *)hole->text, strlen(hole->text));
}

static pfr_status walk(void *context, pfr_error *err) {
    struct seen *s = context;
    pfr_record rec;
    pfr_status st;
    while ((st = next_at_hand(s->reader, &rec, err)) == PFR_OK) {
        note_record(s, &rec);
        if (++s->at_hand == s->stop)
            return pfr_fail(err, PFR_ERR_USAGE, rec.offset, 0, "walk", "enough");
    }
    return s->gives_up ? PFR_OK : st;
}

/* threads 0: uses only pfr_next. */
static struct seen see(pfr_reader *r, uint32_t threads, size_t chunk) {
    struct seen s = {.reader = r};
    const struct parallel_reader parallel_reader = {.threads = threads, .chunk = chunk, .walk = walk, .context = &s};
    pfr_record rec;
    pfr_error err;
    while ((s.tally.last = pfr_next(r, &rec, &err)) >= 0 && s.tally.last != PFR_END) {
        if (s.tally.last == PFR_HOLE) {
            note_hole(&s, &err);
            continue;
        }
        note_record(&s, &rec);
        if (threads == 0 || rec.type != PFR_RECORD_SAMPLE)
            continue;
        assert_int_equal(parallel_reader_run(r, &parallel_reader, &err), PFR_OK);
        s.parallel_readers++;
    }
    return s;
}

static pfr_reader *open_file(const struct builder *b) {
    pfr_error err;
    pfr_reader *r = reader_open_fd(temporary_fd(b->bytes, b->length), "built", NULL, &err);
    if (!r)
        fail_msg("not opened: %s", err.text);
    return r;
}

static void assert_same(const struct seen *a, const struct seen *b) {
    assert_int_equal(a->tally.records, b->tally.records);
    assert_int_equal(a->tally.samples, b->tally.samples);
    assert_int_equal(a->tally.holes, b->tally.holes);
    assert_int_equal(a->tally.last, b->tally.last);
    assert_true(a->tally.sum == b->tally.sum);
    assert_true(a->holes_sum == b->holes_sum);
}

/* Compares one thread with several; returns how many records the parallel readers walked over with two threads. */
static uint64_t compare(const struct builder *b) {
    pfr_reader *alone = open_file(b);
    const struct seen expected = see(alone, 0, 0);
    uint64_t walked = 0;
    for (uint32_t threads = 2; threads <= PARALLEL_READER_THREADS + 1; threads++) {
        pfr_reader *r = open_file(b);
        const struct seen s = see(r, threads, STRETCH);
        assert_same(&s, &expected);
        assert_memory_equal(pfr_get_quality(r), pfr_get_quality(alone), sizeof(pfr_quality));
        walked = threads == 2 ? s.at_hand : walked;
        pfr_close(r);
    }
    pfr_close(alone);
    return walked;
}

/* A record of any size with an unknown type of the recorder: one in each recording is larger than many chunks. */
static void put_any(struct builder *b, uint32_t type, size_t size) {
    put_head(b, type, 0, size);
    put_room(b, size - 8);
}

static struct builder begin(bool big, unsigned events) {
    struct builder b = {.big = big};
    begin_file(&b, &(struct plan){.header_size = 104, .events = events});
    put_sample(&b, 1, events > 1 ? FIRST_ID : 0);
    return b;
}

/* Sizes such that records end at every place of a chunk. */
static void fill(struct builder *b, unsigned events, size_t length) {
    static const char name[] = "a name of some length";
    const size_t end = b->length + length;
    for (unsigned i = 0; b->length < end; i++) {
        const uint64_t id = events > 1 ? FIRST_ID + i / 7 % events : 0;
        if (i % 11 == 10)
            put_comm(b, i, name + i % (sizeof name - 1), id);
        else if (i % 97 == 96)
            put_any(b, 68, 8);
        else
            put_sample(b, i, id);
    }
}

TEST(several_threads_find_the_records_that_one_finds) {
    for (unsigned form = 0; form < 4; form++) {
        const unsigned events = 1 + form / 2;
        struct builder b = begin(form & 1, events);
        fill(&b, events, PAGES_OF_RECORDS * STRETCH);
        end_file(&b);
        const uint64_t walked = compare(&b);
        assert_in_range(walked, PAGES_OF_RECORDS * STRETCH / 50, UINT64_MAX); /* nearly all of them */
        free(b.bytes);
    }
}

TEST(a_record_may_be_longer_than_many_chunks) {
    for (unsigned i = 0; i < 64; i += 8) {
        struct builder b = begin(false, 1);
        fill(&b, 1, 6 * STRETCH + i);
        put_comm(&b, 5, "five", 0);
        put_any(&b, 80, 65528 - i); /* a feature with a meaningless payload */
        fill(&b, 1, 30 * STRETCH);
        end_file(&b);
        compare(&b);
        free(b.bytes);
    }
}

/* Bytes that are not a record, at various places of a chunk and at its boundaries. */
TEST(damage_is_reported_as_by_a_single_reader) {
    static const uint8_t junk[] = {9, 0, 0, 0, 2, 0, 3, 0, 255, 255, 255, 255, 255, 255, 255, 255};
    for (unsigned i = 0; i < 24; i++) {
        struct builder b = begin(i & 1, 1);
        fill(&b, 1, (PAGES_OF_RECORDS + 200) * STRETCH / 4);
        const size_t at = b.data + 13 * STRETCH + (i < 12 ? i : STRETCH / 12 * i);
        memcpy(b.bytes + at, junk, 1 + i % sizeof junk);
        memset(b.bytes + at + 9 * STRETCH, 0, 1 + 37 * i);
        end_file(&b);
        compare(&b);
        free(b.bytes);
    }
}

TEST(payloads_after_a_record_are_skipped) {
    for (unsigned i = 0; i < 4; i++) {
        struct builder b = begin(false, 1);
        fill(&b, 1, 9 * STRETCH + 40 * i);
        put_head(&b, 71, 0, 48); /* AUXTRACE */
        put_number(&b, 5 * STRETCH, 8);
        put_room(&b, 32);
        put_room(&b, 5 * STRETCH);
        fill(&b, 1, 20 * STRETCH);
        end_file(&b);
        assert_true(compare(&b) > 0);
        free(b.bytes);
    }
}

/* A zstd frame with one stored block (RFC 8878): no window, no checksum, the content's size in one byte. */
static void put_compressed(struct builder *b, const uint8_t *inner, size_t length) {
    static const uint8_t magic[] = {0x28, 0xb5, 0x2f, 0xfd, 0x20};
    const uint32_t block = 1u | (uint32_t)length << 3;
    const size_t size = 8 + sizeof magic + 1 + 3 + length;
    put_head(b, 81, 0, size + -size % 8);
    put_bytes(b, magic, sizeof magic);
    put_bytes(b, (const uint8_t[]){(uint8_t)length, (uint8_t)block, (uint8_t)(block >> 8), (uint8_t)(block >> 16)}, 4);
    put_bytes(b, inner, length);
    put_room(b, -size % 8);
}

/* The records inside are returned after the parallel reader has ended and returned its buffers. */
TEST(compressed_records_come_after_plain_ones) {
    for (unsigned i = 0; i < 6; i++) {
        struct builder b = begin(i & 1, 1);
        const size_t first = b.data;
        fill(&b, 1, (5 + i) * STRETCH + 600 * i);
        uint8_t inner[48];
        const size_t length = b.big ? b.bytes[first + 7] : b.bytes[first + 6];
        assert_in_range(length, 8, sizeof inner);
        memcpy(inner, b.bytes + first, length);
        put_compressed(&b, inner, length);
        fill(&b, 1, 20 * STRETCH);
        put_compressed(&b, inner, length);
        fill(&b, 1, 8 * STRETCH);
        end_file(&b);
        assert_true(compare(&b) > 0);
        free(b.bytes);
    }
}

TEST(a_cut_file_ends_as_by_one) {
    struct builder b = begin(false, 1);
    fill(&b, 1, 8 * STRETCH);
    end_file(&b);
    const size_t whole = b.length;
    for (b.length = whole - STRETCH - 40; b.length < whole; b.length += 41)
        compare(&b);
    free(b.bytes);
}

static struct {
    uint64_t calls, fails_at;
    bool shortens;
} faults;

static ssize_t faulty_pread(void *context, int fd, void *to, size_t length, off_t offset) {
    (void)context;
    const uint64_t call = __atomic_add_fetch(&faults.calls, 1, __ATOMIC_RELAXED);
    if (faults.shortens)
        return pread(fd, to, length > 100 ? 100 : length, offset);
    if (call == faults.fails_at)
        return errno = EIO, -1;
    return pread(fd, to, length, offset);
}

/* The single-threaded reader reads the chunk again. */
TEST(a_chunk_that_cannot_be_read_loses_no_other_chunk) {
    struct builder b = begin(false, 1);
    fill(&b, 1, 12 * STRETCH);
    end_file(&b);
    pfr_reader *alone = open_file(&b);
    const struct seen expected = see(alone, 0, 0);
    for (uint64_t i = 0; i < 10; i++) {
        pfr_reader *r = open_file(&b);
        faults.calls = 0, faults.fails_at = i, faults.shortens = i == 0;
        r->parts[0].in.calls.pread = faulty_pread;
        input_set_chunk(&r->parts[0].in, 2 * STRETCH);
        const struct seen s = see(r, 2, STRETCH);
        /* The first read fills the read buffer itself, and fails as usual. */
        if (i == 1)
            assert_int_equal(s.tally.last, PFR_ERR_IO);
        else
            assert_same(&s, &expected);
        pfr_close(r);
    }
    pfr_close(alone);
    free(b.bytes);
}

TEST(an_error_of_the_callback_ends_the_walk) {
    struct builder b = begin(false, 1);
    fill(&b, 1, 40 * STRETCH);
    end_file(&b);
    for (uint64_t stop = 1; stop < 3000; stop += 311) {
        pfr_reader *r = open_file(&b);
        struct seen s = {.reader = r, .stop = stop};
        const struct parallel_reader parallel_reader = {.threads = 3, .chunk = STRETCH, .walk = walk, .context = &s};
        pfr_record rec;
        pfr_error err;
        assert_int_equal(pfr_next(r, &rec, &err), PFR_OK);
        assert_int_equal(parallel_reader_run(r, &parallel_reader, &err), PFR_ERR_USAGE);
        assert_string_equal(err.text, "enough");
        assert_int_equal(s.at_hand, stop);
        pfr_close(r);
    }
    free(b.bytes);
}

TEST(a_walk_that_gives_up_has_no_more_turns) {
    struct builder b = begin(false, 1);
    fill(&b, 1, 40 * STRETCH);
    end_file(&b);
    pfr_reader *alone = open_file(&b), *r = open_file(&b);
    const struct seen expected = see(alone, 0, 0);
    struct seen s = {.reader = r, .gives_up = true};
    const struct parallel_reader parallel_reader = {.threads = 2, .chunk = STRETCH, .walk = walk, .context = &s};
    pfr_record rec;
    pfr_error err;
    assert_int_equal(pfr_next(r, &rec, &err), PFR_OK);
    note_record(&s, &rec);
    assert_int_equal(parallel_reader_run(r, &parallel_reader, &err), PFR_OK);
    assert_in_range(s.at_hand, 1, STRETCH / 24);
    while ((s.tally.last = pfr_next(r, &rec, &err)) == PFR_OK)
        note_record(&s, &rec);
    assert_same(&s, &expected);
    pfr_close(alone);
    pfr_close(r);
    free(b.bytes);
}

TEST(small_inputs_are_read_by_one_thread) {
    struct builder b = begin(false, 1);
    fill(&b, 1, 3 * STRETCH);
    end_file(&b);
    pfr_reader *small = open_file(&b), *in_memory = open_built(&b, NULL);
    const struct seen by_few = see(small, 2, STRETCH), by_bytes = see(in_memory, 2, 64);
    assert_int_equal(by_few.at_hand, 0);
    assert_int_equal(by_bytes.at_hand, 0);
    pfr_close(small);
    pfr_close(in_memory);
    free(b.bytes);
}
