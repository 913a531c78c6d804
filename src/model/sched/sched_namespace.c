/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings made inside a pid namespace: samples have the tids that the recorder sees, but the raw bytes of
 * tracepoints have those of the whole machine. Each sample contains the tid of its own thread in both forms
 * (common_pid), so the pairs are learnt from all samples first. Threads outside of the namespace keep the machine's
 * tid.
 */
#include "model/sched/sched_event.h"

#include "wire/record_bits.h"

#define OUTSIDE (UINT32_C(1) << 31) /* above all tids */

static bool numbers_of(const struct sched_sources *s, const struct pfr_rec_sample *sample, uint32_t *outer) {
    const pfr_bytes raw = sample->raw.data;
    if (sample->tid == 0 || sample->tid == SCHED_NOBODY || raw.length < SCHED_COMMON_PID_AT + sizeof *outer)
        return false;
    *outer = load_u32(raw.at + SCHED_COMMON_PID_AT, s->raw_swap);
    return *outer != 0;
}

bool sched_namespace_differs(const struct sched_sources *s, const struct pfr_rec_sample *sample) {
    uint32_t outer;
    return numbers_of(s, sample, &outer) && outer != sample->tid;
}

void sched_namespace_begin(struct sched_sources *s) {
    u64_map_init(&s->inner, s->memory);
    u64_map_init(&s->inside, s->memory);
}

void sched_namespace_end(struct sched_sources *s) {
    u64_map_free(&s->inner);
    u64_map_free(&s->inside);
}

bool sched_namespace_learn(struct sched_sources *s, const struct pfr_rec_sample *sample) {
    uint32_t outer;
    return !numbers_of(s, sample, &outer) ||
           (u64_map_at(&s->inner, outer, sample->tid, NULL) && u64_map_at(&s->inside, sample->tid, 0, NULL));
}

uint32_t sched_namespace_tid(const struct sched_sources *s, uint32_t number) {
    uint64_t found;
    if (!s->namespaced || number == 0 || number == SCHED_NOBODY)
        return number;
    if (u64_map_get(&s->inner, number, &found))
        return (uint32_t)found;
    return u64_map_get(&s->inside, number, &found) ? number | OUTSIDE : number;
}

uint32_t sched_namespace_own(const struct sched_sources *s, const struct pfr_rec_sample *sample) {
    const pfr_bytes raw = sample->raw.data;
    if (!s->namespaced || sample->tid != 0 || raw.length < SCHED_COMMON_PID_AT + sizeof(uint32_t))
        return sample->tid;
    return sched_namespace_tid(s, load_u32(raw.at + SCHED_COMMON_PID_AT, s->raw_swap));
}
