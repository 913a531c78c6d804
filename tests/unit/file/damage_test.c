/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requirements for arbitrary bytes. Recordings are damaged a few words at a time, mostly in numbers that others depend
 * on: in the header, the attrs, the feature table, the headers of records. Then
 *
 * - reading ends, and records are returned in the order of their offsets, without duplicates and within the input,
 * - a second pass over a file gives the same records, holes and counts (over a stream, it knows the events from the
 *   start, so it may judge the bytes around a damaged event differently),
 * - the same bytes through a pipe give the same records, if they can be opened,
 * - every query about a record, a feature or an event is answered or rejected, without a read beyond its end (which
 *   sanitizers detect).
 */
#include "recorded_files.h"
#include "recording_builder.h"
#include "wire/any_layout.h"

#include <fcntl.h>
#include <inttypes.h>
#include <unistd.h>

#include <perfray/record.h>

enum { MUTANTS = 120, PIPE_ROOM = 60000, HOLES_MOST = 1 << 17 };

struct damaged {
    const char *name;
    uint64_t seed;
    uint8_t *bytes;
    size_t length;
    bool big;
};

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* --- The damage. */

static uint64_t load_word(const struct damaged *d, size_t at) {
    return load_u64(d->bytes + at, d->big != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__));
}

static void store_word(const struct damaged *d, size_t at, uint64_t value) {
    for (unsigned i = 0; i < 8; i++)
        d->bytes[at + (d->big ? 7 - i : i)] = (uint8_t)(value >> 8 * i);
}

/* Picks a place to damage: in the header, in the attrs after it, near the end (where the sections are), or anywhere. */
static size_t pick_place(const struct damaged *d, uint64_t *state) {
    const size_t last = d->length - 8, head = last < 104 ? last : 104, tail = last < 1200 ? last : 1200;
    switch (draw(state) % 4) {
    case 0:
        return draw(state) % (head / 8 + 1) * 8;
    case 1:
        return draw(state) % (tail / 8 + 1) * 8;
    case 2:
        return last - draw(state) % (tail + 1);
    default:
        return draw(state) % (last / 8 + 1) * 8;
    }
}

static uint64_t pick_value(const struct damaged *d, size_t at, uint64_t *state) {
    const uint64_t was = load_word(d, at);
    static const uint64_t steps[] = {1, 2, 4, 8, 16, 64, 256, 4096};
    switch (draw(state) % 8) {
    case 0:
        return 0;
    case 1:
        return UINT64_MAX - draw(state) % 16;
    case 2:
        return was + steps[draw(state) % 8];
    case 3:
        return was - steps[draw(state) % 8];
    case 4:
        return __builtin_bswap64(was);
    case 5:
        return was ^ 1ull << draw(state) % 64;
    case 6:
        return draw(state) % (d->length + 64);
    default:
        return load_word(d, pick_place(d, state));
    }
}

static void damage(struct damaged *d) {
    uint64_t state = d->seed;
    draw(&state);
    for (uint64_t i = 0, times = 1 + draw(&state) % 3; i < times; i++) {
        const size_t at = pick_place(d, &state);
        store_word(d, at, pick_value(d, at, &state));
    }
    if (draw(&state) % 16 == 0)
        d->length -= draw(&state) % (d->length - 16);
}

/* --- The requirements. */

static void fail_of(const struct damaged *d, const char *law, uint64_t a, uint64_t b) {
    fail_msg("%s, damaged by seed %ju: %s (%ju, %ju)", d->name, (uintmax_t)d->seed, law, (uintmax_t)a, (uintmax_t)b);
}

static void ask_record(pfr_reader *r, const pfr_record *rec) {
    union any_layout body;
    struct pfr_rec_sample_id id;
    pfr_error err;
    char payload[64];
    size_t got = 0;
    const struct layout *l = layout_at(layout_find(TABLE_PERF_RECORD, rec->type));
    if (l)
        pfr_decode(rec, &body, l->size, &err);
    pfr_decode_id(rec, &id, &err);
    pfr_payload(r, 3, payload, sizeof payload, &got, &err);
    assert_true(got <= sizeof payload);
}

static void ask_features(pfr_reader *r) {
    union any_layout body;
    pfr_error err;
    for (uint32_t i = 0; i < pfr_feature_count(r); i++) {
        const pfr_feature *f = pfr_get_feature(r, i, &err);
        const struct layout *l = f ? layout_at(f->layout) : NULL;
        if (l)
            pfr_decode_feature(r, f, &body, l->size, &err);
        if (f)
            pfr_check_feature(r, f, &err);
    }
    for (uint32_t i = 0; i < pfr_event_count(r); i++)
        assert_non_null(pfr_get_event(r, i)->name);
}

struct pass {
    uint64_t records, holes, sum;
    pfr_status last;
};

static void take_record(const struct damaged *d, const pfr_record *rec, uint64_t *behind, struct pass *p) {
    if (!rec->inside) {
        if (rec->offset < *behind)
            fail_of(d, "a record begins before the one that came before it", rec->offset, *behind);
        if (rec->offset + rec->size > d->length)
            fail_of(d, "a record reaches past the input", rec->offset + rec->size, d->length);
        *behind = rec->offset + 1;
    }
    p->records++;
    p->sum = mix_bytes(p->sum + rec->offset + rec->inner, rec->bytes, rec->size);
}

static struct pass read_pass(const struct damaged *d, pfr_reader *r) {
    struct pass p = {0};
    uint64_t behind = 0;
    pfr_record rec;
    pfr_error err = {0};
    while ((p.last = pfr_next(r, &rec, &err)) >= 0 && p.last != PFR_END) {
        if (p.last == PFR_OK) {
            ask_record(r, &rec);
            take_record(d, &rec, &behind, &p);
            continue;
        }
        if (++p.holes > HOLES_MOST || err.text[0] == 0)
            fail_of(d, "holes without end or without a word", p.holes, err.offset);
    }
    return p;
}

static struct pass read_twice(const struct damaged *d, pfr_reader *r) {
    pfr_error err;
    const struct pass once = read_pass(d, r);
    ask_features(r);
    const pfr_quality quality = *pfr_get_quality(r);
    if (pfr_rewind(r, &err) != PFR_OK)
        return once; /* a pipe */
    const struct pass again = read_pass(d, r);
    if (pfr_get_header(r)->container == PFR_PIPE)
        return once;
    if (again.records != once.records || again.sum != once.sum || again.last != once.last)
        fail_of(d, "a second pass gives other records", once.records, again.records);
    if (memcmp(&quality, pfr_get_quality(r), sizeof quality) != 0)
        fail_of(d, "a second pass counts otherwise", quality.holes, pfr_get_quality(r)->holes);
    return once;
}

/* Makes the bytes standard input; they fit into the pipe. */
static pfr_reader *open_piped(const struct damaged *d, bool spool, int *saved) {
    const pfr_open_options options = {.size = sizeof options, .keep_aux = true, .spool = spool};
    pfr_error err = {0};
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], d->bytes, d->length), (ssize_t)d->length);
    close(ends[1]);
    *saved = dup(0);
    assert_int_equal(dup2(ends[0], 0), 0);
    close(ends[0]);
    return pfr_open("-", &options, &err);
}

static void read_piped(const struct damaged *d, const struct pass *expected) {
    int saved;
    pfr_reader *r = open_piped(d, d->seed % 8 == 0, &saved);
    if (!r != !expected)
        fail_of(d, "a pipe opens otherwise than its bytes", r != NULL, expected != NULL);
    if (r) {
        const bool stream = pfr_get_header(r)->container == PFR_PIPE;
        const struct pass p = read_twice(d, r);
        if (!stream && (p.records != expected->records || p.sum != expected->sum))
            fail_of(d, "a file through a pipe gives other records", expected->records, p.records);
    }
    pfr_close(r);
    dup2(saved, 0);
    close(saved);
}

static void read_damaged(const struct damaged *d) {
    const pfr_open_options keep = {.size = sizeof keep, .keep_aux = true};
    pfr_error err = {0};
    struct pass p = {0};
    pfr_reader *r = pfr_open_bytes(d->bytes, d->length, &keep, &err);
    if (!r && err.text[0] == 0)
        fail_of(d, "refused without a word", 0, 0);
    if (r)
        p = read_twice(d, r);
    if (d->length < PIPE_ROOM && d->seed % 4 == 0)
        read_piped(d, r ? &p : NULL);
    pfr_close(r);
}

static void damage_often(const char *name, const uint8_t *bytes, size_t length, unsigned times) {
    for (unsigned seed = 0; seed < times; seed++) {
        struct damaged d = {name, seed, malloc(length), length, bytes[0] == '2'};
        assert_non_null(d.bytes);
        memcpy(d.bytes, bytes, length);
        damage(&d);
        uint8_t *exact = realloc(d.bytes, d.length); /* so that sanitizers detect a read beyond the end */
        d.bytes = exact;
        read_damaged(&d);
        free(d.bytes);
    }
}

static void damage_recorded(const char *path, void *context) {
    size_t length;
    (void)context;
    if (is_folder(path))
        return;
    uint8_t *bytes = load_whole(path, &length);
    damage_often(path, bytes, length, SOME_OF(MUTANTS));
    free(bytes);
}

TEST(damaged_recordings_keep_the_laws) {
    each_recorded(damage_recorded, NULL);
}

static void put_aux(struct builder *b, size_t length) {
    put_head(b, 71, 0, 48);
    put_number(b, length, 8);
    put_room(b, 32);
    memset(put_room(b, length), 0x5a, length);
}

/* Small recordings of every form, so that most of the damage hits the header. */
static void damage_built(unsigned form) {
    struct builder b = {.big = form & 1};
    const unsigned events = form & 2 ? 3 : 1;
    if (form & 4)
        begin_pipe(&b, events);
    else
        begin_file(&b, &(struct plan){.header_size = form & 8 ? 72 : 104, .events = events});
    for (unsigned i = 0; i < 12; i++) {
        const uint64_t id = events > 1 ? FIRST_ID + i % events : 0;
        i % 4 == 3 ? put_comm(&b, i, "name", id) : put_sample(&b, 0x1000 + i, id);
        if (i == 5)
            put_aux(&b, 40);
    }
    if (!(form & 4))
        end_file(&b);
    damage_often("a built recording", b.bytes, b.length, SOME_OF(MUTANTS * 4));
    free(b.bytes);
}

TEST(damaged_small_recordings_keep_the_laws) {
    for (unsigned form = 0; form < 16; form++)
        damage_built(form);
}
