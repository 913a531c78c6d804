/* SPDX-License-Identifier: Apache-2.0 */
/* Joins the sums of several workers, and moves the result into the profile. */
#include "file/read/next.h"
#include "model/profile/count/profile_parts.h"

#include "base/tables/radix.h"

/* --- Sums of another worker. */

struct sums_joining {
    struct sample_counter *to, *from;
    uint32_t *group_of, *key_of; /* by number in `from`: number in `to` + 1; 0: unknown yet */
};

/* Counting is over, so marks are reused for the number of the sum's key. */
static void mark_keys(struct sums *s) {
    for (uint32_t i = 0; i < s->count; i++)
        s->at[s->keys[i].sum].mark = i;
}

static pfr_status join_group(struct sums_joining *j, uint32_t group, uint32_t *number, pfr_error *err) {
    const unsigned values = (unsigned)__builtin_popcount(j->to->profile->request.keys);
    const struct profile_group *g = j->from->tree->groups[group];
    if (!j->group_of[group]) {
        PFR_TRY(profile_tree_group(j->to->tree, g->event, g->value, values, number, err));
        j->group_of[group] = *number + 1;
    }
    *number = j->group_of[group] - 1;
    return PFR_OK;
}

static pfr_status join_sum(struct sums_joining *j, uint32_t number, pfr_error *err) {
    struct sums *ours = &j->to->sums;
    struct profile_sum_key key = j->from->sums.keys[number];
    const uint32_t theirs = key.sum, count = ours->count;
    PFR_TRY(join_group(j, key.group, &key.group, err));
    PFR_TRY(sums_put(j->to, &key, &key.sum, err));
    struct counted_sum *sum = &ours->at[key.sum];
    sum->mark = ours->count > count ? count : sum->mark;
    weight_add(&sum->total, &j->from->sums.at[theirs].total);
    if (key.place < ours->keys[sum->mark].place)
        ours->keys[sum->mark] = key;
    j->key_of[number] = sum->mark + 1;
    return PFR_OK;
}

static pfr_status join_self(struct sums_joining *j, uint32_t key, const struct profile_self *self, pfr_error *err) {
    struct sums *ours = &j->to->sums;
    const struct profile_sum_key *to = &ours->keys[key];
    uint32_t number;
    PFR_TRY(sums_put_self(ours, to->group, self->frame, to->sum, &number, err));
    weight_add(&ours->selves[number].self, &self->self);
    return PFR_OK;
}

/* Counts weight for which there is no room as [limit]. Then one worker counts everything again. */
static pfr_status or_limit(struct sums_joining *j, uint32_t key, const struct profile_weight *weight, pfr_status st) {
    const struct profile_group *group = j->from->tree->groups[j->from->sums.keys[key].group];
    if (st != PFR_ERR_LIMIT)
        return st;
    weight_add(&j->to->facts.limited[group->event], weight);
    return PFR_OK;
}

static pfr_status join(struct sums_joining *j, pfr_error *err) {
    const struct sums *theirs = &j->from->sums;
    if (!j->group_of || !j->key_of)
        return mem_fail(j->to->memory, err, "sums");
    const struct profile_weight any = {.samples = 1};
    for (uint32_t i = 0; i < theirs->count; i++)
        PFR_TRY(or_limit(j, i, &any, join_sum(j, i, err)));
    for (uint32_t i = 0; i < theirs->nr_selves; i++) {
        const struct profile_self *self = &theirs->selves[i];
        const uint32_t key = theirs->at[self->sum].mark;
        if (j->key_of[key])
            PFR_TRY(or_limit(j, key, &self->self, join_self(j, j->key_of[key] - 1, self, err)));
    }
    return PFR_OK;
}

pfr_status sums_join(struct sample_counter *to, struct sample_counter *from, pfr_error *err) {
    const size_t groups = from->tree->nr_groups, sums = from->sums.count;
    struct sums_joining j = {.to = to, .from = from};
    j.group_of = mem_zeroed(to->memory, groups, sizeof *j.group_of);
    j.key_of = mem_zeroed(to->memory, sums, sizeof *j.key_of);
    mark_keys(&to->sums);
    mark_keys(&from->sums);
    const pfr_status st = join(&j, err);
    mem_free(to->memory, j.group_of, groups, sizeof *j.group_of);
    mem_free(to->memory, j.key_of, sums, sizeof *j.key_of);
    return st;
}

/* --- At the end. */

/* Sorts by the first stack of each sum; sums of one stack keep their order. */
static pfr_status sort_sums(struct sums *s, uint32_t **order, pfr_error *err) {
    struct radix_item *items = mem_alloc(s->memory, s->count, 2 * sizeof *items);
    *order = mem_alloc(s->memory, s->count, sizeof **order);
    if (items && *order) {
        for (uint32_t i = 0; i < s->count; i++)
            items[i] = (struct radix_item){s->keys[i].place, i};
        const struct radix_item *sorted = radix_sort(items, items + s->count, s->count);
        for (uint32_t i = 0; i < s->count; i++)
            (*order)[i] = sorted[i].value;
    }
    const pfr_status st = items && *order ? PFR_OK : mem_fail(s->memory, err, "sums");
    mem_free(s->memory, items, s->count, 2 * sizeof *items);
    return st;
}

#define WORDS(count, type) ((size_t)(count) * (sizeof(type) / sizeof(uint64_t)))

/* Stores the totals in place of the sums, then shrinks the array: there may be no memory for a second array. */
static pfr_status give_totals(struct sums *s, struct profile *p, pfr_error *err) {
    struct profile_weight *totals = (struct profile_weight *)(void *)s->at;
    p->sums.count = (s->nr_leaves + 1) << SUM_BITS;
    if (!s->at)
        return PFR_OK;
    for (size_t i = 0; i < p->sums.count; i++)
        memmove(&totals[i], &s->at[i].total, sizeof *totals);
    totals = mem_resize(s->memory, totals, WORDS(s->room, struct counted_sum),
                        WORDS(p->sums.count, struct profile_weight), sizeof(uint64_t));
    if (!totals)
        return mem_fail(s->memory, err, "sums");
    p->sums.list = totals;
    p->rooms.sums = p->sums.count;
    s->at = NULL;
    s->room = 0;
    return PFR_OK;
}

pfr_status sums_give(struct sums *s, bool sorted, struct profile *p, pfr_error *err) {
    if (!sorted && s->count)
        PFR_TRY(sort_sums(s, &p->sums.order, err));
    PFR_TRY(give_totals(s, p, err));
    p->sums.keys = s->keys;
    p->selves = s->selves;
    p->sums.nr_keys = s->count;
    p->nr_selves = s->nr_selves;
    p->rooms.sum_keys = s->keys_room;
    p->rooms.selves = s->selves_room;
    s->keys = NULL;
    s->selves = NULL;
    s->keys_room = s->selves_room = 0;
    return PFR_OK;
}
