/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_DEFERRED_H
#define PFR_MODEL_DEFERRED_H
/*
 * User parts of call chains that were recorded later: the chain of a sample ends in a marker and a cookie
 * (attr.defer_callchain). A CALLCHAIN_DEFERRED record of the same thread with that cookie has the missing part, for all
 * samples with the cookie.
 *
 *    deferred_init(&d, memory);
 *    deferred_add(&d, reader, &rec, key, &err);          each CALLCHAIN_DEFERRED, in any order
 *    if (deferred_split(&chain, &cookie) && deferred_find(&d, tid, cookie, &key, &rest))
 *        use(&chain, &rest);
 *
 * A sample gets the first matching chain whose key is later than the key of the sample. Equal chains are stored once.
 * The table has a memory limit of its own: chains over the limit are counted in `dropped`, and their samples lack the
 * user part.
 */
#include "base/tables/intern.h"
#include "model/state/record_key.h"

#include <perfray/reader.h>

struct deferred_chain {
    struct record_key key;
    uint32_t stack, next; /* next: index in the table; NO_DEFERRED: end of the list */
    bool used;            /* a sample used it; any thread may set this */
};
#define NO_DEFERRED UINT32_MAX
#define DEFERRED_EQUAL 16u /* maximum chains kept for one thread and cookie */

struct deferred_table {
    struct intern_table keys;   /* thread and cookie -> index of a list */
    struct intern_table stacks; /* entries of chains, as recorded */
    struct deferred_chain *at;
    uint32_t *lists; /* the first chain of each list; lists are sorted by key */
    size_t count, room, nr_lists, lists_room;
};

struct deferred_chains {
    struct memory memory; /* share of the memory given to deferred_init */
    struct deferred_table table;
    bool swap;         /* the recording's byte order differs from this machine's */
    bool any_order;    /* keys have no times: if no chain follows a sample, the last chain before the sample is used */
    size_t passed;     /* number of chains of a stream that no later sample needs */
    uint64_t dropped;  /* chains left out for lack of memory */
    uint64_t repeated; /* chains left out because of DEFERRED_EQUAL */
};

void deferred_init(struct deferred_chains *d, struct memory *memory);
void deferred_free(struct deferred_chains *d);

/* Fails only for lack of memory. */
pfr_status deferred_add(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                        struct record_key key, pfr_error *err);
/* Call it when all samples before a CALLCHAIN_DEFERRED were handled: the chain of this record may be freed. Fails only
   for lack of memory. */
pfr_status deferred_pass(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                         struct record_key key, pfr_error *err);

/* Removes marker and cookie from the end of a chain. false: the chain is complete. */
bool deferred_split(pfr_u64s *chain, uint64_t *cookie);
/* Finds the chain of a sample by tid, cookie and key. Any thread may call it. false: there is no chain for this
   sample. */
bool deferred_find(const struct deferred_chains *d, uint32_t tid, uint64_t cookie, const struct record_key *key,
                   pfr_u64s *rest);
/* Reports chains left out because of DEFERRED_EQUAL. `all_asked`: all samples asked for their chains. Then also reports
   chains that no sample used: their samples were lost, or were taken before the recording began. */
void deferred_note(const struct deferred_chains *d, bool all_asked, void (*note)(void *context, const char *sentence),
                   void *context);
/* Fills *hole if chains were left out for lack of memory. */
bool deferred_met_limit(const struct deferred_chains *d, pfr_error *hole);

#endif
