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

/* Who it is of; false: nobody that was met lately, or a guest. */
static inline bool find_words(struct counter *c, const uint8_t *bytes, struct plain_sample *to, struct picked *s) {
    const struct view_slot *slot;
    s->mode = load_u16(bytes + 4, false) & CPUMODE;
    slot = words_view(c, s);
    to->words[0] = words_first(s, slot->who);
    return words_view_holds(slot, s, to->moment) && (s->mode <= CPUMODE_HYPERVISOR || s->mode > CPUMODE_GUEST_USER);
}

/* Step 1: the words of all, and where their entries are found. */
static unsigned make_words(struct counter *c, const struct plain_run *run, struct plain_sample *to, uint8_t *number,
                           struct plain_left *left) {
    const struct pick_places *p = &c->places[run->event];
    const bool timed = c->profile->state.timed;
    struct picked s = {.event = run->event};
    unsigned made = 0;
    for (uint32_t i = 0; i < run->count; i++) {
        const uint8_t *bytes = run->at[i];
        struct plain_sample *one = &to[made];
        const uint64_t time = timed ? load_u64(bytes + p->time, false) : run->place + (uint64_t)(bytes - run->at[0]);
        s.pid = load_u32(bytes + p->pid, false);
        s.tid = load_u32(bytes + p->pid + 4, false);
        one->moment = timed && time == UINT64_MAX ? NO_TIME_MOMENT : time;
        if (!find_words(c, bytes, one, &s)) {
            left->at[left->count++] = (uint8_t)i;
            continue;
        }
        one->words[1] = load_u64(bytes + p->ip, false);
        one->hash = words_hash_of(c->seed, one->words, 2);
        one->weight = p->period_at ? load_u64(bytes + p->period_at, false) : p->period;
        __builtin_prefetch(&c->slots[one->hash & (c->slot_count - 1)]);
        number[made++] = (uint8_t)i;
    }
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
    uint8_t number[BATCH];
    struct profile_weight total = {0};
    left->count = 0;
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
