/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_maker KIND COUNT FILE - writes a page of a generated model; equal arguments give equal pages.
 *
 *     samples   COUNT samples of 8 threads in a tree of 100 000 stacks, mostly leaves: near the largest size
 *     calls     COUNT calls of 8 threads, up to 12 deep
 *     lanes     COUNT samples, calls and intervals of 3 threads, and two events
 */
#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 8, FUNCTIONS = 8000, NODES = 100000, DEPTH = 12, BEGIN = 1000000 };

struct maker {
    pfr_build *build;
    uint64_t random, seed;
    unsigned deepest; /* calls */
    uint32_t tree;    /* stacks */
    uint32_t threads[THREADS], nr_threads, events[2];
    uint32_t frames[FUNCTIONS], symbols[FUNCTIONS];
    uint32_t nodes[NODES + 1], nr_nodes;
};

static uint64_t below(struct maker *m, uint64_t most) {
    m->random ^= m->random << 13;
    m->random ^= m->random >> 7;
    m->random ^= m->random << 17;
    return (m->random >> 11) % most;
}

static void make_functions(struct maker *m) {
    static const struct pfr_model_object objects[] = {
        {.path = "/usr/bin/server", .name = "server", .kind = PFR_OBJECT_FILE},
        {.path = "/usr/lib/libc.so.6", .name = "libc.so.6", .kind = PFR_OBJECT_FILE},
        {.path = "[kernel.kallsyms]", .name = "[kernel.kallsyms]", .kind = PFR_OBJECT_KERNEL}};
    uint32_t ids[3];
    char name[64];
    for (unsigned i = 0; i < 3; i++)
        ids[i] = pfr_build_object(m->build, &objects[i]);
    for (unsigned i = 0; i < FUNCTIONS; i++) {
        snprintf(name, sizeof name, "server::module_%u::function_%u(int, char const*)", i % 97, i);
        const pfr_model_symbol symbol = {
            .name = name, .object = ids[i % 3], .address = 0x1000 + 64 * (uint64_t)i, .size = 64};
        m->symbols[i] = pfr_build_symbol(m->build, &symbol);
        const pfr_model_frame frame = {.symbol = m->symbols[i], .object = ids[i % 3], .address = symbol.address};
        m->frames[i] = pfr_build_frame(m->build, &frame);
    }
}

static void make_threads(struct maker *m, uint32_t count) {
    char name[32];
    const uint32_t comm = pfr_build_comm(m->build, "server");
    const uint32_t process = pfr_build_process(m->build, &(pfr_model_process){.pid = 100, .comm = comm});
    m->nr_threads = count;
    for (uint32_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "worker-%u", i);
        const pfr_model_thread thread = {.process = process, .tid = 100 + i, .comm = pfr_build_comm(m->build, name)};
        m->threads[i] = pfr_build_thread(m->build, &thread);
    }
    const pfr_model_thread idle = {.process = process,
                                   .tid = 100 + count,
                                   .comm = pfr_build_comm(m->build, "mailer"),
                                   .start = BEGIN,
                                   .end = PFR_NO_TIME};
    pfr_build_thread(m->build, &idle);
}

/* Creates inner nodes, each below an earlier one, then leaves below any of them. */
static void make_tree(struct maker *m) {
    for (m->nr_nodes = 0; m->nr_nodes < m->tree / 25; m->nr_nodes++) {
        const uint32_t parent = m->nr_nodes ? m->nodes[below(m, m->nr_nodes)] : 0;
        m->nodes[m->nr_nodes] = pfr_build_stack(m->build, parent, m->frames[below(m, FUNCTIONS)]);
    }
    while (m->nr_nodes < m->tree) {
        const uint32_t parent = m->nodes[below(m, m->tree / 25)];
        m->nodes[m->nr_nodes++] = pfr_build_stack(m->build, parent, m->frames[below(m, FUNCTIONS)]);
    }
}

static void make_samples(struct maker *m, uint64_t count, unsigned events) {
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t skew = below(m, m->tree) / (1 + m->seed);
        pfr_build_sample(m->build, &(pfr_sample){.time = BEGIN + i * 25000 + below(m, 25000),
                                                 .weight = events > 1 ? 1 + below(m, 1000) : 1,
                                                 .thread = m->threads[i / events % m->nr_threads],
                                                 .event = m->events[i % events],
                                                 .stack = m->nodes[skew * skew / m->tree % m->nr_nodes]});
    }
}

/* Makes calls of one thread in the order of their starts. A call ends after its duration; its callees end no later than
 * the call. */
static void make_calls(struct maker *m, uint32_t thread, uint64_t count, uint64_t span) {
    struct open_call {
        uint64_t end, id;
        uint32_t stack;
    } open[DEPTH + 1] = {{.end = UINT64_MAX}};
    uint64_t time = BEGIN;
    unsigned depth = 0;
    for (uint64_t i = 0; i < count; i++) {
        while (depth && open[depth].end <= time)
            depth--;
        if (depth == m->deepest) {
            time = open[depth].end;
            depth--;
        }
        const uint64_t longest = depth ? open[depth].end - time : span;
        const uint64_t duration = longest / 4 + below(m, longest - longest / 4 + 1) / (1 + below(m, 4));
        const uint32_t function = (uint32_t)below(m, depth < 3 ? 10 : 1) + 40 * depth;
        const uint32_t stack = pfr_build_stack(m->build, open[depth].stack, m->frames[function]);
        const pfr_call call = {.start = time,
                               .duration = duration < longest ? duration : longest,
                               .parent = open[depth].id,
                               .thread = thread,
                               .symbol = m->symbols[function],
                               .stack = stack,
                               .depth = depth};
        open[++depth] =
            (struct open_call){.end = time + call.duration, .id = pfr_build_call(m->build, &call), .stack = stack};
        time += 1 + below(m, call.duration / 8 + 2);
    }
}

static void make_intervals(struct maker *m, uint64_t count) {
    for (uint64_t i = 0; i < count; i++)
        pfr_build_interval(m->build, &(pfr_interval){.start = BEGIN + i * 25000 + 7500,
                                                     .duration = 5000,
                                                     .thread = m->threads[i % m->nr_threads],
                                                     .kind = i % 4 ? PFR_INTERVAL_WAITING : PFR_INTERVAL_PREEMPTED,
                                                     .reason = !(i % 4)    ? PFR_WAIT_NONE
                                                               : i % 8 < 4 ? PFR_WAIT_DISK
                                                                           : PFR_WAIT_LOCK});
}

static void make(struct maker *m, const char *kind, uint64_t count) {
    const bool is_calls = strcmp(kind, "calls") == 0, is_lanes = strcmp(kind, "lanes") == 0;
    static const pfr_model_event traced = {.name = "calls", .unit = "ns", .is_traced = true};
    make_threads(m, is_lanes ? 3 : THREADS);
    m->deepest = is_lanes ? 4 : DEPTH;
    m->tree = is_lanes ? 2500 : NODES;
    make_functions(m);
    if (is_calls)
        pfr_build_event(m->build, &traced);
    if (is_calls || is_lanes)
        for (uint32_t i = 0; i < m->nr_threads; i++)
            make_calls(m, m->threads[i], count / m->nr_threads, is_lanes ? count * 6000 : 2000000);
    if (is_calls)
        return;
    make_tree(m);
    m->events[0] = pfr_build_event(m->build, &(pfr_model_event){.name = "cycles"});
    m->events[1] = is_lanes ? pfr_build_event(m->build, &(pfr_model_event){.name = "instructions"}) : 0;
    if (is_lanes)
        pfr_build_event(m->build, &traced);
    make_samples(m, count, is_lanes ? 2 : 1);
    if (is_lanes)
        make_intervals(m, count);
}

/* Returns NULL after printing an error. `seed` determines the functions of the samples. */
static pfr_model *make_model(const char *kind, uint64_t count, uint64_t seed, pfr_error *err) {
    struct maker m = {.random = 88172645463325252u, .seed = seed};
    m.build = pfr_model_build(NULL, NULL, err);
    if (!m.build)
        return NULL;
    make(&m, kind, count);
    return pfr_build_finish(m.build, err);
}

static pfr_status write_page(const pfr_model *model, const pfr_model *baseline, char **argv, pfr_error *err) {
    pfr_output *const out = pfr_output_open(1, false, err);
    const pfr_view_options options = {.size = sizeof options, .path = argv[3], .title = argv[1], .baseline = baseline};
    const pfr_status status = out ? pfr_view_write(model, &options, out, err) : err->status;
    if (out)
        pfr_output_close(out, NULL);
    return status;
}

int main(int argc, char **argv) {
    pfr_error err = {.text = ""};
    if (argc != 4)
        return fprintf(stderr, "usage: page_maker samples|calls|lanes|diff|same COUNT FILE\n"), 2;
    const bool is_same = strcmp(argv[1], "same") == 0, is_pair = is_same || strcmp(argv[1], "diff") == 0;
    const uint64_t count = strtoull(argv[2], NULL, 10);
    pfr_model *const model = make_model(is_pair ? "lanes" : argv[1], count, 0, &err);
    pfr_model *const baseline = model && is_pair ? make_model("lanes", count, is_same ? 0 : 1, &err) : NULL;
    const pfr_status status = model && (baseline || !is_pair) ? write_page(model, baseline, argv, &err) : err.status;
    pfr_model_close(baseline);
    pfr_model_close(model);
    if (status < 0)
        fprintf(stderr, "page_maker: %s\n", err.text);
    return status < 0;
}
