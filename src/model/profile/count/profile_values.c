/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the words of an entry into the values of a group: names, texts and places get numbers shared by all workers. */
#include "model/profile/count/profile_cache.h"
#include "model/profile/count/profile_values.h"
#include "model/profile/count/profile_count.h"
#include "model/profile/count/profile_pour.h"

#include <stdio.h>

#define LIMIT_TEXT "[limit]"

/* The name of a thread; a thread without a name is named by its tid. */
static pfr_status comm_value(struct frames_of *f, const struct who *who, uint64_t *value, pfr_error *err) {
    char made[16] = "swapper";
    struct intern_text text = {(const uint8_t *)made, 7};
    uint32_t id;
    if (who->name != NO_NAME)
        text = intern_get(&f->profile->state.names, who->name);
    else if (who->tid != 0)
        text.length = (uint32_t)snprintf(made, sizeof made, ":%d", (int)who->tid);
    PFR_TRY(profile_frames_put_text(f, text.bytes, text.length, &id, err));
    *value = id;
    return PFR_OK;
}

/* State of making the values of an entry. */
struct making {
    struct sample_counter *counter;
    const uint64_t *words; /* words of the remaining keys, the next one first */
    struct who who;
    unsigned mode;
    const struct record_key *key; /* NULL: use the final state */
    uint64_t since;               /* latest key of the places and cgroups used */
};

/* The path of a cgroup. The id of a cgroup may be reused for another path, so `since` is raised to the record that
   named the cgroup: with the final state, the path holds only for samples after that record. */
static pfr_status cgroup_value(struct making *m, uint64_t id, uint64_t *value, pfr_error *err) {
    struct frames_of *f = m->counter->cache.frames;
    const struct state *state = &f->profile->state;
    if (id == 0)
        return *value = NO_TEXT, PFR_OK;
    const struct change *change = state_cgroup_change(state, id, m->key ? *m->key : KEY_LAST);
    const uint64_t since = change ? moment_of(state, &change->key) : 0;
    const struct intern_text text =
        change ? intern_get(&state->names, change->value) : (struct intern_text){(const uint8_t *)"unknown", 7};
    uint32_t number;
    PFR_TRY(profile_frames_put_text(f, text.bytes, text.length, &number, err));
    *value = number;
    m->since = since > m->since ? since : m->since;
    return PFR_OK;
}

/*
 * Data addresses and branches may be kernel or user addresses in either mode: an address without a map in the mode of
 * the sample is looked up in the other mode. Branch targets are looked up as user addresses first, as in perf: old
 * kernels have a map of all addresses.
 */
static pfr_status find_anywhere(struct making *m, uint64_t address, uint32_t *frame, pfr_error *err) {
    const bool branches = m->counter->profile->request.counted == PROFILE_BRANCHES;
    const unsigned first = branches && m->mode == PFR_CPUMODE_KERNEL ? PFR_CPUMODE_USER : m->mode;
    const unsigned modes[] = {first, PFR_CPUMODE_USER + PFR_CPUMODE_KERNEL - first};
    for (unsigned i = 0; i < (m->mode == PFR_CPUMODE_USER || m->mode == PFR_CPUMODE_KERNEL ? 2 : 1); i++) {
        struct frame_found found;
        PFR_TRY(frame_cache_find(&m->counter->cache, modes[i], m->who.space, address, m->key, &found, err));
        m->since = found.since > m->since ? found.since : m->since;
        const bool there = profile_frames_has_object(m->counter->cache.frames, found.frame);
        if (i == 0 || there)
            *frame = found.frame;
        if (there)
            break;
    }
    return PFR_OK;
}

static pfr_status place_value(struct making *m, uint64_t address, uint64_t *value, pfr_error *err) {
    uint32_t frame = NO_FRAME;
    PFR_TRY(find_anywhere(m, address, &frame, err));
    return profile_frames_put_place(m->counter->cache.frames, frame, address, value, err);
}

static pfr_status text_value(const struct making *m, uint64_t word, uint64_t *value, pfr_error *err) {
    uint32_t id;
    if (word == NO_TEXT)
        return *value = NO_TEXT, PFR_OK;
    const struct intern_text text = intern_get(&m->counter->texts, (uint32_t)word);
    PFR_TRY(profile_frames_put_text(m->counter->cache.frames, text.bytes, text.length, &id, err));
    *value = id;
    return PFR_OK;
}

static pfr_status make_value(struct making *m, enum profile_key key, uint64_t *value, pfr_error *err) {
    struct frames_of *f = m->counter->cache.frames;
    if (key == PROFILE_COMM)
        return comm_value(f, &m->who, value, err);
    const uint64_t word = *m->words++;
    if (key == PROFILE_CGROUP)
        return cgroup_value(m, word, value, err);
    if (key == PROFILE_TRACE)
        return text_value(m, word, value, err);
    if (profile_kind_of(key) == PROFILE_PLACE)
        return place_value(m, word, value, err);
    *value = word;
    return PFR_OK;
}

pfr_status values_root(struct sample_counter *c, const uint64_t *words, const struct record_key *key, uint32_t *root,
                       uint64_t *since, pfr_error *err) {
    uint64_t values[PROFILE_KEYS];
    unsigned count = 0;
    struct making m = {.counter = c,
                       .words = words + 1 + request_has_frames(&c->profile->request),
                       .who = counter_who(c, words[0]),
                       .mode = (unsigned)(words[0] >> WHO_BITS & PFR_CPUMODE_MASK),
                       .key = key};
    for (uint32_t keys = c->profile->request.keys; keys; keys &= keys - 1)
        PFR_TRY(make_value(&m, (enum profile_key)__builtin_ctz(keys), &values[count++], err));
    *since = m.since;
    return profile_tree_root(c->tree, (uint32_t)(words[0] >> 32), values, count, root, err);
}

/* --- Samples without memory: one group per event, whose values are all 0 or [limit]. */

static pfr_status limited_value(struct frames_of *frames, enum profile_key key, uint32_t frame, uint64_t *value,
                                pfr_error *err) {
    *value = profile_kind_of(key) == PROFILE_TEXT ? frames->profile->frames[frame].text : 0;
    return profile_kind_of(key) == PROFILE_PLACE ? profile_frames_put_place(frames, frame, 0, value, err) : PFR_OK;
}

pfr_status values_put_limited(struct profile *p, struct frames_of *frames, struct node_tree *tree, uint32_t event,
                              const struct profile_weight *limited, pfr_error *err) {
    const struct profile_request *w = &p->request;
    uint64_t values[PROFILE_KEYS];
    uint32_t frame, node;
    unsigned count = 0;
    PFR_TRY(profile_frames_put_words(frames, LIMIT_TEXT, &frame, err));
    for (uint32_t keys = w->keys; keys; keys &= keys - 1)
        PFR_TRY(limited_value(frames, (enum profile_key)__builtin_ctz(keys), frame, &values[count++], err));
    PFR_TRY(profile_tree_root(tree, event, values, count, &node, err));
    if (request_has_frames(w))
        PFR_TRY(profile_tree_child(tree, node, request_has_chains(w) ? frame | NODE_APART : frame, &node, err));
    profile_tree_weigh(tree, node, limited);
    p->facts.limited.weight += limited->weight;
    p->facts.limited.samples += limited->samples;
    return PFR_OK;
}

pfr_status values_take_limited(struct sample_counter *c, pfr_error *err) {
    struct profile *p = c->profile;
    c->tree->whole = NULL;
    c->tree->until = 0;
    if (!counter_met_limit(c))
        return PFR_OK;
    PFR_TRY(profile_tree_begin_weights(c->tree, err));
    for (uint32_t i = 0; i < p->nr_events; i++)
        if (c->facts.limited[i].samples)
            PFR_TRY(values_put_limited(p, c->cache.frames, c->tree, i, &c->facts.limited[i], err));
    return PFR_OK;
}
