/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Call chains that were recorded later: see deferred.h. A thread never uses a cookie twice, so the list for a thread
 * and cookie has one chain, or a few equal ones if several events record the chain. Recorders make no longer lists; a
 * longer list is cut, which keeps every search short.
 */
#include "model/state/deferred.h"

#include "base/memory/fail.h"
#include "file/read/recording.h"
#include "model/state/threads.h"

#include <inttypes.h>
#include <stdio.h>

#define DEFERRED_MARKER ((uint64_t)-640) /* PERF_CONTEXT_USER_DEFERRED of linux/perf_event.h */
#define MEMORY_SHARE 4u                  /* 1 / MEMORY_SHARE of the memory left is for deferred chains */
#define PASSED_MOST 1024u /* the table is rebuilt if more chains, and more than half of all, are unused */
#define CHAINS_MOST (UINT32_MAX - 1)

/* Key of a list. It is hashed as bytes, so there is no padding. */
struct deferred_key {
    uint64_t cookie;
    uint32_t tid, zero;
};

static void table_init(struct deferred_table *t, struct memory *memory) {
    *t = (struct deferred_table){.count = 0};
    intern_init(&t->keys, memory);
    intern_init(&t->stacks, memory);
}

static void table_free(struct deferred_table *t, struct memory *memory) {
    mem_free(memory, t->at, t->room, sizeof *t->at);
    mem_free(memory, t->lists, t->lists_room, sizeof *t->lists);
    intern_free(&t->keys);
    intern_free(&t->stacks);
    table_init(t, memory);
}

void deferred_init(struct deferred_chains *d, struct memory *memory) {
    *d = (struct deferred_chains){.swap = false};
    memory_share(&d->memory, memory);
    d->memory.limit = (memory->limit - memory->used) / MEMORY_SHARE;
    table_init(&d->table, &d->memory);
}

void deferred_free(struct deferred_chains *d) {
    table_free(&d->table, &d->memory);
}

/* --- Adding. */

static pfr_status make_room(struct deferred_table *t, struct memory *memory, pfr_error *err) {
    if (t->count >= CHAINS_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "deferred chains", "more than 2^32 of them");
    if (t->count == t->room) {
        void *more = mem_grow(memory, t->at, t->count, &t->room, 64, sizeof *t->at);
        if (!more)
            return mem_fail(memory, err, "deferred chains");
        t->at = more;
    }
    if (t->nr_lists == t->lists_room) {
        void *more = mem_grow(memory, t->lists, t->nr_lists, &t->lists_room, 64, sizeof *t->lists);
        if (!more)
            return mem_fail(memory, err, "deferred chains");
        t->lists = more;
    }
    return PFR_OK;
}

/* The link at which to insert a chain with this key; NULL: the list is full. */
static uint32_t *find_link(struct deferred_table *t, uint32_t list, const struct record_key *key) {
    uint32_t *link = &t->lists[list], *found = NULL, count = 0;
    for (; *link != NO_DEFERRED; link = &t->at[*link].next, count++)
        if (!found && key_before(key, &t->at[*link].key))
            found = link;
    return count >= DEFERRED_EQUAL ? NULL : found ? found : link;
}

/* Adds a chain. If memory runs out, its list may remain empty. */
static pfr_status put(struct deferred_table *t, struct memory *memory, const struct deferred_key *of,
                      const struct deferred_chain *chain, const pfr_u64s *words, bool *is_put, pfr_error *err) {
    struct deferred_chain one = *chain;
    uint32_t list;
    PFR_TRY(make_room(t, memory, err));
    PFR_TRY(intern_put(&t->keys, of, sizeof *of, &list, err));
    if (list == t->nr_lists)
        t->lists[t->nr_lists++] = NO_DEFERRED;
    uint32_t *const link = find_link(t, list, &one.key);
    *is_put = link;
    if (!link)
        return PFR_OK;
    PFR_TRY(intern_put(&t->stacks, words->count ? (const void *)words->at : "", words->count * 8, &one.stack, err));
    one.next = *link;
    *link = (uint32_t)t->count;
    t->at[t->count++] = one;
    return PFR_OK;
}

static pfr_u64s words_of(const struct deferred_chains *d, uint32_t stack) {
    const struct intern_text bytes = intern_get(&d->table.stacks, stack);
    return (pfr_u64s){.at = bytes.bytes, .count = bytes.length / 8, .swap = d->swap};
}

/* Reads thread, cookie and chain of a record. false: the record cannot be decoded, which the reader reports. */
static bool describe(const pfr_reader *reader, const pfr_record *rec, struct deferred_key *of, pfr_u64s *words) {
    struct pfr_rec_callchain_deferred body;
    struct pfr_rec_sample_id id = {0};
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return false;
    const pfr_event *event = rec->event < 0 ? NULL : pfr_get_event(reader, (uint32_t)rec->event);
    const bool has_tid = event && (event->attr.sample_type & PFR_SAMPLE_TID) && pfr_decode_id(rec, &id, NULL) == PFR_OK;
    *of = (struct deferred_key){.cookie = body.cookie, .tid = has_tid ? id.tid : NOBODY};
    *words = body.ips;
    return true;
}

pfr_status deferred_add(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                        struct record_key key, pfr_error *err) {
    const struct deferred_chain chain = {.key = key};
    struct deferred_key of;
    pfr_u64s words;
    bool is_put;
    if (!describe(reader, rec, &of, &words))
        return PFR_OK;
    d->swap = words.swap;
    const pfr_status st = put(&d->table, &d->memory, &of, &chain, &words, &is_put, err);
    d->dropped += st == PFR_ERR_LIMIT;
    d->repeated += st >= 0 && !is_put;
    return st == PFR_ERR_LIMIT ? PFR_OK : st;
}

/* --- Chains no longer needed. */

static bool is_same(const struct record_key *a, const struct record_key *b) {
    return !key_before(a, b) && !key_before(b, a);
}

/* Removes a chain from its list; its slot stays in use until the table is rebuilt. false: there is no such chain. */
static bool unlink_chain(struct deferred_table *t, const struct deferred_key *of, const struct record_key *key) {
    const uint32_t list = intern_find(&t->keys, of, sizeof *of);
    if (list == INTERN_NONE)
        return false;
    for (uint32_t *link = &t->lists[list]; *link != NO_DEFERRED; link = &t->at[*link].next)
        if (is_same(&t->at[*link].key, key)) {
            *link = t->at[*link].next;
            return true;
        }
    return false;
}

static pfr_status copy_list(const struct deferred_chains *d, struct deferred_table *to, uint32_t list, pfr_error *err) {
    struct deferred_key of;
    bool is_put;
    memcpy(&of, intern_get(&d->table.keys, list).bytes, sizeof of);
    for (uint32_t i = d->table.lists[list]; i != NO_DEFERRED; i = d->table.at[i].next) {
        const pfr_u64s words = words_of(d, d->table.at[i].stack);
        PFR_TRY(put(to, to->keys.memory, &of, &d->table.at[i], &words, &is_put, err));
    }
    return PFR_OK;
}

/* Rebuilds the table with the chains still needed. If there is no memory for two tables, a later call tries again. */
static pfr_status make_anew(struct deferred_chains *d, pfr_error *err) {
    struct deferred_table fresh;
    pfr_status st = PFR_OK;
    table_init(&fresh, &d->memory);
    for (size_t i = 0; st >= 0 && i < d->table.nr_lists; i++)
        st = copy_list(d, &fresh, (uint32_t)i, err);
    d->passed = 0;
    if (st < 0) {
        table_free(&fresh, &d->memory);
        return st == PFR_ERR_LIMIT ? PFR_OK : st;
    }
    table_free(&d->table, &d->memory);
    d->table = fresh;
    return PFR_OK;
}

pfr_status deferred_pass(struct deferred_chains *d, const pfr_reader *reader, const pfr_record *rec,
                         struct record_key key, pfr_error *err) {
    struct deferred_key of;
    pfr_u64s words;
    if (!describe(reader, rec, &of, &words))
        return PFR_OK;
    d->passed += unlink_chain(&d->table, &of, &key);
    return d->passed > PASSED_MOST && d->passed > d->table.count / 2 ? make_anew(d, err) : PFR_OK;
}

/* --- Lookup. */

bool deferred_split(pfr_u64s *chain, uint64_t *cookie) {
    if (chain->count < 2 || pfr_u64s_at(chain, chain->count - 2) != DEFERRED_MARKER)
        return false;
    *cookie = pfr_u64s_at(chain, chain->count - 1);
    chain->count -= 2;
    return true;
}

bool deferred_find(const struct deferred_chains *d, uint32_t tid, uint64_t cookie, const struct record_key *key,
                   pfr_u64s *rest) {
    const struct deferred_table *t = &d->table;
    const struct deferred_key of = {.cookie = cookie, .tid = tid};
    const uint32_t list = intern_find(&t->keys, &of, sizeof of);
    uint32_t found = NO_DEFERRED;
    for (uint32_t i = list == INTERN_NONE ? NO_DEFERRED : t->lists[list]; i != NO_DEFERRED; i = t->at[i].next) {
        const bool is_behind = key_before(key, &t->at[i].key);
        if (is_behind || d->any_order)
            found = i;
        if (is_behind)
            break;
    }
    if (found == NO_DEFERRED)
        return false;
    __atomic_store_n(&t->at[found].used, true, __ATOMIC_RELAXED);
    *rest = words_of(d, t->at[found].stack);
    return true;
}

/* --- Reports. */

static bool is_asked_for(const struct deferred_table *t, size_t list) {
    for (uint32_t i = t->lists[list]; i != NO_DEFERRED; i = t->at[i].next)
        if (t->at[i].used)
            return true;
    return t->lists[list] == NO_DEFERRED;
}

static void note_count(uint64_t count, const char *one, const char *several, void (*note)(void *, const char *),
                       void *context) {
    char text[160];
    snprintf(text, sizeof text, "%" PRIu64 " %s", count, count == 1 ? one : several);
    if (count)
        note(context, text);
}

void deferred_note(const struct deferred_chains *d, bool all_asked, void (*note)(void *context, const char *sentence),
                   void *context) {
    uint64_t unused = 0;
    if (!note)
        return;
    for (size_t i = 0; all_asked && i < d->table.nr_lists; i++)
        unused += !is_asked_for(&d->table, i);
    note_count(unused, "deferred call chain belongs to no sample that was recorded",
               "deferred call chains belong to no sample that was recorded", note, context);
    note_count(d->repeated, "deferred call chain is left out: its thread and cookie occur too often",
               "deferred call chains are left out: their threads and cookies occur too often", note, context);
}

bool deferred_met_limit(const struct deferred_chains *d, pfr_error *hole) {
    if (d->dropped)
        pfr_fail(hole, PFR_HOLE, PFR_NO_OFFSET, 0, "memory",
                 "%" PRIu64 " deferred call chain%s not fit, and samples miss %s (limit memory)", d->dropped,
                 d->dropped == 1 ? " did" : "s did", d->dropped == 1 ? "it" : "them");
    return d->dropped;
}
