/* SPDX-License-Identifier: Apache-2.0 */
/* Copies a recording without the samples of the busiest thread: model_rewrite RECORDING OUT. */
#include <perfray/perfray.h>
#include <stdio.h>
#include <stdlib.h>

/* For each sample, in file order, whether it belongs to the thread with the most samples. */
static uint8_t *mark_busiest(pfr_reader *reader, pfr_error *err) {
    static pfr_model_options options; /* all zero: the defaults */
    options.size = sizeof options;
    options.columns = PFR_COLUMN_THREAD;
    pfr_model *m = pfr_model_open(reader, &options, err);
    pfr_column thread;
    if (!m || !pfr_model_column(m, PFR_COLUMN_THREAD, &thread) || thread.count != pfr_get_quality(reader)->samples)
        return pfr_model_close(m), (uint8_t *)NULL; /* damaged, or a record with several samples */
    const uint32_t *of = (const uint32_t *)thread.at, threads = pfr_model_count(m, PFR_TABLE_THREAD);
    uint64_t *counts = (uint64_t *)calloc((size_t)threads + 1, sizeof *counts);
    uint8_t *marks = (uint8_t *)calloc((size_t)thread.count + 1, 1);
    uint32_t busiest = 0;
    for (uint64_t i = 0; i < thread.count; i++)
        if (++counts[of[i]] > counts[busiest])
            busiest = of[i];
    for (uint64_t i = 0; i < thread.count; i++)
        marks[i] = of[i] == busiest;
    free(counts);
    pfr_model_close(m);
    return marks;
}

static void copy(pfr_reader *reader, const uint8_t *leave_out, pfr_writer *w, pfr_error *err) {
    pfr_record rec;
    uint64_t sample = 0;
    const pfr_event *e;
    pfr_status st = pfr_rewind(reader, err);
    for (uint32_t i = 0; (e = pfr_get_event(reader, i)) != NULL; i++)
        pfr_writer_event(w, &e->attr, e->ids, (size_t)e->nr_ids, err);
    for (uint32_t i = 0; i < pfr_feature_count(reader); i++)
        pfr_writer_copy_feature(w, reader, pfr_get_feature(reader, i, err), err);
    while (st >= 0 && (st = pfr_next(reader, &rec, err)) >= 0 && st != PFR_END)
        if (st == PFR_OK && !(rec.type == PFR_RECORD_SAMPLE && rec.event >= 0 && leave_out[sample++]))
            pfr_writer_copy(w, &rec, err); /* the writer keeps its first failure, and finish returns it */
}

int main(int argc, char **argv) {
    pfr_error err = {PFR_OK, 0, 0, "", "model_rewrite RECORDING OUT"};
    pfr_reader *reader = argc == 3 ? pfr_open(argv[1], NULL, &err) : NULL;
    uint8_t *marks = reader ? mark_busiest(reader, &err) : NULL;
    pfr_writer *w = marks ? pfr_writer_open(argv[2], NULL, &err) : NULL;
    if (w)
        copy(reader, marks, w, &err);
    const bool failed = !w || pfr_writer_finish(w, &err) < 0;
    if (failed)
        fprintf(stderr, "%s\n", err.text);
    pfr_writer_close(w);
    free(marks);
    pfr_close(reader);
    return failed;
}
