/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_STORE_STORE_PUSH_H
#define PFR_STORE_STORE_PUSH_H
/* State of a push: see store_push.c. */
#include "model/profile/result/profile.h"
#include "store/store_parts.h"

struct push_row {
    uint64_t time, event, comm, stack, leaf, n, weight; /* `leaf` is the innermost frame of the stack */
};

struct push {
    struct pfr_store *store;
    pfr_reader *reader;
    struct memory *memory; /* the reader's */
    const pfr_push_options *options;
    struct store_upload upload;
    struct profile *profile;
    struct store_columns columns[STORE_TABLES]; /* open during the push */
    struct u64_map sent;                        /* hashes of the dictionary rows that were sent */
    uint64_t *frame_of;                         /* hash of each frame of the profile; 0: not sent yet */
    uint64_t *chain;                            /* room for one call chain */
    size_t frames, chain_room;
    struct push_row *rows;
    size_t nr_rows, rows_room;
    bool is_trace;
    int64_t ahead; /* wall clock minus recorded clock */
};

/* --- store_push_next.c */

/* Completes the current row. */
pfr_status push_next(struct push *p, enum store_table_number table, pfr_error *err);
/* Sets *is_new if this push has not sent the dictionary row of this hash yet. */
pfr_status push_is_new(struct push *p, uint64_t hash, bool *is_new, pfr_error *err);

/* --- store_push_rows.c */

/* A function, or an unnamed address. */
struct push_frame {
    uint32_t object; /* number in the profile's state, or NO_OBJECT */
    const void *name;
    size_t length; /* length of the name; 0 and `named` false: an address */
    uint64_t address, ip, size;
    uint8_t mode;
    bool named, inlined;
};
/* Sends the frame and its object, if they are new. */
pfr_status push_frame(struct push *p, const struct push_frame *frame, uint64_t *hash, pfr_error *err);
/* Makes p->rows from the profile, and sends the dictionary rows to which they refer. */
pfr_status push_collect(struct push *p, pfr_error *err);
/* Sorts rows by key and merges rows with equal keys. Returns false if a sum does not fit into 64 bits. */
bool push_join_rows(struct push *p);
pfr_status push_rows(struct push *p, pfr_error *err);

/* --- store_push_sums.c: replaces p->rows with their sums by day and function, and sends the sums. */
pfr_status push_sums(struct push *p, pfr_error *err);

/* --- store_push_calls.c */
pfr_status push_calls(struct push *p, pfr_error *err);

/* --- store_content.c: gets XXH3-128 of the bytes of a recording, as 32 digits in `text`. *id is its first 64 bits,
   never 0. */
pfr_status store_content(pfr_reader *reader, char text[33], uint64_t *id, pfr_error *err);

#endif
