/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts equal samples in one entry; a new entry is resolved to its node in the tree. Samples are processed in batches,
 * in three steps: make the key words and their hashes, prefetch the slots and entries, count. The cache misses of a
 * batch therefore overlap.
 */
#include "model/profile/count/profile_cache.h"
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_entries.h"
#include "model/profile/count/profile_entry_key.h"
#include "model/profile/count/profile_fast_path.h"
#include "model/profile/count/profile_known.h"
#include "model/profile/count/profile_new_entries.h"
#include "model/profile/count/profile_pick.h"
#include "model/profile/count/profile_reads.h"
#include "model/profile/count/profile_stacks.h"
#include "model/profile/count/profile_values.h"
#include "model/profile/count/profile_waits.h"
#include "model/profile/count/profile_whole_stacks.h"

#include "file/read/header_walk.h"
#include "file/read/next.h"
#include "model/tracepoint/tracepoint_text.h"

#include "base/tables/hash_seed.h"
#include "base/memory/sizes.h"
#include "wire/record_bits.h"

#define READ_GROUP (1ull << 3)

struct sample_batch {
    struct sample_item items[BATCH];
    unsigned count;
    struct profile_row rows[BATCH]; /* of all samples since the last batch, for request.each */
    unsigned nr_rows;
};

/* Makes room for the chains of a batch that are built instead of taken as recorded. */
static pfr_status make_chain_room(struct sample_counter *c, pfr_error *err) {
    bool any = false, deferred = false, of_calls = false;
    for (uint32_t i = 0; i < c->profile->nr_events; i++) {
        any = any || c->places[i].makes;
        deferred = deferred || (c->places[i].makes && chain_is_deferred(pfr_get_event(c->profile->reader, i)));
        of_calls = of_calls || (c->places[i].makes && chain_has_calls(pfr_get_event(c->profile->reader, i)));
    }
    c->chains.made_most = deferred && c->profile->request.from_outermost ? CHAIN_MADE_MOST : profile_max_stack(c);
    c->chains.made_words = chain_made_words(c->chains.made_most, of_calls);
    c->chains.made = any ? mem_alloc(c->memory, BATCH * c->chains.made_words, sizeof *c->chains.made) : NULL;
    return c->chains.made || !any ? PFR_OK : mem_fail(c->memory, err, "profile");
}

#define DIGESTS_SHARE 32u /* the cache takes at most this fraction of the memory left */

/* Only if two words identify a sample without a chain. The cache only saves time, so a small memory goes without. */
static pfr_status make_digests(struct sample_counter *c, pfr_error *err) {
    if (!c->keys.by_digest || c->keys.words != 4 ||
        !memory_has(c->memory, (uint64_t)DIGESTS_SHARE * DIGESTS * sizeof *c->digests))
        return PFR_OK;
    c->digests = mem_zeroed(c->memory, DIGESTS, sizeof *c->digests);
    return c->digests ? PFR_OK : mem_fail(c->memory, err, "profile");
}

pfr_status counter_init(struct sample_counter *c, struct frames_of *frames, pfr_reader *reader,
                        struct pick_places *places, struct common *common, struct memory *memory, pfr_error *err) {
    struct profile *p = frames->profile;
    const struct profile_request *w = &p->request;
    *c = (struct sample_counter){.profile = p, .memory = memory, .reader = reader, .places = places};
    intern_init(&c->whos, memory);
    intern_init(&c->texts, memory);
    frame_cache_init(&c->cache, frames, memory);
    profile_stacks_init(&c->stacks, memory);
    profile_tree_init(&c->own_tree, p, memory);
    c->tree = common ? &common->tree : &c->own_tree;
    whole_init(&c->whole, memory);
    u64_map_init(&c->before, memory);
    u64_map_init(&c->individual_samples.of, memory);
    c->keys.words = 1 + request_has_frames(w) + (unsigned)__builtin_popcount(w->keys & ~KEYS_APART) +
                    (request_has_chains(w) ? 2 : 0);
    for (uint32_t keys = w->keys; keys; keys &= keys - 1)
        c->keys.has_places |= profile_kind_of((enum profile_key)__builtin_ctz(keys)) == PROFILE_PLACE;
    c->keys.kernel_apart = !c->keys.has_places && !request_has_chains(w) && w->counted != PROFILE_BRANCHES;
    c->keys.plain = request_has_frames(w) && c->keys.words == 2;
    c->plainly.memory = memory;
    c->keys.by_digest = request_has_chains(w);
    c->keys.key_words = c->keys.by_digest ? 2 : c->keys.words;
    c->keys.stride = c->keys.key_words + sizeof(struct entry_count) / sizeof(uint64_t);
    if (w->shape == PROFILE_SUMS)
        PFR_TRY(sums_begin(c, err));
    PFR_TRY(counter_entries_begin(c, common ? &common->table : NULL, w->shape == PROFILE_SUMS ? &c->sums.own : memory,
                                  err));
    c->facts.limited = mem_zeroed(memory, (size_t)p->nr_events + 1, sizeof *c->facts.limited);
    c->facts.totals = mem_zeroed(memory, (size_t)p->nr_events + 1, sizeof *c->facts.totals);
    c->keys.seed = table_seed(c->table->slot_count);
    c->keys.chain_seed = hash_seed;
    chain_maker_init(&c->chains.maker, &frames->unwinding, memory);
    if (w->stitched)
        chain_maker_stitch(&c->chains.maker, branch_registers(p->reader));
    PFR_TRY(make_digests(c, err));
    c->knows = known_may(c);
    PFR_TRY(make_chain_room(c, err));
    return c->facts.limited && c->facts.totals ? PFR_OK : mem_fail(memory, err, "profile");
}

/* Frees data that only new entries need. */
void counter_end_lookups(struct sample_counter *c) {
    counter_entries_free_slots(&c->own_table);
    frame_cache_free(&c->cache);
    profile_stacks_free(&c->stacks);
    mem_free(c->memory, c->chains.made, c->chains.made ? BATCH * c->chains.made_words : 0, sizeof *c->chains.made);
    c->chains.made = NULL;
    mem_free(c->memory, c->digests, c->digests ? DIGESTS : 0, sizeof *c->digests);
    c->digests = NULL;
    u64_map_free(&c->individual_samples.of);
}

void counter_free_entries(struct sample_counter *c) {
    counter_end_lookups(c);
    counter_entries_free(&c->own_table, c->keys.stride);
    sums_free_rows(&c->sums);
}

void counter_free_individual_samples(struct sample_counter *c) {
    mem_free(c->memory, c->individual_samples.at, c->individual_samples.room, sizeof *c->individual_samples.at);
    c->individual_samples = (struct individual_samples){.of = c->individual_samples.of};
}

void counter_free(struct sample_counter *c) {
    const size_t events = (size_t)c->profile->nr_events + 1;
    counter_free_entries(c);
    counter_free_individual_samples(c);
    plain_free(c);
    mem_free(c->memory, c->facts.limited, c->facts.limited ? events : 0, sizeof *c->facts.limited);
    mem_free(c->memory, c->facts.totals, c->facts.totals ? events : 0, sizeof *c->facts.totals);
    profile_tree_free(&c->own_tree);
    whole_free(&c->whole);
    sums_free(&c->sums);
    chain_maker_free(&c->chains.maker);
    intern_free(&c->whos);
    intern_free(&c->texts);
    tracepoint_text_close(c->trace);
}

/* --- Groups. */

/* The part of an entry's first word on which the values of its group depend: the event and the name of the thread. If a
   key is a place, it is the whole word. */
static uint64_t group_word(const struct sample_counter *c, uint64_t word) {
    const struct who who = counter_who(c, word);
    const uint64_t name = who.name != NO_NAME ? who.name : (uint64_t)1 << 32 | who.tid;
    return c->keys.has_places ? word : (word >> 32) << 33 | name;
}

/* Groups are cached by their words, because most samples are in one of a few groups, and finding a group is slow. */
pfr_status counter_root(struct sample_counter *c, const uint64_t *words, uint32_t *root, uint64_t *since,
                        pfr_error *err) {
    const unsigned first = 1 + request_has_frames(&c->profile->request),
                   keys = c->keys.words - first - (request_has_chains(&c->profile->request) ? 2 : 0);
    const uint64_t word = group_word(c, words[0]);
    uint64_t h = word;
    for (unsigned i = 0; i < keys; i++)
        h = (h ^ words[first + i]) * 0x9e3779b97f4a7c15u;
    struct group_memo *memo = &c->memos[(h ^ h >> 32) % MEMOS];
    if (!memo->used || memo->word != word || !words_are_same(memo->keys, words + first, keys)) {
        memo->used = false;
        PFR_TRY(values_root(c, words, NULL, &memo->root, &memo->since, err));
        *memo = (struct group_memo){.word = word, .since = memo->since, .root = memo->root, .used = true};
        memcpy(memo->keys, words + first, keys * sizeof *words);
    }
    *root = memo->root;
    *since = memo->since;
    return PFR_OK;
}

/* Adds a row for the sample; the node of a sample that is not counted yet follows. */
static void put_row(struct sample_batch *b, struct sample_item *item) {
    const struct picked *s = &item->picked;
    item->row = b->nr_rows++;
    b->rows[item->row] = (struct profile_row){.key = s->key,
                                              .time = s->time,
                                              .weight = s->period,
                                              .period = s->grown ? s->recorded : s->period,
                                              .event = s->event,
                                              .pid = s->pid,
                                              .tid = s->tid,
                                              .cpu = s->cpu,
                                              .node = item->node,
                                              .mode = (uint8_t)s->mode,
                                              .bytes = s->bytes};
}

static pfr_status give_rows(const struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    const struct profile_each *each = c->profile->request.each;
    const unsigned count = b->nr_rows;
    if (!count)
        return PFR_OK;
    for (unsigned i = 0; i < b->count; i++)
        b->rows[b->items[i].row].node = b->items[i].node;
    b->nr_rows = 0;
    return each->rows(each->context, c->number, c->run, b->rows, count, err);
}

static void note_entries(struct sample_counter *c, const struct sample_batch *b) {
    for (unsigned i = 0; c->knows && i < b->count; i++)
        known_note(c, &b->items[i]);
}

static pfr_status commit(struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    struct waiting w = {.count = 0};
    PFR_TRY(counter_enter(c, 0, err));
    for (unsigned i = 0; i < b->count; i++)
        entry_fetch(c, b->items[i].hash);
    for (unsigned i = 0; i < b->count; i++) {
        b->items[i].alone = false;
        if (!b->items[i].limited &&
            !count_in_entry(c, &b->items[i], entry_find(c, item_key(c, &b->items[i]), b->items[i].hash, NULL)))
            w.items[w.count++] = &b->items[i];
    }
    counter_leave(c, 0);
    while (w.count > 0) {
        PFR_TRY(new_entries_add(c, &w, err));
        PFR_TRY(new_entries_place(c, &w, err));
    }
    note_entries(c, b);
    PFR_TRY(give_rows(c, b, err));
    b->count = 0;
    return PFR_OK;
}

/* --- Samples. */

static bool is_kept_when_asked(struct sample_counter *c, const struct picked *s) {
    const struct profile_request *w = &c->profile->request;
    const struct profile_sample sample = {s->event, s->pid, s->tid, s->cpu, s->time};
    if (w->keep(w->context, &sample))
        return true;
    c->facts.left_out++;
    return false;
}

static inline bool is_kept(struct sample_counter *c, const struct picked *s) {
    return !c->profile->request.keep || is_kept_when_asked(c, s);
}

/* Adds the current item, whose `picked` is filled, to the batch. */
static pfr_status push(struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    struct sample_item *item = &b->items[b->count];
    const struct picked *s = &item->picked;
    item->made = c->chains.made ? c->chains.made + b->count * c->chains.made_words : NULL;
    pfr_status st = words_make_plain(c, item) ? PFR_OK : words_make(c, item, err);
    const bool counted = st >= 0 && plain_take(c, item, counter_weight_of(c, s), &st, err);
    if (st < 0 && st != PFR_ERR_LIMIT)
        return st;
    c->facts.totals[s->event].weight =
        weights_sum(c->profile, c->facts.totals[s->event].weight, counter_weight_of(c, s));
    c->facts.totals[s->event].samples++;
    c->facts.guests += s->mode > PFR_CPUMODE_HYPERVISOR && s->mode <= PFR_CPUMODE_GUEST_USER;
    item->picked.whole = NULL;
    item->picked.branch = NULL;
    if (st < 0)
        PFR_TRY(counter_meet_limit(c, item, st));
    item->limited = st < 0;
    if (st < 0 && !c->profile->request.each)
        return PFR_OK;
    if (c->profile->request.each)
        put_row(b, item);
    b->count += !counted;
    return b->count < sizes.count_batch && b->nr_rows < sizes.count_batch ? PFR_OK : commit(c, b, err);
}

static pfr_status push_branches(struct sample_counter *c, struct sample_batch *b, const struct pfr_rec_sample *s,
                                pfr_error *err) {
    const struct picked first = b->items[b->count].picked;
    struct pfr_rec_branch_entry entry;
    if (!(c->places[first.event].sample_type & PFR_SAMPLE_BRANCH_STACK))
        return PFR_OK;
    pfr_items_iter it = pfr_items_begin(&s->branch.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        b->items[b->count].picked = first;
        b->items[b->count].picked.branch = &entry;
        PFR_TRY(push(c, b, err));
    }
    return PFR_OK;
}

/* Adds the current item, or in branch mode the branches of its sample, to the batch. */
static pfr_status push_kept(struct sample_counter *c, struct sample_batch *b, const struct pfr_rec_sample *s,
                            pfr_error *err) {
    const struct picked *picked = &b->items[b->count].picked;
    if (!is_kept(c, picked)) {
        const pfr_status st = c->places[picked->event].stitches ? words_pass(c, picked, err) : PFR_OK;
        return st == PFR_ERR_LIMIT ? PFR_OK : st;
    }
    return c->profile->request.counted == PROFILE_BRANCHES ? push_branches(c, b, s, err) : push(c, b, err);
}

static pfr_status push_read(struct sample_counter *c, struct sample_batch *b, const struct pfr_rec_sample *s,
                            const struct picked *all, const struct pfr_rec_read_entry *read, pfr_error *err) {
    struct picked one = *all;
    one.recorded = all->period;
    one.grown = true;
    PFR_TRY(reads_grown(c, read->id, read->value, &one.event, &one.period, err));
    b->items[b->count].picked = one;
    return one.period && weigh(c, &b->items[b->count].picked) ? push_kept(c, b, s, err) : PFR_OK;
}

/* Adds one item for each counter that the sample read. */
static pfr_status push_reads(struct sample_counter *c, struct sample_batch *b, const struct pfr_rec_sample *s,
                             pfr_error *err) {
    const struct picked all = b->items[b->count].picked;
    const struct pfr_rec_read_value *read = &s->read;
    struct pfr_rec_read_entry entry = {.value = read->value, .id = read->id};
    if (!(pfr_get_event(c->profile->reader, all.event)->attr.read_format & READ_GROUP))
        return push_read(c, b, s, &all, &entry, err);
    pfr_items_iter it = pfr_items_begin(&read->values);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        PFR_TRY(push_read(c, b, s, &all, &entry, err));
    return PFR_OK;
}

static void report_hole(struct sample_counter *c, const pfr_error *hole) {
    const struct profile_request *w = &c->profile->request;
    c->facts.lossy = true;
    if (w->hole)
        w->hole(w->context, hole);
}

/* Whether records other than samples are passed on. Then these are scheduler events, which alternate, so that runs of
   samples of one event are short. */
static inline bool has_others(const struct sample_counter *c) {
    return c->profile->request.each && c->profile->request.each->other;
}

/* Passes on a record that is not a sample, or a hole, after all samples before it. */
static pfr_status give_other(struct sample_counter *c, struct sample_batch *b, const pfr_record *rec,
                             const pfr_error *hole, pfr_error *err) {
    const struct profile_each *each = c->profile->request.each;
    if (!has_others(c))
        return PFR_OK;
    PFR_TRY(commit(c, b, err));
    return each->other(each->context, rec, hole, err);
}

/* A hole between records. */
static pfr_status take_hole(struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    const pfr_error hole = *err;
    report_hole(c, &hole);
    return give_other(c, b, NULL, &hole, err);
}

static pfr_status take_decoded(struct sample_counter *c, struct sample_batch *b, const pfr_record *rec,
                               pfr_error *err) {
    struct picked *s = &b->items[b->count].picked;
    struct pfr_rec_sample sample;
    pfr_error why;
    if (pfr_decode(rec, &sample, sizeof sample, &why) != PFR_OK) {
        report_hole(c, &why);
        return PFR_OK;
    }
    *s = (struct picked){.event = (uint32_t)rec->event, .mode = rec->misc & PFR_CPUMODE_MASK, .bytes = rec->bytes};
    pick_decoded(&c->places[rec->event], &sample, s);
    pick_key(&c->profile->state, s, (uint64_t)rec->part << 48 | rec->offset, rec->inner);
    if (c->places[rec->event].reads && !c->profile->reader->waits)
        return push_reads(c, b, &sample, err);
    return weigh(c, s) ? push_kept(c, b, &sample, err) : PFR_OK;
}

static pfr_status take_fixed(struct sample_counter *c, struct sample_batch *b, uint32_t event, const uint8_t *bytes,
                             uint64_t place, uint64_t inner, pfr_error *err) {
    const bool swap = c->reader->context.swap;
    if (c->knows && known_take(c, event, bytes, place, inner, &b->rows[b->nr_rows]))
        return ++b->nr_rows < sizes.count_batch ? PFR_OK : commit(c, b, err);
    struct picked *s = &b->items[b->count].picked;
    s->event = event;
    s->bytes = bytes;
    s->mode = cpumode_at(bytes, swap);
    pick_fixed(&c->places[event], bytes, swap, s);
    pick_key(&c->profile->state, s, place, inner);
    return weigh(c, s) && is_kept(c, s) ? push(c, b, err) : PFR_OK;
}

static pfr_status take_record(struct sample_counter *c, struct sample_batch *b, const pfr_record *rec, pfr_error *err) {
    if (rec->event < 0)
        return PFR_OK;
    if (!pick_is_plain(c->reader, &c->places[rec->event], rec))
        return take_decoded(c, b, rec, err);
    return take_fixed(c, b, (uint32_t)rec->event, rec->bytes, (uint64_t)rec->part << 48 | rec->offset, rec->inner, err);
}

/* Takes the samples of a run. The batch points to their bytes in the read buffer until it is committed. */
static pfr_status take_run(struct sample_counter *c, struct sample_batch *b, const struct plain_run *run, bool plain,
                           pfr_error *err) {
    struct plain_left left;
    if (plain)
        PFR_TRY(plain_count(c, run, &left, err));
    const uint32_t count = plain ? left.count : run->count;
    for (uint32_t i = 0; i < count; i++) {
        const uint8_t *bytes = run->at[plain ? left.at[i] : i];
        PFR_TRY(take_fixed(c, b, run->event, bytes, run->place + (uint64_t)(bytes - run->at[0]), 0, err));
    }
    return PFR_OK;
}

/* Takes the samples of the same event that follow in the read buffer, without a pfr_next for each. */
static pfr_status take_followers(struct sample_counter *c, struct sample_batch *b, const pfr_record *rec,
                                 pfr_error *err) {
    const uint8_t *at[BATCH];
    struct plain_run some = {.at = at, .event = (uint32_t)rec->event};
    const bool plain = plain_may(c, some.event);
    uint64_t from;
    while ((some.count = walk_collect(c->reader, rec->event, at, (uint32_t)sizes.count_batch, &from)) > 0) {
        some.place = (uint64_t)rec->part << 48 | from;
        PFR_TRY(take_run(c, b, &some, plain, err));
    }
    return PFR_OK;
}

static pfr_status take_sample(struct sample_counter *c, struct sample_batch *b, const pfr_record *rec, pfr_error *err) {
    if (rec->type != PFR_RECORD_SAMPLE)
        return give_other(c, b, rec, NULL, err);
    if (rec->event < 0)
        return PFR_OK;
    PFR_TRY(take_record(c, b, rec, err));
    if (c->places[rec->event].fixed && !rec->inside && !c->timeline && !has_others(c))
        return take_followers(c, b, rec, err);
    return PFR_OK;
}

/* Takes the samples of other events that follow in the read buffer, so that they are in the same batch: events of a
   recording often alternate. */
static pfr_status take_at_hand(struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    pfr_record rec;
    pfr_status st;
    if (c->timeline || c->reader->kind || c->reader->limits.records != UINT64_MAX)
        return PFR_OK;
    while ((st = next_at_hand(c->reader, &rec, err)) >= 0 && st != PFR_END)
        PFR_TRY(st == PFR_HOLE ? take_hole(c, b, err) : take_sample(c, b, &rec, err));
    return st < 0 ? st : PFR_OK;
}

static pfr_status run(struct sample_counter *c, struct sample_batch *b, pfr_error *error) {
    pfr_error own, *err = error ? error : &own;
    pfr_record rec;
    pfr_status st;
    while ((st = c->timeline ? order_next(c, &rec, err) : pfr_next(c->reader, &rec, err)) >= 0 && st != PFR_END) {
        if (st == PFR_HOLE) {
            PFR_TRY(take_hole(c, b, err));
            continue;
        }
        PFR_TRY(take_sample(c, b, &rec, err));
        PFR_TRY(take_at_hand(c, b, err));
        PFR_TRY(commit(c, b, err)); /* the next read may move the bytes of the read buffer */
    }
    return st < 0 ? st : PFR_OK;
}

/* Counts waits that have no sample. Only the first run of all counters does so. */
static pfr_status run_unsampled(struct sample_counter *c, struct sample_batch *b, pfr_error *err) {
    struct unsampled_waits all;
    pfr_status st = unsampled_begin(&all, c, err);
    while (st >= 0 && unsampled_next(&all, &b->items[b->count].picked)) {
        st = push_kept(c, b, NULL, err);
        if (st >= 0)
            st = commit(c, b, err);
    }
    unsampled_end(&all);
    return st;
}

pfr_status counter_run(struct sample_counter *c, pfr_error *err) {
    struct sample_batch *b = mem_zeroed(c->memory, 1, sizeof *b); /* too large for the stack */
    if (!b)
        return mem_fail(c->memory, err, "profile");
    pfr_status st = order_begin(c, err);
    if (st >= 0)
        st = run(c, b, err);
    if (st >= 0 && c->profile->reader->waits && c->run == 0)
        st = run_unsampled(c, b, err);
    order_end(c);
    mem_free(c->memory, b, 1, sizeof *b);
    return st;
}
