/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The counts of `perf stat record`: each STAT is one counter of one thread on one cpu; a STAT_ROUND ends a round, whose
 * counts are printed event by event, thread by thread:
 *
 *     CPU   THREAD             VAL             ENA             RUN            TIME EVENT
 *      -1      295        54588967        54643353        54643353       210916259 cpu-clock
 */
#include "view/script_parts.h"

#include "base/fail.h"

#include <stdlib.h>

#define NUMBER_WIDTH 15u
#define ANY_THREAD (-1)

struct script_count {
    uint32_t event, thread, order;
    int32_t cpu;
    uint64_t value, enabled, running;
};

void script_stat_free(struct script_stat *stat, struct memory *memory) {
    mem_free(memory, stat->counts, stat->count_room, sizeof *stat->counts);
    mem_free(memory, stat->threads, stat->thread_room, sizeof *stat->threads);
}

void script_take_thread_map(struct script *s, const pfr_record *rec, const struct key *key) {
    struct script_stat *stat = &s->stat;
    struct pfr_rec_thread_map map;
    struct pfr_rec_thread_map_entry entry;
    (void)key;
    if (pfr_decode(rec, &map, sizeof map, NULL) != PFR_OK)
        return;
    stat->nr_threads = 0;
    pfr_items_iter it = pfr_items_begin(&map.entries);
    while (pfr_items_next(&it, &entry, sizeof entry, NULL) == PFR_OK) {
        if (stat->nr_threads == stat->thread_room) {
            void *more =
                mem_grow(s->memory, stat->threads, stat->nr_threads, &stat->thread_room, 16, sizeof *stat->threads);
            if (!more) {
                script_fail(s, mem_fail(s->memory, s->err, "thread map"));
                return;
            }
            stat->threads = more;
        }
        stat->threads[stat->nr_threads++] = (int32_t)entry.pid;
    }
}

void script_take_stat(struct script *s, const pfr_record *rec, const struct key *key) {
    struct script_stat *stat = &s->stat;
    struct pfr_rec_stat body;
    (void)key;
    if (pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK)
        return;
    const int32_t event = pfr_event_of_id(s->reader, body.id);
    if (event < 0)
        return;
    if (stat->nr_counts == stat->count_room) {
        void *more = mem_grow(s->memory, stat->counts, stat->nr_counts, &stat->count_room, 64, sizeof *stat->counts);
        if (!more) {
            script_fail(s, mem_fail(s->memory, s->err, "counts"));
            return;
        }
        stat->counts = more;
    }
    stat->counts[stat->nr_counts] = (struct script_count){
        (uint32_t)event, body.thread, (uint32_t)stat->nr_counts, (int32_t)body.cpu, body.val, body.ena, body.run};
    stat->nr_counts++;
}

static int by_event(const void *a, const void *b) {
    const struct script_count *x = a, *y = b;
    if (x->event != y->event)
        return x->event < y->event ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return x->order < y->order ? -1 : 1;
}

static void write_count(struct script *s, const struct script_count *c, uint64_t time) {
    const struct script_stat *stat = &s->stat;
    const char *name = pfr_get_event(s->reader, c->event)->name;
    out_i64_wide(s->out, c->cpu, 3);
    out_char(s->out, ' ');
    out_i64_wide(s->out, c->thread < stat->nr_threads ? stat->threads[c->thread] : ANY_THREAD, 8);
    const uint64_t numbers[] = {c->value, c->enabled, c->running, time};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        out_char(s->out, ' ');
        out_u64_wide(s->out, numbers[i], NUMBER_WIDTH);
    }
    out_char(s->out, ' ');
    print_name(s->to, name, strlen(name));
    out_char(s->out, '\n');
}

void script_take_stat_round(struct script *s, const pfr_record *rec, const struct key *key) {
    struct script_stat *stat = &s->stat;
    struct pfr_rec_stat_round round;
    (void)key;
    if (stat->nr_counts == 0 || pfr_decode(rec, &round, sizeof round, NULL) != PFR_OK)
        return;
    if (!stat->has_title)
        out_text(s->out, "CPU   THREAD             VAL             ENA             RUN            TIME EVENT\n");
    stat->has_title = true;
    qsort(stat->counts, stat->nr_counts, sizeof *stat->counts, by_event);
    for (size_t i = 0; i < stat->nr_counts; i++)
        write_count(s, &stat->counts[i], round.time);
    stat->nr_counts = 0;
}
