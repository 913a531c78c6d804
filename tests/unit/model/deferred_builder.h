/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_DEFERRED_BUILDER_H
#define PFR_TESTS_DEFERRED_BUILDER_H
/*
 * Builds recordings with deferred callchains: samples have the kernel part of the chain and a cookie, and separate
 * records have the user part. In either byte order, as files and as streams:
 *
 *     struct record_builder s;
 *     begin_deferred(&s, (struct form){.big = true});
 *     add_deferred_sample(&s, 7, 10, 0x5);         tid, time, cookie
 *     add_deferred_chain(&s, 7, 20, 0x5, 0x1010);  the only user address
 *     end_deferred(&s, (struct form){.big = true});
 *
 * All chains have one kernel address, KERNEL_AT. add_program must map the program of each thread (pid = tid).
 */
#include "state_builder.h"

#include <zstd.h>

struct form {
    bool big, stream, packed; /* compressed: all records except those about events are in COMPRESSED records */
};

#define MARKER_KERNEL ((uint64_t)-128)
#define MARKER_USER ((uint64_t)-512)
#define MARKER_DEFERRED ((uint64_t)-640)
enum { ROUND_ENDS = 68, DEFERRED_REST = 22, DEFER_CHAIN = 38, WITH_CHAINS = 1 << 5, KERNEL_AT = 0x900010 };
enum { PROGRAM_AT = 0x1000, PROGRAM_SIZE = 0x1000, PACKED = 81, PIECE = 1000 };

static inline void begin_deferred(struct record_builder *s, struct form form) {
    *s = (struct record_builder){.form = TIMED, .b = {.big = form.big}};
    if (form.stream)
        begin_pipe(&s->b, 1);
    else
        begin_file(&s->b, &(struct plan){.header_size = 104, .events = 1});
    uint8_t *attr = s->b.bytes + (form.stream ? 16 + 8 : 104 + 8);
    const unsigned flags[] = {ID_ALL_FLAG, DEFER_CHAIN};
    uint64_t word = 0;
    for (size_t i = 0; i < 2; i++)
        word |= form.big ? 1ull << (63 - flags[i]) : 1ull << flags[i];
    set_number(&s->b, attr + 24, SAMPLE_BITS | WITH_CHAINS, 8);
    set_number(&s->b, attr + 40, word, 8);
    add_mmap(s, KERNEL_MODE, UINT32_MAX, 0, KERNEL_AT - 0x10, 0x1000, "[kernel.kallsyms]_text", 1);
}

static inline void add_program(struct record_builder *s, uint32_t tid, const char *path) {
    add_mmap(s, USER_MODE, tid, tid, PROGRAM_AT, PROGRAM_SIZE, path, 2);
}

static inline void add_deferred_sample(struct record_builder *s, uint32_t tid, uint64_t time, uint64_t cookie) {
    put_head(&s->b, 9, KERNEL_MODE, 32 + 8 + 4 * 8);
    put_number(&s->b, KERNEL_AT, 8);
    put_number(&s->b, tid, 4);
    put_number(&s->b, tid, 4);
    put_number(&s->b, time, 8);
    put_number(&s->b, 4, 8);
    put_number(&s->b, MARKER_KERNEL, 8);
    put_number(&s->b, KERNEL_AT, 8);
    put_number(&s->b, MARKER_DEFERRED, 8);
    put_number(&s->b, cookie, 8);
}

static inline void add_deferred_chain_of(struct record_builder *s, uint32_t tid, uint64_t time, uint64_t cookie,
                                         const uint64_t *words, size_t count) {
    put_head(&s->b, DEFERRED_REST, USER_MODE, 8 + 16 + 8 * count + 16);
    put_number(&s->b, cookie, 8);
    put_number(&s->b, count, 8);
    for (size_t i = 0; i < count; i++)
        put_number(&s->b, words[i], 8);
    add_sample_id(s, tid, tid, time);
}

static inline void add_deferred_chain(struct record_builder *s, uint32_t tid, uint64_t time, uint64_t cookie,
                                      uint64_t address) {
    add_deferred_chain_of(s, tid, time, cookie, (const uint64_t[]){MARKER_USER, address}, 2);
}

/* Thread 7 ends before the first of its chains comes; the second chain never comes. */
static inline void add_thread_that_ends(struct record_builder *s) {
    add_program(s, 7, "/p");
    add_deferred_sample(s, 7, 10, 0x50);
    add_deferred_sample(s, 7, 11, 0x52);
    add_exit(s, 7, 7, 12);
    add_deferred_chain(s, 7, 13, 0x50, 0x1010);
}

/* Adds a new thread with the tid 7, which runs another program. */
static inline void add_begun_again(struct record_builder *s) {
    add_fork(s, BARE, 7, 1, 7, 1, 20);
    add_mmap(s, USER_MODE, 7, 7, PROGRAM_AT, PROGRAM_SIZE, "/q", 21);
}

/* One zstd stream through all COMPRESSED records; inner records cross their boundaries. */
static inline void pack_records(struct record_builder *s, size_t from) {
    struct builder plain = {.big = s->b.big};
    ZSTD_CCtx *z = ZSTD_createCCtx();
    put_bytes(&plain, s->b.bytes + from, s->b.length - from);
    s->b.length = from;
    for (size_t at = 0; at < plain.length; at += PIECE) {
        uint8_t out[2 * PIECE];
        ZSTD_inBuffer in = {plain.bytes + at, plain.length - at < PIECE ? plain.length - at : PIECE, 0};
        ZSTD_outBuffer to = {out, sizeof out, 0};
        assert_int_equal(ZSTD_compressStream2(z, &to, &in, ZSTD_e_flush), 0);
        put_head(&s->b, PACKED, 0, 8 + to.pos);
        put_bytes(&s->b, out, to.pos);
    }
    ZSTD_freeCCtx(z);
    free(plain.bytes);
}

static inline void end_deferred(struct record_builder *s, struct form form) {
    if (form.packed)
        pack_records(s, form.stream ? 16 + 8 + BUILT_ATTR + 8 : s->b.data);
    if (!form.stream)
        end_file(&s->b);
}

#endif
