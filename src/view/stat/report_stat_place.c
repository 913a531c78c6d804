/* SPDX-License-Identifier: Apache-2.0 */
/* See report_stat_place.h. */
#include "view/stat/report_stat_place.h"

#include "base/memory/fail.h"
#include "base/memory/memory.h"
#include "base/text/public_output.h"
#include "base/text/text.h"
#include "wire/feature_bits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { CPUS_MOST = 1 << 20 };

/* --- topology --- */

static pfr_status make_cpus(struct stat_places *p, uint64_t count, pfr_error *err) {
    if (count > CPUS_MOST || !count)
        return PFR_OK;
    p->cpus = mem_alloc(p->memory, count, sizeof *p->cpus);
    if (!p->cpus)
        return mem_fail(p->memory, err, "stat");
    p->nr_cpus = count;
    for (size_t i = 0; i < count; i++)
        p->cpus[i] = (struct stat_place){-1, -1, -1, -1, 0, 0};
    return PFR_OK;
}

static const pfr_feature *find(pfr_reader *reader, uint32_t bit, pfr_error *why) {
    *why = (pfr_error){.status = PFR_OK};
    return pfr_find_feature(reader, bit, why);
}

static pfr_status forward(const pfr_error *why, pfr_error *err) {
    if (why->status < 0 && err)
        *err = *why;
    return why->status < 0 ? why->status : PFR_OK;
}

static pfr_status learn_topology(struct stat_places *p, pfr_reader *reader, pfr_error *err) {
    struct pfr_rec_feature_cpu_topology body;
    struct pfr_rec_core_and_socket one;
    struct pfr_rec_die die;
    pfr_error why;
    const pfr_feature *f = find(reader, BIT_CPU_TOPOLOGY, &why);
    if (!f || pfr_decode_feature(reader, f, &body, sizeof body, NULL) != PFR_OK)
        return forward(&why, err);
    PFR_TRY(make_cpus(p, body.cpus.count, err));
    pfr_items_iter cpus = pfr_items_begin(&body.cpus), dies = pfr_items_begin(&body.die_ids);
    for (size_t i = 0; i < p->nr_cpus && pfr_items_next(&cpus, &one, sizeof one, NULL) == PFR_OK; i++) {
        p->cpus[i].core = (int32_t)one.core_id;
        p->cpus[i].socket = (int32_t)one.socket_id;
        p->cpus[i].die = 0;
        if (pfr_items_next(&dies, &die, sizeof die, NULL) == PFR_OK)
            p->cpus[i].die = (int32_t)die.die_id;
    }
    return PFR_OK;
}

/* Assigns the cpus in a list such as "0-3,8" to the node. */
static void set_node(struct stat_places *p, const char *list, size_t length, int32_t node) {
    const char *const end = list + length;
    while (list < end) {
        const char *comma = memchr(list, ',', (size_t)(end - list)), *stop = comma ? comma : end;
        const char *dash = memchr(list, '-', (size_t)(stop - list));
        uint64_t first, last;
        if (!parse_u64_part(list, (size_t)((dash ? dash : stop) - list), &first))
            return;
        last = first;
        if (dash && !parse_u64_part(dash + 1, (size_t)(stop - dash - 1), &last))
            return;
        for (uint64_t cpu = first; cpu <= last && cpu < p->nr_cpus; cpu++)
            p->cpus[cpu].node = node;
        list = stop + (stop < end);
    }
}

static pfr_status learn_nodes(struct stat_places *p, pfr_reader *reader, pfr_error *err) {
    struct pfr_rec_feature_numa_topology body;
    struct pfr_rec_numa_node one;
    pfr_error why;
    const pfr_feature *f = find(reader, BIT_NUMA_TOPOLOGY, &why);
    if (!f || pfr_decode_feature(reader, f, &body, sizeof body, NULL) != PFR_OK)
        return forward(&why, err);
    pfr_items_iter it = pfr_items_begin(&body.nodes);
    while (pfr_items_next(&it, &one, sizeof one, NULL) == PFR_OK)
        set_node(p, one.cpus.at, strnlen(one.cpus.at, one.cpus.length), (int32_t)one.node);
    return PFR_OK;
}

pfr_status stat_places_learn(struct stat_places *p, pfr_reader *reader, uint64_t mode, struct memory *memory,
                             pfr_error *err) {
    p->memory = memory;
    p->mode = mode;
    if (!stat_mode_groups(mode) || p->cpus)
        return PFR_OK;
    PFR_TRY(learn_topology(p, reader, err));
    return learn_nodes(p, reader, err);
}

pfr_status stat_places_threads(struct stat_places *p, const pfr_record *rec, struct memory *memory, pfr_error *err) {
    struct pfr_rec_thread_map body;
    struct pfr_rec_thread_map_entry one;
    if (p->threads || pfr_decode(rec, &body, sizeof body, NULL) != PFR_OK || !body.entries.count)
        return PFR_OK;
    p->memory = memory;
    p->threads = mem_zeroed(memory, body.entries.count, sizeof *p->threads);
    if (!p->threads)
        return mem_fail(memory, err, "stat");
    p->nr_threads = body.entries.count;
    pfr_items_iter it = pfr_items_begin(&body.entries);
    for (size_t i = 0; i < p->nr_threads && pfr_items_next(&it, &one, sizeof one, NULL) == PFR_OK; i++) {
        p->threads[i].pid = (int64_t)one.pid;
        memcpy(p->threads[i].comm, one.comm.at, strnlen(one.comm.at, one.comm.length < 16 ? one.comm.length : 16));
    }
    return PFR_OK;
}

void stat_places_free(struct stat_places *p) {
    if (!p->memory)
        return;
    mem_free(p->memory, p->cpus, p->nr_cpus, sizeof *p->cpus);
    mem_free(p->memory, p->threads, p->nr_threads, sizeof *p->threads);
}

/* --- places --- */

bool stat_mode_groups(uint64_t mode) {
    return mode == STAT_SOCKET || mode == STAT_DIE || mode == STAT_CORE || mode == STAT_NODE;
}

struct stat_place stat_place_of(const struct stat_places *p, uint32_t cpu, uint32_t thread) {
    static const struct stat_place unknown = {-1, -1, -1, -1, 0, 0};
    const struct stat_place *whole = cpu < p->nr_cpus ? &p->cpus[cpu] : &unknown;
    struct stat_place place = {0};
    if (p->mode == STAT_CPU)
        place.cpu = (int32_t)cpu;
    else if (p->mode == STAT_THREAD)
        place.thread = (int32_t)thread;
    else if (p->mode == STAT_NODE)
        place.node = whole->node;
    else if (stat_mode_groups(p->mode))
        place.socket = whole->socket;
    if (p->mode == STAT_DIE || p->mode == STAT_CORE)
        place.die = whole->die;
    if (p->mode == STAT_CORE)
        place.core = whole->core;
    return place;
}

int stat_place_compare(const struct stat_place *a, const struct stat_place *b) {
    const int32_t x[] = {a->node, a->socket, a->die, a->core, a->cpu, a->thread};
    const int32_t y[] = {b->node, b->socket, b->die, b->core, b->cpu, b->thread};
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        if (x[i] != y[i])
            return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* --- text --- */

/* Right-aligns the name in its column. */
static void write_thread(const struct stat_places *p, int32_t thread, pfr_output *to) {
    static const struct stat_thread none = {-1, ""};
    const struct stat_thread *t = (uint32_t)thread < p->nr_threads ? &p->threads[thread] : &none;
    const size_t length = strlen(t->comm);
    char text[32];
    out_pad(&to->out, length < 16 ? 16 - length : 0);
    print_name(to, t->comm, length);
    const int size = snprintf(text, sizeof text, "-%-8" PRId64 " ", t->pid);
    out_write(&to->out, text, size > 0 ? (size_t)size : 0);
}

void stat_place_write(const struct stat_places *p, const struct stat_place *at, uint32_t cpus, pfr_output *to) {
    char text[80];
    int length = 0;
    if (p->mode == STAT_THREAD) {
        write_thread(p, at->thread, to);
        return;
    }
    if (p->mode == STAT_CPU)
        length = snprintf(text, sizeof text, "CPU%-8" PRId32, at->cpu);
    else if (p->mode == STAT_CORE)
        length = snprintf(text, sizeof text, "S%" PRId32 "-D%" PRId32 "-C%-8" PRId32 " %4" PRIu32 " ", at->socket,
                          at->die, at->core, cpus);
    else if (p->mode == STAT_DIE)
        length = snprintf(text, sizeof text, "S%" PRId32 "-D%-8" PRId32 " %4" PRIu32 " ", at->socket, at->die, cpus);
    else if (stat_mode_groups(p->mode))
        length = snprintf(text, sizeof text, "%c%-5" PRId32 " %4" PRIu32 " ", p->mode == STAT_NODE ? 'N' : 'S',
                          p->mode == STAT_NODE ? at->node : at->socket, cpus);
    out_write(&to->out, text, length > 0 ? (size_t)length : 0);
}

const char *stat_place_heading(uint64_t mode) {
    static const char *const headings[STAT_MODES] = {
        [STAT_CPU] = "#           time CPU                    counts unit events\n",
        [STAT_SOCKET] = "#           time socket cpus             counts unit events\n",
        [STAT_DIE] = "#           time die          cpus             counts unit events\n",
        [STAT_CORE] = "#           time core            cpus             counts unit events\n",
        [STAT_THREAD] = "#           time             comm-pid                  counts unit events\n",
        [STAT_NODE] = "#           time node   cpus             counts unit events\n",
    };
    const char *own = mode < STAT_MODES ? headings[mode] : NULL;
    return own ? own : "#           time             counts unit events\n";
}
