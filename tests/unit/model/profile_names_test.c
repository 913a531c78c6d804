/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Frames that are named after all samples are counted have the same names as frames that are named at once. The
 * addresses are all over this program, which is mapped at another address in each process; in a missing file; in kernel
 * code with its own symbol; and in no mapping.
 */
#include "profile_failing.h"

#include <sys/stat.h>
#include <unistd.h>

enum { HITS = 3000, PROCESSES = 3, FIRST_PID = 10, BASE = 0x10000000 };

static uint64_t random_state;

static uint64_t pick(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

static void add_mapped_samples(struct record_builder *s, const char *path, uint64_t size) {
    begin_records(s, TIMED);
    add_ksymbol(s, 0x5000, 0x100, false, "made_later", 1);
    for (uint32_t i = 0; i < PROCESSES; i++) {
        add_mmap(s, USER_MODE, FIRST_PID + i, FIRST_PID + i, (i + 1ull) * BASE, size, path, 2);
        add_mmap(s, USER_MODE, FIRST_PID + i, FIRST_PID + i, (i + 9ull) * BASE, 0x1000, "/not/there", 2);
        add_mmap(s, USER_MODE, FIRST_PID + i, FIRST_PID + i, (i + 19ull) * BASE, 0x1000, "//anon", 2);
    }
    for (uint32_t i = 0; i < HITS; i++) {
        const uint32_t pid = FIRST_PID + (uint32_t)pick(PROCESSES), n = pid - FIRST_PID;
        const uint64_t places[] = {(n + 1ull) * BASE + pick(size), (n + 1ull) * BASE + size / 2 + pick(256),
                                   (n + 9ull) * BASE + pick(64), (n + 19ull) * BASE + pick(64), 0x5000 + pick(512)};
        const uint64_t which = pick(8);
        add_sample(s, which == 4 ? KERNEL_MODE : USER_MODE, pid, pid, places[which < 5 ? which : which % 2], 3 + i);
    }
    end_file(&s->b);
}

static struct profile *load(struct record_builder *s, bool last, pfr_reader **reader) {
    const struct profile_request request = {
        .shape = PROFILE_LEAVES, .unit = last ? PROFILE_NAMED_LAST : PROFILE_ADDRESSES, .mangled_names = true};
    struct profile *p;
    pfr_error err;
    *reader = open_built(&s->b, NULL);
    ASSERT_OK(profile_load(&p, *reader, &request, &err), err);
    return p;
}

static const char *text_of(const struct profile *p, uint32_t text) {
    return text == NO_TEXT ? "" : intern_chars(&p->texts, text);
}

/* Finds the frame of p that equals `like`, a frame of another profile. Both profiles number objects in the same way. */
static const struct profile_frame *find_frame(const struct profile *p, const struct profile_frame *like) {
    for (uint32_t i = 0; i < p->nr_frames; i++)
        if (p->frames[i].object == like->object && p->frames[i].address == like->address)
            return &p->frames[i];
    return NULL;
}

/* The number of frames with a name. */
static uint32_t count_equal(const struct profile *p, const struct profile *other) {
    uint32_t named = 0;
    for (uint32_t i = 0; i < p->nr_frames; i++) {
        const struct profile_frame *a = &p->frames[i], *b = find_frame(other, a);
        assert_non_null(b);
        assert_string_equal(text_of(p, a->text), text_of(other, b->text));
        assert_string_equal(text_of(p, a->mangled), text_of(other, b->mangled));
        assert_int_equal(a->start, b->start);
        assert_int_equal(a->size, b->size);
        named += a->text != NO_TEXT;
    }
    return named;
}

TEST(profile_names_are_the_same_when_they_come_last) {
    char path[400] = "";
    struct stat facts;
    struct record_builder s;
    pfr_reader *reader, *last_reader;
    assert_true(readlink("/proc/self/exe", path, sizeof path - 1) > 0);
    assert_int_equal(stat(path, &facts), 0);
    add_mapped_samples(&s, path, (uint64_t)facts.st_size & ~(uint64_t)0xfff);
    struct profile *p = load(&s, false, &reader), *last = load(&s, true, &last_reader);
    const uint32_t named = count_equal(p, last);
    assert_int_equal(count_equal(last, p), named);
    assert_true(named > 100);
    assert_true(last->nr_frames < p->nr_frames); /* an address without a name has one frame, not one per process */
    profile_close(p);
    profile_close(last);
    pfr_close(reader);
    pfr_close(last_reader);
    free(s.b.bytes);
}

TEST(profile_names_that_come_last_leave_nothing_when_an_allocation_fails) {
    const struct profile_request request = {
        .shape = PROFILE_LEAVES, .unit = PROFILE_NAMED_LAST, .names = {.naming = {.no_symbols = true}}};
    struct record_builder s;
    random_state = 3;
    add_mapped_samples(&s, "/not/there/either", 0x10000);
    expect_nothing_left(&s, &request);
    free(s.b.bytes);
}
