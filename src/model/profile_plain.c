/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The samples that two words tell apart, who and the sampled address, and that have an entry: nearly all of a flat
 * report. Each step is one loop over the batch, so that what one sample waits for of memory the next ones wait for at
 * the same time, and keeps of a sample what the next step needs. What is not as simple is left to profile_count.c.
 */
#include "model/profile_parts.h"

struct plain_sample {
    uint64_t words[2];
    uint64_t hash, moment, weight;
};

bool plain_may(const struct counter *c, uint32_t event) {
    const struct pick_places *p = &c->places[event];
    const bool has_time = p->time || !c->profile->state.timed;
    return c->plain && p->fixed && p->pid && p->ip && has_time && !c->profile->wish.keep && !c->reader->context.swap;
}

/* What is the same for all of a batch, so that it is not looked up for each. */
struct plain_sight {
    struct view_slot *views;
    uint64_t seed, fixed_weight, first_place, event;
    const uint64_t *slots;
    size_t mask;
    const uint8_t *first;
    uint32_t pid, ip, time, weight;
    bool timed, kernel_apart;
};

static struct plain_sight sight_of(struct counter *c, const struct plain_run *run) {
    const struct pick_places *p = &c->places[run->event];
    return (struct plain_sight){.views = c->views,
                                .seed = c->seed,
                                .fixed_weight = p->period,
                                .first_place = run->place,
                                .event = run->event,
                                .slots = c->slots,
                                .mask = c->slot_count - 1,
                                .first = run->at[0],
                                .pid = p->pid,
                                .ip = p->ip,
                                .time = p->time,
                                .weight = p->period_at,
                                .timed = c->profile->state.timed,
                                .kernel_apart = c->kernel_apart};
}

static inline uint64_t moment_in(const struct plain_sight *in, const uint8_t *bytes) {
    if (!in->timed)
        return in->first_place + (uint64_t)(bytes - in->first);
    const uint64_t time = load_u64(bytes + in->time, false);
    return time == UINT64_MAX ? NO_TIME_MOMENT : time;
}

/* false: it is of nobody that was met lately (no moment is in a view that was not used), or of a guest. */
static inline bool make_sample(const struct plain_sight *in, const uint8_t *bytes, struct plain_sample *to) {
    const unsigned mode = load_u16(bytes + 4, false) & CPUMODE;
    const uint32_t pid = load_u32(bytes + in->pid, false), tid = load_u32(bytes + in->pid + 4, false);
    const struct view_slot *slot = &in->views[view_number(tid, in->kernel_apart && mode == CPUMODE_KERNEL)];
    const uint64_t moment = moment_in(in, bytes);
    to->moment = moment;
    to->words[0] = in->event << 32 | (uint64_t)mode << WHO_BITS | slot->who;
    to->words[1] = load_u64(bytes + in->ip, false);
    to->hash = words_hash_of(in->seed, to->words, 2);
    to->weight = in->weight ? load_u64(bytes + in->weight, false) : in->fixed_weight;
    __builtin_prefetch(&in->slots[to->hash & in->mask]);
    return slot->tid == tid && slot->pid == pid && slot->from < moment && moment < slot->until &&
           (mode <= CPUMODE_HYPERVISOR || mode > CPUMODE_GUEST_USER);
}

/* Step 1: the words of all, and where their entries are found. */
static unsigned make_words(struct counter *c, const struct plain_run *run, struct plain_sample *to, uint8_t *number,
                           struct plain_left *left) {
    const struct plain_sight in = sight_of(c, run);
    const uint8_t *const *at = run->at;
    const uint32_t count = run->count;
    unsigned made = 0, others = 0;
    for (uint32_t i = 0; i < count; i++) {
        number[made] = left->at[others] = (uint8_t)i;
        const bool good = make_sample(&in, at[i], &to[made]);
        made += good;
        others += !good;
    }
    left->count = others;
    return made;
}

static struct entry_count *find_entry(const struct counter *c, const struct plain_sample *s) {
    const size_t mask = c->slot_count - 1;
    for (size_t i = s->hash & mask; c->slots[i]; i = (i + 1) & mask) {
        uint64_t *words = entry_words(c, (uint32_t)c->slots[i] - 1);
        if (c->slots[i] >> 32 == s->hash >> 32 && words[0] == s->words[0] && words[1] == s->words[1])
            return entry_count_of(c, words);
    }
    return NULL;
}

void plain_count(struct counter *c, const struct plain_run *run, struct plain_left *left) {
    struct plain_sample samples[BATCH];
    uint8_t number[BATCH + 1];
    struct profile_weight total = {0};
    const unsigned made = make_words(c, run, samples, number, left);
    for (unsigned i = 0; i < made; i++) {
        const uint64_t slot = c->slots[samples[i].hash & (c->slot_count - 1)];
        if (slot)
            __builtin_prefetch(entry_words(c, (uint32_t)slot - 1), 1);
    }
    for (unsigned i = 0; i < made; i++) {
        struct entry_count *count = find_entry(c, &samples[i]);
        if (!count || samples[i].moment <= count->since) {
            left->at[left->count++] = number[i];
            continue;
        }
        count->weight += samples[i].weight;
        count->samples++;
        total.weight += samples[i].weight;
        total.samples++;
    }
    c->totals[run->event].weight += total.weight;
    c->totals[run->event].samples += total.samples;
}
