/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_STATE_BUILDER_H
#define PFR_TESTS_STATE_BUILDER_H
/*
 * Builds recordings with forks, mappings and names, and checks the state at each of their samples:
 *
 *     struct record_builder s;
 *     begin_records(&s, TIMED);
 *     add_mmap(&s, 2, 7, 7, 0x1000, 0x100, "/lib", 10);  cpumode, pid, tid, start, length, path, time
 *     add_sample(&s, 2, 7, 7, 0x1010, 20);               cpumode, pid, tid, address, time
 *     check_records(&s, "/lib", ":7");                   path and name of each sample; "-": nothing is mapped
 */
#include "../file/recording_builder.h"

#include "model/state/state.h"

#include "profile_oracle.h"

#include <stdio.h>

enum record_form { TIMED, WITHOUT_TIME, WITHOUT_ID };
enum { KERNEL_MODE = 1, USER_MODE = 2, BARE = 0x2000, WITH_EXEC = 0x2000, TEXT_ROOM = 400 };

struct record_builder {
    struct builder b;
    enum record_form form;
};

/* One event of header size 104: its sample_type is 24 bytes and its flags are 40 bytes into the attribute. */
static inline void begin_records(struct record_builder *s, enum record_form form) {
    *s = (struct record_builder){.form = form};
    begin_file(&s->b, &(struct plan){.header_size = 104, .events = 1});
    uint8_t *attr = s->b.bytes + 104 + 8;
    if (form == WITHOUT_TIME)
        set_number(&s->b, attr + 24, SAMPLE_BITS & ~4u, 8);
    if (form == WITHOUT_ID)
        set_number(&s->b, attr + 40, 0, 8);
}

static inline void add_sample_id(struct record_builder *s, uint32_t pid, uint32_t tid, uint64_t time) {
    if (s->form == WITHOUT_ID)
        return;
    put_number(&s->b, pid, 4);
    put_number(&s->b, tid, 4);
    if (s->form == TIMED)
        put_number(&s->b, time, 8);
}

static inline size_t id_size(const struct record_builder *s) {
    return s->form == TIMED ? 16 : s->form == WITHOUT_TIME ? 8 : 0;
}

static inline void add_text(struct record_builder *s, const char *text) {
    memcpy(put_room(&s->b, (strlen(text) + 8) / 8 * 8), text, strlen(text));
}

static inline void add_mmap(struct record_builder *s, uint16_t misc, uint32_t pid, uint32_t tid, uint64_t start,
                            uint64_t length, const char *path, uint64_t time) {
    put_head(&s->b, 1, misc, 40 + (strlen(path) + 8) / 8 * 8 + id_size(s));
    put_number(&s->b, pid, 4);
    put_number(&s->b, tid, 4);
    put_number(&s->b, start, 8);
    put_number(&s->b, length, 8);
    put_number(&s->b, 0, 8);
    add_text(s, path);
    add_sample_id(s, pid, tid, time);
}

static inline void add_comm(struct record_builder *s, uint16_t misc, uint32_t pid, uint32_t tid, const char *name,
                            uint64_t time) {
    put_head(&s->b, 3, misc, 16 + (strlen(name) + 8) / 8 * 8 + id_size(s));
    put_number(&s->b, pid, 4);
    put_number(&s->b, tid, 4);
    add_text(s, name);
    add_sample_id(s, pid, tid, time);
}

static inline void add_task(struct record_builder *s, uint32_t type, uint16_t misc, uint32_t pid, uint32_t ppid,
                            uint32_t tid, uint32_t ptid, uint64_t time) {
    put_head(&s->b, type, misc, 32 + id_size(s));
    put_number(&s->b, pid, 4);
    put_number(&s->b, ppid, 4);
    put_number(&s->b, tid, 4);
    put_number(&s->b, ptid, 4);
    put_number(&s->b, time, 8);
    add_sample_id(s, ppid, ptid, time);
}

static inline void add_fork(struct record_builder *s, uint16_t misc, uint32_t pid, uint32_t ppid, uint32_t tid,
                            uint32_t ptid, uint64_t time) {
    add_task(s, 7, misc, pid, ppid, tid, ptid, time);
}

static inline void add_exit(struct record_builder *s, uint32_t pid, uint32_t tid, uint64_t time) {
    add_task(s, 4, 0, pid, pid, tid, tid, time);
}

static inline void add_sample(struct record_builder *s, uint16_t mode, uint32_t pid, uint32_t tid, uint64_t address,
                              uint64_t time) {
    put_head(&s->b, 9, mode, s->form == WITHOUT_TIME ? 24 : 32);
    put_number(&s->b, address, 8);
    put_number(&s->b, pid, 4);
    put_number(&s->b, tid, 4);
    if (s->form != WITHOUT_TIME)
        put_number(&s->b, time, 8);
}

/* The type of a range of kernel code in KSYMBOL. */
static inline void add_ksymbol(struct record_builder *s, uint64_t start, uint32_t length, bool goes, const char *name,
                               uint64_t time) {
    put_head(&s->b, 17, 0, 24 + (strlen(name) + 8) / 8 * 8 + id_size(s));
    put_number(&s->b, start, 8);
    put_number(&s->b, length, 4);
    put_number(&s->b, 1, 2);
    put_number(&s->b, goes, 2);
    add_text(s, name);
    add_sample_id(s, 0, 0, time);
}

static inline void add_cgroup(struct record_builder *s, uint64_t id, const char *path, uint64_t time) {
    put_head(&s->b, 19, 0, 16 + (strlen(path) + 8) / 8 * 8 + id_size(s));
    put_number(&s->b, id, 8);
    add_text(s, path);
    add_sample_id(s, 0, 0, time);
}

/* The results so far, as text. */
struct found {
    char places[TEXT_ROOM], names[TEXT_ROOM];
};

static inline void add_word(char *text, const char *word) {
    const size_t length = strlen(text);
    snprintf(text + length, TEXT_ROOM - length, "%s%s", length ? " " : "", word);
}

static inline uint64_t number_at(const pfr_record *rec, size_t at, size_t width) {
    uint64_t value = 0;
    for (size_t i = 0; i < width; i++)
        value |= (uint64_t)rec->bytes[at + i] << 8 * i;
    return value;
}

/* A sample without a time is looked up with a time that would be the first if it were used. */
static inline void find_sample(struct state *state, const pfr_record *rec, struct found *found) {
    const uint32_t pid = (uint32_t)number_at(rec, 16, 4), tid = (uint32_t)number_at(rec, 20, 4);
    const struct record_key key = state_key(state, rec, rec->size < 32 ? 1 : number_at(rec, 24, 8));
    struct place place;
    uint32_t name;
    pfr_error err;
    state_place(state, rec, pid, tid, number_at(rec, 8, 8), key, &place);
    add_word(found->places, place.map ? intern_chars(&state->names, state->objects.at[place.object].path) : "-");
    ASSERT_OK(state_comm(state, tid, key, &name, &err), err);
    add_word(found->names, intern_chars(&state->names, name));
}

static inline void find_samples(struct state *state, pfr_reader *reader, struct found *found) {
    pfr_record rec;
    pfr_status st;
    pfr_error err;
    ASSERT_OK(pfr_rewind(reader, &err), err);
    while ((st = pfr_next(reader, &rec, &err)) == PFR_OK)
        if (rec.type == PFR_RECORD_SAMPLE)
            find_sample(state, &rec, found);
    assert_int_equal(st, PFR_END);
}

/* NULL: not checked. */
static inline void check_records(struct record_builder *s, const char *places, const char *names) {
    struct memory memory;
    struct state state;
    struct found found = {.places = ""};
    pfr_error err;
    end_file(&s->b);
    pfr_reader *reader = open_built(&s->b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    find_samples(&state, reader, &found);
    state_free(&state);
    assert_profile_is_right(reader, false, 1);
    pfr_close(reader);
    free(s->b.bytes);
    assert_int_equal(memory.used, 0);
    if (places)
        assert_string_equal(found.places, places);
    if (names)
        assert_string_equal(found.names, names);
}

#endif
