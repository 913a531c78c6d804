/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the ten longest calls of a trace, and the number of samples in each call if a recording of the same run (-k
   monotonic) is given: model_slow_calls TRACE [RECORDING]. */
#include <perfray/perfray.h>
#include <inttypes.h>
#include <stdio.h>

enum { MOST = 10 };
struct slow {
    uint64_t start, duration, thread, symbol;
};
static int find(const pfr_model *m, struct slow *slow, pfr_error *err) {
    const pfr_call_batch *b;
    int count = 0;
    pfr_calls *cursor = pfr_calls_open(m, NULL, err);
    while (cursor && pfr_calls_next(cursor, &b, err) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            int at = count < MOST ? count++ : MOST;
            for (; at > 0 && slow[at - 1].duration < b->duration[i]; at--)
                slow[at] = slow[at - 1];
            const struct slow one = {b->start[i], b->duration[i], b->thread[i], b->symbol[i]};
            slow[at] = one;
        }
    pfr_calls_close(cursor);
    return count;
}

static uint64_t count_samples(const pfr_model *m, const struct slow *s, pfr_error *err) {
    static pfr_samples_options in; /* all zero: the defaults */
    in.size = sizeof in;
    in.first = s->start;
    in.last = s->start + s->duration;
    in.thread = (uint32_t)s->thread;
    const pfr_sample_batch *b;
    uint64_t count = 0;
    pfr_samples *cursor = pfr_samples_open(m, &in, err);
    while (cursor && pfr_samples_next(cursor, &b, err) == PFR_OK)
        count += b->count;
    pfr_samples_close(cursor);
    return count;
}

int main(int argc, char **argv) {
    pfr_error err = {PFR_OK, 0, 0, "", "model_slow_calls TRACE [RECORDING]"};
    pfr_reader *trace = argc == 2 || argc == 3 ? pfr_open(argv[1], NULL, &err) : NULL;
    static pfr_model_options options; /* all zero: the defaults */
    options.size = sizeof options;
    options.beside = trace && argc == 3 ? pfr_open(argv[2], NULL, &err) : NULL;
    pfr_model *model = trace && (options.beside || argc == 2) ? pfr_model_open(trace, &options, &err) : NULL;
    struct slow slow[MOST + 1];
    for (int i = 0, count = model ? find(model, slow, &err) : 0; i < count; i++)
        printf("%12" PRIu64 " ns  tid %" PRIu32 "  %" PRIu64 " samples  %s\n", slow[i].duration,
               pfr_model_get_thread(model, (uint32_t)slow[i].thread)->tid, count_samples(model, &slow[i], &err),
               pfr_model_get_symbol(model, (uint32_t)slow[i].symbol)->name);
    fputs(model ? "" : err.text, stderr);
    pfr_model_close(model);
    pfr_close(options.beside);
    pfr_close(trace);
    return !model;
}
