/* SPDX-License-Identifier: Apache-2.0 */
/* Restores calls that are no longer in branch registers: see call_stitch.h. */
#include "model/stacks/call_stitch.h"

#include "base/memory/fail.h"
#include "wire/feature_bits.h"

#include <stdlib.h>

#define MEMORY_SHARE 4u /* 1 / MEMORY_SHARE of the memory left is for stitching */

/* --- Number of registers. */

static bool is_named(const pfr_text *text, const char *name) {
    const size_t length = strlen(name);
    return text->length == length && memcmp(text->at, name, length) == 0;
}

static uint32_t number_in(const pfr_text *text) {
    uint32_t number = 0;
    for (size_t i = 0; i < text->length && text->at[i] >= '0' && text->at[i] <= '9'; i++)
        if ((number = number * 10 + (uint32_t)(text->at[i] - '0')) > REGISTERS_MOST)
            return 0;
    return number;
}

static uint32_t registers_in(const pfr_items *caps) {
    struct pfr_rec_pmu_cap cap;
    pfr_items_iter it = pfr_items_begin(caps);
    while (pfr_items_next(&it, &cap, sizeof cap, NULL) == PFR_OK)
        if (is_named(&cap.name, "branches"))
            return number_in(&cap.value);
    return 0;
}

/* A hybrid machine has an entry for each kind of cpu. If they differ, it is unknown which applies to a sample. */
static uint32_t registers_of_all(const pfr_items *pmus) {
    struct pfr_rec_pmu_caps_entry pmu;
    uint32_t registers = 0;
    pfr_items_iter it = pfr_items_begin(pmus);
    while (pfr_items_next(&it, &pmu, sizeof pmu, NULL) == PFR_OK) {
        const uint32_t own = registers_in(&pmu.caps);
        if (own && registers && own != registers)
            return 0;
        registers = own ? own : registers;
    }
    return registers;
}

uint32_t branch_registers(pfr_reader *reader) {
    struct pfr_rec_feature_cpu_pmu_caps cpu;
    struct pfr_rec_feature_pmu_caps all;
    const pfr_feature *f = pfr_find_feature(reader, BIT_CPU_PMU_CAPS, NULL);
    uint32_t registers = 0;
    if (f && pfr_decode_feature(reader, f, &cpu, sizeof cpu, NULL) == PFR_OK)
        registers = registers_in(&cpu.caps);
    f = registers ? NULL : pfr_find_feature(reader, BIT_PMU_CAPS, NULL);
    if (f && pfr_decode_feature(reader, f, &all, sizeof all, NULL) == PFR_OK)
        registers = registers_of_all(&all.pmus);
    return registers;
}

/* --- Threads. */

void stitcher_init(struct stitcher *s, uint32_t registers, struct memory *memory) {
    *s = (struct stitcher){.registers = registers};
    memory_share(&s->memory, memory);
    s->memory.limit = (memory->limit - memory->used) / MEMORY_SHARE;
    u64_map_init(&s->threads, &s->memory);
}

static void forget_all(struct stitcher *s) {
    for (size_t i = 0; i < s->count; i++) {
        mem_free(&s->memory, s->at[i].calls, s->at[i].calls ? s->registers : 0, sizeof *s->at[i].calls);
        mem_free(&s->memory, s->at[i].older, s->at[i].room, sizeof *s->at[i].older);
    }
    mem_free(&s->memory, s->at, s->room, sizeof *s->at);
    u64_map_free(&s->threads);
    u64_map_init(&s->threads, &s->memory);
    s->at = NULL;
    s->count = s->room = 0;
}

void stitcher_free(struct stitcher *s) {
    if (s->registers == 0)
        return;
    forget_all(s);
    mem_free(&s->memory, s->now, s->now ? s->registers : 0, sizeof *s->now);
    *s = (struct stitcher){.registers = 0};
}

static pfr_status make_thread(struct stitcher *s, pfr_error *err) {
    if (s->count == s->room) {
        void *more = mem_grow(&s->memory, s->at, s->count, &s->room, 16, sizeof *s->at);
        if (!more)
            return mem_fail(&s->memory, err, "stitched calls");
        s->at = more;
    }
    struct stitch_thread *t = &s->at[s->count++];
    *t = (struct stitch_thread){.calls = mem_alloc(&s->memory, s->registers, sizeof *t->calls)};
    return t->calls ? PFR_OK : mem_fail(&s->memory, err, "stitched calls");
}

static pfr_status find_thread(struct stitcher *s, uint32_t tid, struct stitch_thread **thread, pfr_error *err) {
    bool is_new;
    const uint64_t *place = u64_map_at(&s->threads, tid, s->count, &is_new);
    if (!place)
        return mem_fail(&s->memory, err, "stitched calls");
    const uint64_t number = *place;
    if (is_new)
        PFR_TRY(make_thread(s, err));
    *thread = &s->at[number];
    return PFR_OK;
}

/* --- Stitching. */

/* Copies the calls of a sample to s->now. false: impossible register numbers. */
static bool take_calls(const struct stitcher *s, const struct pfr_rec_branch_stack *branch) {
    struct pfr_rec_branch_entry entry;
    uint32_t count = 0;
    if (branch->entries.count == 0 || branch->entries.count > s->registers || branch->hw_idx >= s->registers)
        return false;
    pfr_items_iter it = pfr_items_begin(&branch->entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK)
        s->now[count++] = (struct branch_call){entry.from, entry.to, entry.flags};
    return count == branch->entries.count;
}

static bool are_equal(const struct branch_call *a, const struct branch_call *b) {
    return a->from == b->from && a->to == b->to && a->flags == b->flags;
}

/* Position of the outermost call of this sample among the calls of the previous sample, counted from the newest.
   t->count: the previous sample does not have it. */
static uint32_t find_outermost(const struct stitcher *s, const struct stitch_thread *t, uint32_t newest,
                               uint32_t count) {
    const uint32_t outermost = (newest + s->registers - (count - 1)) % s->registers;
    const uint32_t place = (t->newest + s->registers - outermost) % s->registers;
    return place < t->count && are_equal(&t->calls[place], &s->now[count - 1]) ? place : t->count;
}

static void drop_outermost(struct stitch_thread *t, size_t room) {
    const size_t kept = STITCHED_MOST - room;
    if (t->nr_older <= kept)
        return;
    memmove(t->older, t->older + t->nr_older - kept, kept * sizeof *t->older);
    t->nr_older = kept;
}

/* Moves calls of the previous sample that are further out than `place` to the calls that are in no register. */
static pfr_status keep_older(struct stitcher *s, struct stitch_thread *t, uint32_t place, pfr_error *err) {
    const size_t more = t->count - place - 1, wanted = t->nr_older + more;
    drop_outermost(t, more);
    if (wanted > t->room && t->room < STITCHED_MOST) {
        const size_t room = wanted < STITCHED_MOST / 2 ? 2 * wanted : STITCHED_MOST;
        void *grown = mem_resize(&s->memory, t->older, t->room, room, sizeof *t->older);
        if (!grown)
            return mem_fail(&s->memory, err, "stitched calls");
        t->older = grown;
        t->room = room;
    }
    for (uint32_t i = t->count; i-- > place + 1;)
        t->older[t->nr_older++] = t->calls[i].from;
    return PFR_OK;
}

static pfr_status take_sample(struct stitcher *s, struct stitch_thread *t, const struct pfr_rec_branch_stack *branch,
                              uint32_t space, pfr_error *err) {
    const bool known = take_calls(s, branch);
    const uint32_t newest = known ? (uint32_t)branch->hw_idx : 0, count = known ? (uint32_t)branch->entries.count : 0;
    const uint32_t place = known && t->space == space ? find_outermost(s, t, newest, count) : t->count;
    if (place < t->count)
        PFR_TRY(keep_older(s, t, place, err));
    else
        t->nr_older = 0;
    struct branch_call *before = t->calls;
    t->calls = s->now;
    s->now = before;
    t->newest = newest;
    t->count = count;
    t->space = space;
    return PFR_OK;
}

static pfr_status make_room(struct stitcher *s, pfr_error *err) {
    if (!s->now)
        s->now = mem_alloc(&s->memory, s->registers, sizeof *s->now);
    return s->now ? PFR_OK : mem_fail(&s->memory, err, "stitched calls");
}

pfr_status stitch_calls(struct stitcher *s, uint32_t tid, uint32_t space, const struct pfr_rec_branch_stack *branch,
                        struct lost_calls *lost, pfr_error *err) {
    struct stitch_thread *t = NULL;
    *lost = (struct lost_calls){.count = 0};
    if (s->registers == 0)
        return PFR_OK;
    pfr_status st = make_room(s, err);
    if (st >= 0)
        st = find_thread(s, tid, &t, err);
    if (st >= 0)
        st = take_sample(s, t, branch, space, err);
    if (st == PFR_ERR_LIMIT) {
        forget_all(s);
        s->begun_anew++;
        return PFR_OK;
    }
    if (st >= 0)
        *lost = (struct lost_calls){t->older, t->nr_older};
    return st;
}
