/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_PROFILE_ORACLE_H
#define PFR_TESTS_PROFILE_ORACLE_H
/*
 * The expected contents of a profile: each sample is looked up individually, at its own time. The expected and the
 * actual contents are written as lines
 *
 *     name;object+place;object+place ...
 *
 * with frames from the outermost to the sampled address. There is one line per sample, and lines are sorted.
 */
#include "file/read/next.h"
#include "../test.h"

#include "base/io/output.h"
#include "file/read/recording.h"
#include "model/stacks/chain.h"
#include "model/profile/result/profile.h"

#include <stdlib.h>

struct lines {
    struct memory memory;
    struct output text;
    char **at;
    size_t count;
};

static inline void lines_begin(struct lines *l) {
    memset(l, 0, sizeof *l);
    memory_init(&l->memory, NULL, 0);
    out_open_memory(&l->text, &l->memory);
}

static inline int by_text(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Splits the text into lines, which are valid as long as the text. */
static inline void lines_sort(struct lines *l) {
    size_t length;
    out_write(&l->text, "", 1);
    char *at = (char *)(uintptr_t)out_bytes(&l->text, &length);
    for (size_t i = 0; i < length; i++)
        l->count += at[i] == '\n';
    l->at = calloc(l->count + 1, sizeof *l->at);
    for (size_t i = 0; i < l->count; i++) {
        l->at[i] = at;
        at = strchr(at, '\n');
        *at++ = '\0';
    }
    qsort(l->at, l->count, sizeof *l->at, by_text);
}

static inline void lines_free(struct lines *l) {
    out_close(&l->text, NULL);
    free(l->at);
    assert_int_equal(l->memory.used, 0);
}

static inline void write_place(struct lines *l, const struct state *s, uint32_t object, uint64_t offset) {
    out_write(&l->text, ";", 1);
    const char *path = object == NO_OBJECT ? "-" : intern_chars(&s->names, s->objects.at[object].path);
    out_write(&l->text, path, strlen(path));
    out_write(&l->text, "+", 1);
    out_hex(&l->text, offset, 1);
}

/* --- The samples one by one. */

static inline struct place look_up(struct lines *l, const struct state *s, unsigned mode, uint32_t space,
                                   uint64_t address, struct record_key key) {
    struct place place;
    state_place_in(s, mode, space, address, key, &place);
    write_place(l, s, place.object, place.offset);
    return place;
}

static inline void oracle_sample(struct lines *l, struct state *s, const pfr_record *rec, bool chains) {
    struct pfr_rec_sample sample;
    uint64_t addresses[128];
    unsigned modes[128];
    size_t count = 0;
    uint32_t name;
    pfr_error err;
    ASSERT_OK(pfr_decode(rec, &sample, sizeof sample, &err), err);
    const uint64_t time = time_of(s->reader, rec);
    const struct record_key key = state_key(s, rec, time == NO_TIME ? UINT64_MAX - 1 : time);
    const uint32_t space = thread_space_at(&s->threads, sample.pid, sample.tid, key);
    ASSERT_OK(state_comm(s, sample.tid, key, &name, &err), err);
    out_write(&l->text, intern_chars(&s->names, name), strlen(intern_chars(&s->names, name)));
    struct chain_walk walk = chain_begin(&sample.chain, rec->misc & 7, 127);
    while (chains && chain_next(&walk, &addresses[count]))
        modes[count++] = walk.mode;
    struct place leaf = {0}, own;
    for (size_t i = count; i-- > 0;)
        leaf = look_up(l, s, modes[i], space, addresses[i], key);
    state_place_in(s, rec->misc & 7, space, sample.ip, key, &own);
    if (count == 0 || addresses[0] != sample.ip || leaf.object != own.object || leaf.offset != own.offset)
        write_place(l, s, own.object, own.offset);
    out_write(&l->text, "\n", 1);
}

static inline void oracle_lines(struct lines *l, pfr_reader *reader, bool chains) {
    struct memory memory;
    struct state state;
    pfr_record rec;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    ASSERT_OK(pfr_rewind(reader, &err), err);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    ASSERT_OK(pfr_rewind(reader, &err), err);
    pfr_status st;
    while ((st = pfr_next(reader, &rec, &err)) == PFR_OK)
        if (rec.type == PFR_RECORD_SAMPLE)
            oracle_sample(l, &state, &rec, chains);
    ASSERT_STATUS(st, PFR_END, err);
    state_free(&state);
    assert_int_equal(memory.used, 0);
}

/* --- The profile. */

static inline void write_stack(struct lines *l, const struct profile *p, uint32_t node) {
    const struct profile_node *n = &p->nodes[node];
    if (n->parent == NO_NODE) {
        const uint64_t comm = profile_value(p, p->groups[n->frame], PROFILE_COMM);
        out_write(&l->text, intern_chars(&p->texts, (uint32_t)comm), strlen(intern_chars(&p->texts, (uint32_t)comm)));
        return;
    }
    assert_true(n->parent < node);
    write_stack(l, p, n->parent);
    write_place(l, &p->state, p->frames[node_frame(n)].object, p->frames[node_frame(n)].address);
}

static inline void profile_lines(struct lines *l, const struct profile *p) {
    for (uint32_t node = 0; node < p->nr_nodes; node++)
        for (uint64_t i = 0; i < node_weight(&p->self, node)->samples; i++) {
            write_stack(l, p, node);
            out_write(&l->text, "\n", 1);
        }
}

/* jobs as in struct profile_request. */
static inline void assert_profile_is_right(pfr_reader *reader, bool chains, unsigned jobs) {
    const struct profile_request request = {.keys = PROFILE_BIT(PROFILE_COMM),
                                            .shape = chains ? PROFILE_TREE : PROFILE_LEAVES,
                                            .unit = PROFILE_ADDRESSES,
                                            .jobs = jobs,
                                            .names = {.naming = {.no_symbols = true}}};
    struct lines wanted, got;
    struct profile *p;
    pfr_error err;
    const uint64_t before = reader->memory.used;
    lines_begin(&wanted);
    lines_begin(&got);
    oracle_lines(&wanted, reader, chains);
    ASSERT_OK(pfr_rewind(reader, &err), err);
    ASSERT_OK(profile_load(&p, reader, &request, &err), err);
    profile_lines(&got, p);
    profile_close(p);
    assert_int_equal(reader->memory.used, before);
    lines_sort(&wanted);
    lines_sort(&got);
    for (size_t i = 0; i < wanted.count && i < got.count; i++)
        assert_string_equal(got.at[i], wanted.at[i]);
    assert_int_equal(got.count, wanted.count);
    lines_free(&wanted);
    lines_free(&got);
}

#endif
