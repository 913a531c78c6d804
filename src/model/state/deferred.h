/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DEFERRED_H
#define PFR_MODEL_DEFERRED_H
/*
 * The program's part of call chains, where it was recorded later: the chain of a sample ends in a marker and a cookie
 * (attr.defer_callchain), and a CALLCHAIN_DEFERRED of the same thread with that cookie has the rest, for all samples
 * that wait for it.
 *
 *     deferred_init(&d, memory);
 *     deferred_add(&d, reader, &rec, key, &err);          each CALLCHAIN_DEFERRED, in any order
 *     if (deferred_split(&chain, &cookie) && deferred_find(&d, tid, cookie, &key, &rest))
 *         use(&chain, &rest);
 *
 * A sample's is the first one behind it by key. Equal chains are held once. Memory has a limit of its own: what does
 * not fit is counted in `dropped`, and its samples miss it.
 */
#include "base/tables/intern.h"
#include "model/state/record_key.h"

#include <perfray/reader.h>

struct deferred_chain {
    struct record_key key;
    uint32_t stack, next; /* in the table; NO_DEFERRED: the last of its list */
    bool used;            /* by a sample; set by any thread */
};
#define NO_DEFERRED UINT32_MAX
#define DEFERRED_EQUAL 16u /* chains of one thread and cookie that are kept */

struct deferred_table {
    struct intern_table keys;   /* thread and cookie -> a list */
    struct intern_table stacks; /* entries, as they were recorded */
    struct deferred_chain *at;
    uint32_t *lists; /* the first chain of each, by key */
    size_t count, room, nr_lists, lists_room;
};

struct deferred_chains {
    struct memory memory; /* a share */
    struct deferred_table table;
    bool swap;         /* the recording's byte order is not this machine's */
    bool any_order;    /* keys have no times: where none is behind a sample, the last before it is taken */
    size_t passed;     /* chains that nobody will ask for any more, of a stream */
    uint64_t dropped;  /* there was no memory for them */
    uint64_t repeated; /* more than DEFERRED_EQUAL */
};

void deferred_init(struct deferred_chains *d, struct memory *memory);
void deferred_free(struct deferred_chains *d);

/* Errors: no memory. */
pfr_status deferred_add(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                        struct record_key key, pfr_error *err);
/* All samples before it were seen: it is needed no more. Errors: no memory. */
pfr_status deferred_pass(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                         struct record_key key, pfr_error *err);

/* Takes marker and cookie off the end of a chain. false: it does not wait for anything. */
bool deferred_split(pfr_u64s *chain, uint64_t *cookie);
/* For any thread. false: it never came. */
bool deferred_find(const struct deferred_chains *d, uint32_t tid, uint64_t cookie, const struct record_key *key,
                   pfr_u64s *rest);
/* Tells of cookies that no sample has, when all samples asked (the sample was lost, or was before the recording), and
   of lists that were cut. */
void deferred_note(const struct deferred_chains *d, bool all_asked, void (*note)(void *context, const char *sentence),
                   void *context);
/* Fills *hole when some did not fit. */
bool deferred_met_limit(const struct deferred_chains *d, pfr_error *hole);

#endif
