/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns a sample into the words that identify its entry:
 *
 *    event << 32 | cpumode << 29 | thread identity,  address,  one word per key,  two words of the chain's hash
 *
 * A chain is represented by a 128-bit hash of its bytes. With chains, a 128-bit hash of all words is the key. For this
 * hash, the number of the thread identity is replaced by the name, tid and address space that it refers to. Workers
 * number the identities differently, but they compute the same hash.
 */
#include "model/profile/count/profile_entry_key.h"
#include "model/profile/count/profile_pick.h"
#include "model/profile/count/profile_stacks.h"
#include "model/profile/count/profile_tracepoint.h"

#include "base/io/output.h"
#include "model/tracepoint/tracepoint_text.h"

#include <xxhash.h>

/* --- Thread identities. */

static pfr_status put_who(struct sample_counter *c, const struct thread_view *view, uint32_t tid, bool in_kernel,
                          uint32_t *number, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    const bool named = w->keys & PROFILE_BIT(PROFILE_COMM);
    struct who who = {.name = NO_NAME, .space = NO_SPACE};
    if (named)
        who.name = view->name, who.tid = view->name == NO_NAME ? tid : 0;
    if (!in_kernel &&
        (request_has_frames(w) || w->counted == PROFILE_BRANCHES || (w->keys & PROFILE_BIT(PROFILE_ADDR))))
        who.space = view->space;
    PFR_TRY(intern_put(&c->whos, &who, sizeof who, number, err));
    return *number <= WHO_MOST ? PFR_OK
                               : pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "profile", "more than 2^29 threads");
}

/* Timestamp key after which neither the thread nor its maps change. */
static uint64_t settled_of(const struct sample_counter *c, const struct picked *s, const struct thread_view *view) {
    const struct state *state = &c->profile->state;
    const bool in_kernel = s->mode == PFR_CPUMODE_KERNEL;
    const uint64_t moment = state_settled(state, in_kernel ? PFR_CPUMODE_KERNEL : PFR_CPUMODE_USER, view->space);
    const uint64_t from = moment_of(state, &view->from);
    return from > moment ? from : moment;
}

/* Finds the thread identity of a sample. The recent ones are cached, because consecutive samples are often of one
   thread, and threads recur. */
static pfr_status find_who(struct sample_counter *c, const struct picked *s, uint64_t moment, uint32_t *who,
                           pfr_error *err) {
    const struct state *state = &c->profile->state;
    struct view_slot *slot = words_view(c, s);
    struct thread_view view;
    if (words_view_holds(slot, s, moment))
        return *who = slot->who, PFR_OK;
    thread_at(&state->threads, s->pid, s->tid, s->key, &view);
    PFR_TRY(put_who(c, &view, s->tid, c->keys.kernel_apart && s->mode == PFR_CPUMODE_KERNEL, who, err));
    *slot = (struct view_slot){.from = moment_of(state, &view.from),
                               .until = moment_of(state, &view.until),
                               .settled = c->keys.plain ? settled_of(c, s, &view) : 0,
                               .pid = s->pid,
                               .tid = s->tid,
                               .who = *who,
                               .used = true};
    return PFR_OK;
}

/* --- Words. */

/* The fields of a tracepoint as text, in c->texts; NO_TEXT: not a tracepoint's sample. */
static pfr_status tracepoint_value(struct sample_counter *c, const struct picked *s, uint64_t *value, pfr_error *err) {
    uint32_t id = 0;
    size_t length;
    struct output text;
    if (pfr_get_event(c->profile->reader, s->event)->attr.type != PFR_ATTR_TYPE_TRACEPOINT)
        return *value = NO_TEXT, PFR_OK;
    if (!c->trace && !c->no_trace) {
        PFR_TRY(tracepoint_text_open(&c->trace, c->profile->reader, c->memory, err));
        c->no_trace = !c->trace;
    }
    out_open_memory(&text, c->memory);
    pfr_status st = PFR_OK;
    if (c->trace && (c->places[s->event].sample_type & PFR_SAMPLE_RAW))
        st = tracepoint_parts_write(c, s, &text, err);
    const char *bytes = out_bytes(&text, &length);
    if (st >= 0 && text.status < 0)
        st = mem_fail(c->memory, err, "profile");
    if (st >= 0)
        st = intern_put(&c->texts, bytes ? bytes : "", length, &id, err);
    out_close(&text, NULL);
    *value = id;
    return st;
}

static pfr_status put_values(struct sample_counter *c, const struct picked *s, uint64_t **at, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    for (uint32_t keys = w->keys & ~KEYS_APART; keys; keys &= keys - 1) {
        const enum profile_key key = (enum profile_key)__builtin_ctz(keys);
        **at = pick_value(w, &c->places[s->event], s, key);
        if (key == PROFILE_TRACE)
            PFR_TRY(tracepoint_value(c, s, *at, err));
        ++*at;
    }
    return PFR_OK;
}

static void put_chain(const struct sample_counter *c, const struct picked *s, uint64_t *at) {
    at[0] = at[1] = 0;
    if (s->chain.count) {
        const XXH128_hash_t h = XXH3_128bits_withSeed(s->chain.at, s->chain.count * 8, c->keys.chain_seed);
        at[0] = h.low64;
        at[1] = h.high64;
    }
}

static struct chain_place chain_place_of(const struct sample_counter *c, const struct picked *s, uint32_t who) {
    return (struct chain_place){.event = s->event,
                                .space = counter_who(c, who).space,
                                .tid = s->tid,
                                .key = s->key,
                                .swap = c->reader->context.swap};
}

/* Builds the chain; s->chain then includes the parts that were recorded separately. */
static pfr_status make_chain(struct sample_counter *c, struct sample_item *item, uint32_t who, pfr_error *err) {
    struct picked *s = &item->picked;
    const struct chain_place place = chain_place_of(c, s, who);
    const pfr_event *event = pfr_get_event(c->profile->reader, s->event);
    s->made = true;
    s->uncut = chain_has_calls(event);
    return chain_make(&c->chains.maker, event, s->whole, &place,
                      chain_is_deferred(event) ? c->chains.made_most : profile_max_stack(c), item->made, &s->chain,
                      err);
}

static void make_digest(const struct sample_counter *c, struct sample_item *item) {
    const struct who who = counter_who(c, item->words[0]);
    uint64_t all[WORDS_MOST + 2] = {item->words[0] & ~(uint64_t)WHO_MOST, (uint64_t)who.name << 32 | who.tid,
                                    who.space};
    memcpy(all + 3, item->words + 1, (c->keys.words - 1) * sizeof *all);
    const XXH128_hash_t h = XXH3_128bits_withSeed(all, (c->keys.words + 2) * sizeof *all, c->keys.chain_seed);
    item->digest[0] = item->hash = h.low64;
    item->digest[1] = h.high64;
}

/* Most samples of flat events have the words of one of few earlier samples. */
static void find_digest(const struct sample_counter *c, struct sample_item *item) {
    if (!c->digests || item->picked.chain.count)
        return make_digest(c, item);
    struct digest_memo *memo = digest_memo_of(c, item->words);
    if (!memo->used || !words_are_same(memo->words, item->words, 2)) {
        make_digest(c, item);
        *memo = (struct digest_memo){
            {item->words[0], item->words[1]}, {item->digest[0], item->digest[1]}, .entry = 0, .used = true};
    }
    item->digest[0] = item->hash = memo->digest[0];
    item->digest[1] = memo->digest[1];
}

pfr_status words_pass(struct sample_counter *c, const struct picked *s, pfr_error *err) {
    uint32_t who;
    PFR_TRY(find_who(c, s, moment_of(&c->profile->state, &s->key), &who, err));
    const struct chain_place place = chain_place_of(c, s, who);
    const pfr_event *event = pfr_get_event(c->profile->reader, s->event);
    return chain_pass(&c->chains.maker, event, s->whole, &place, profile_max_stack(c), err);
}

pfr_status words_make(struct sample_counter *c, struct sample_item *item, pfr_error *err) {
    const struct profile_request *w = &c->profile->request;
    const struct picked *s = &item->picked;
    uint64_t *at = item->words;
    uint32_t who;
    item->moment = moment_of(&c->profile->state, &s->key);
    PFR_TRY(find_who(c, s, item->moment, &who, err));
    *at++ = words_first(s, who);
    if (c->places[s->event].makes && !s->bare)
        PFR_TRY(make_chain(c, item, who, err));
    if (request_has_frames(w))
        *at++ = s->ip;
    if (w->keys & ~KEYS_APART)
        PFR_TRY(put_values(c, s, &at, err));
    if (request_has_chains(w)) {
        put_chain(c, s, at);
        find_digest(c, item);
    } else {
        item->hash = words_hash(c, item->words);
    }
    entry_fetch_slot(c, item->hash);
    return PFR_OK;
}
