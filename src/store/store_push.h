/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_PUSH_H
#define PFR_STORE_STORE_PUSH_H
/* A push on its way: see store_push.c. */
#include "model/profile/result/profile.h"
#include "store/store_parts.h"

struct push_row {
    uint64_t time, event, comm, stack, leaf, n, weight; /* leaf: the innermost frame of the stack */
};

struct push {
    struct pfr_store *store;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    const pfr_push_options *options;
    struct store_upload upload;
    struct profile *profile;
    struct store_columns columns[STORE_TABLES]; /* open as long as the push is */
    struct u64_map sent;                        /* hashes of dictionaries that were sent */
    uint64_t *frame_of;                         /* by frame of the profile: its hash; 0: not sent yet */
    uint64_t *chain;                            /* room for one call chain */
    size_t frames, chain_room;
    struct push_row *rows;
    size_t nr_rows, rows_room;
    bool is_trace;
    int64_t ahead; /* of the recorded clock: the wall clock */
};

/* --- store_push_next.c */

/* The row that was put is complete. */
pfr_status push_next(struct push *p, enum store_table_number table, pfr_error *err);
/* Whether the dictionary row of this hash is new to this push. */
pfr_status push_is_new(struct push *p, uint64_t hash, bool *is_new, pfr_error *err);

/* --- store_push_rows.c */

/* A function, or an address without a name. */
struct push_frame {
    uint32_t object; /* of the profile's state; NO_OBJECT */
    const void *name;
    size_t length; /* of the name; 0 and `named` false: an address */
    uint64_t address, ip, size;
    uint8_t mode;
    bool named, inlined;
};
/* Sends it, if it is new, and its object. */
pfr_status push_frame(struct push *p, const struct push_frame *frame, uint64_t *hash, pfr_error *err);
/* Makes p->rows of the profile, and sends their dictionaries. */
pfr_status push_collect(struct push *p, pfr_error *err);
/* Rows with equal keys become one, in the order of the keys. false: a sum of them does not fit into 64 bits. */
bool push_join_rows(struct push *p);
pfr_status push_rows(struct push *p, pfr_error *err);

/* --- store_push_sums.c: the sums of p->rows by day and function, which p->rows are afterwards. */
pfr_status push_sums(struct push *p, pfr_error *err);

/* --- store_push_calls.c */
pfr_status push_calls(struct push *p, pfr_error *err);

/* --- store_content.c: XXH3-128 of the bytes of a recording, as 32 digits, and the first 64 bits of it, never 0. */
pfr_status store_content(pfr_reader *reader, char text[33], uint64_t *id, pfr_error *err);

#endif
