/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts samples that are identified by two words, thread identity and sampled address: nearly all samples of a flat
 * report. The address is resolved later (profile_deferred_names.c), so an entry is two words and two sums, stored in
 * the table itself: a sample touches one cache line. Runs of samples are counted in two loops over a batch, so that
 * their cache misses overlap. More complicated samples are left to profile_count.c.
 */
#include "model/profile/count/profile_fast_path.h"
#include "base/memory/capped_sum.h"

#include "base/memory/sizes.h"
#include "wire/record_bits.h"

#define FIRST_COUNT ((size_t)1024)
#define TABLE_SHARE 2u /* a table takes this fraction of the memory left: frames and nodes need the rest */

void plain_free(struct sample_counter *c) {
    struct plain_table *t = &c->plainly;
    mem_free(t->memory, t->at, t->at ? t->count : 0, sizeof *t->at);
    t->at = NULL;
    t->count = t->used = 0;
}

/* --- The table. */

static inline struct plain_entry *find_entry(const struct plain_table *t, const uint64_t *words, uint64_t hash) {
    const size_t mask = t->count - 1;
    for (size_t i = hash & mask;; i = (i + 1) & mask) {
        struct plain_entry *e = &t->at[i];
        if (!e->self.samples || (e->words[1] == words[1] && e->words[0] == words[0]))
            return e;
    }
}

/* Whether there is room for `more` new entries. A quarter of the slots stays empty. */
static bool has_room(const struct plain_table *t, size_t more) {
    return t->used + more <= t->count / 4 * 3;
}

static pfr_status grow(struct sample_counter *c, pfr_error *err) {
    const struct plain_table *t = &c->plainly;
    struct plain_table more = {.memory = t->memory, .count = t->at ? t->count * 2 : FIRST_COUNT, .used = t->used};
    if (memory_has(t->memory, TABLE_SHARE * sizeof *more.at * (uint64_t)more.count))
        more.at = mem_zeroed(t->memory, more.count, sizeof *more.at);
    if (!more.at)
        return mem_fail(t->memory, err, "profile");
    for (size_t i = 0; i < t->count; i++)
        if (t->at[i].self.samples)
            *find_entry(&more, t->at[i].words, words_hash_of(c->keys.seed, t->at[i].words, 2)) = t->at[i];
    plain_free(c);
    c->plainly = more;
    return PFR_OK;
}

/* Grows the table. At the memory limit existing entries are still counted, and other samples go to the general entries;
   there may then be no table. */
static pfr_status make_room(struct sample_counter *c, size_t more, pfr_error *err) {
    struct plain_table *t = &c->plainly;
    if (t->full || has_room(t, more))
        return PFR_OK;
    const pfr_status st = grow(c, err);
    t->full = st == PFR_ERR_LIMIT;
    return t->full ? PFR_OK : st;
}

/* false: there is no such entry, and no room for a new one. */
static inline bool add_to_entry(struct plain_table *t, const uint64_t *words, uint64_t hash, uint64_t weight,
                                uint64_t samples) {
    struct plain_entry *e = find_entry(t, words, hash);
    if (!e->self.samples) {
        if (t->full)
            return false;
        e->words[0] = words[0];
        e->words[1] = words[1];
        t->used++;
    }
    e->self.weight += weight;
    e->self.samples += samples;
    return true;
}

bool plain_take(struct sample_counter *c, const struct sample_item *item, uint64_t weight, pfr_status *status,
                pfr_error *err) {
    if (!c->keys.plain || item->moment <= words_view(c, &item->picked)->settled)
        return false;
    *status = make_room(c, 1, err);
    return *status >= 0 && c->plainly.at && add_to_entry(&c->plainly, item->words, item->hash, weight, 1);
}

/* --- Entries of another counter. */

struct moved {
    uint64_t words[2], hash;
    struct plain_entry *from;
};

static pfr_status put_moved(struct sample_counter *to, struct plain_table *from, const struct moved *moved,
                            unsigned count, pfr_error *err) {
    PFR_TRY(make_room(to, count, err));
    for (unsigned i = 0; to->plainly.at && i < count; i++) {
        struct profile_weight *self = &moved[i].from->self;
        if (!add_to_entry(&to->plainly, moved[i].words, moved[i].hash, self->weight, self->samples))
            continue;
        self->samples = 0;
        from->used--;
    }
    return PFR_OK;
}

static void begin_move(const struct sample_counter *to, struct plain_entry *e, uint64_t word, struct moved *moved) {
    const struct plain_table *t = &to->plainly;
    *moved = (struct moved){.words = {word, e->words[1]}, .from = e};
    moved->hash = words_hash_of(to->keys.seed, moved->words, 2);
    if (t->at)
        __builtin_prefetch(&t->at[moved->hash & (t->count - 1)], 1);
}

pfr_status plain_join(struct sample_counter *to, struct sample_counter *from,
                      uint64_t (*word_of)(const void *context, uint64_t word), const void *context, pfr_error *err) {
    struct plain_table *t = &from->plainly;
    struct moved moved[BATCH];
    unsigned count = 0;
    for (size_t i = 0; i < t->count; i++) {
        if (t->at[i].self.samples)
            begin_move(to, &t->at[i], word_of(context, t->at[i].words[0]), &moved[count++]);
        if (count == sizes.count_batch) {
            PFR_TRY(put_moved(to, t, moved, count, err));
            count = 0;
        }
    }
    return put_moved(to, t, moved, count, err);
}

/* --- Runs. */

struct plain_sample {
    uint64_t words[2];
    uint64_t hash, weight;
};

bool plain_may(const struct sample_counter *c, uint32_t event) {
    const struct pick_places *p = &c->places[event];
    const bool has_time = p->time || !c->profile->state.timed;
    return c->keys.plain && p->fixed && p->pid && p->ip && has_time && !c->profile->request.keep &&
           !c->profile->reader->waits && !c->profile->request.by_latency && !c->reader->context.swap;
}

/* Values common to a batch, loaded once. */
struct plain_sight {
    struct view_slot *views;
    uint64_t seed, fixed_weight, first_place, event;
    const struct plain_entry *entries;
    size_t mask;
    const uint8_t *first;
    uint32_t pid, ip, time, weight;
    bool timed, kernel_apart;
};

static struct plain_sight sight_of(struct sample_counter *c, const struct plain_run *run) {
    const struct pick_places *p = &c->places[run->event];
    return (struct plain_sight){.views = c->views,
                                .seed = c->keys.seed,
                                .fixed_weight = p->period,
                                .first_place = run->place,
                                .event = run->event,
                                .entries = c->plainly.at,
                                .mask = c->plainly.count - 1,
                                .first = run->at[0],
                                .pid = p->pid,
                                .ip = p->ip,
                                .time = p->time,
                                .weight = p->period_at,
                                .timed = c->profile->state.timed,
                                .kernel_apart = c->keys.kernel_apart};
}

static inline uint64_t moment_in(const struct plain_sight *in, const uint8_t *bytes) {
    if (!in->timed)
        return in->first_place + (uint64_t)(bytes - in->first);
    const uint64_t time = load_u64(bytes + in->time, false);
    return time == UINT64_MAX ? NO_TIME_MOMENT : time;
}

/* false: words_make() is required, because the thread's view is not cached, the sample is not between the last change
   of the thread's maps and the end of the view, or the sample is one of a guest. An unused slot is valid for no key. */
static inline bool make_sample(const struct plain_sight *in, const uint8_t *bytes, struct plain_sample *to) {
    const unsigned mode = cpumode_at(bytes, false);
    const uint32_t pid = load_u32(bytes + in->pid, false), tid = load_u32(bytes + in->pid + 4, false);
    const struct view_slot *slot = &in->views[view_number(tid, in->kernel_apart && mode == PFR_CPUMODE_KERNEL)];
    const uint64_t moment = moment_in(in, bytes);
    to->words[0] = in->event << 32 | (uint64_t)mode << WHO_BITS | slot->who;
    to->words[1] = load_u64(bytes + in->ip, false);
    to->hash = words_hash_of(in->seed, to->words, 2);
    to->weight = in->weight ? load_u64(bytes + in->weight, false) : in->fixed_weight;
    __builtin_prefetch(&in->entries[to->hash & in->mask], 1);
    return slot->tid == tid && slot->pid == pid && slot->settled < moment && moment < slot->until &&
           (mode <= PFR_CPUMODE_HYPERVISOR || mode > PFR_CPUMODE_GUEST_USER);
}

/* Step 1: words of all samples, and prefetches of their entries. */
static unsigned make_words(struct sample_counter *c, const struct plain_run *run, struct plain_sample *to,
                           uint8_t *number, struct plain_left *left) {
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

static unsigned leave_all(const struct plain_run *run, struct plain_left *left) {
    for (left->count = 0; left->count < run->count; left->count++)
        left->at[left->count] = (uint8_t)left->count;
    return 0;
}

pfr_status plain_count(struct sample_counter *c, const struct plain_run *run, struct plain_left *left, pfr_error *err) {
    struct plain_sample samples[BATCH];
    uint8_t number[BATCH + 1];
    struct profile_weight total = {0};
    PFR_TRY(make_room(c, run->count, err));
    const unsigned made = c->plainly.at ? make_words(c, run, samples, number, left) : leave_all(run, left);
    for (unsigned i = 0; i < made; i++) {
        if (!add_to_entry(&c->plainly, samples[i].words, samples[i].hash, samples[i].weight, 1)) {
            left->at[left->count++] = number[i];
            continue;
        }
        total.weight = capped_sum(total.weight, samples[i].weight);
        total.samples++;
    }
    c->facts.totals[run->event].weight = capped_sum(c->facts.totals[run->event].weight, total.weight);
    c->facts.totals[run->event].samples += total.samples;
    return PFR_OK;
}
