/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the samples of a recording, or of a stream on standard input, in time order, one per line with its stack: perf
   record -o - ... | model_stream - [OUT]. */
#include <perfray/perfray.h>
#include <inttypes.h>
#include <stdio.h>

static pfr_status print(const pfr_model *m, FILE *to, pfr_error *err) {
    static pfr_samples_options options; /* all zero: the defaults */
    options.size = sizeof options;
    options.in_time_order = true;
    const pfr_sample_batch *b;
    char stack[4096];
    pfr_status st = PFR_END;
    pfr_samples *cursor = pfr_samples_open(m, &options, err);
    if (!cursor)
        return err->status;
    while ((st = pfr_samples_next(cursor, &b, err)) == PFR_OK)
        for (uint32_t i = 0; i < b->count; i++) {
            const pfr_model_thread *thread = pfr_model_get_thread(m, b->thread[i]);
            pfr_model_stack_text(m, b->stack[i], ";", stack, sizeof stack);
            fprintf(to, "%" PRIu64 " %" PRIu32 " %" PRIu64 " %s\n", b->time[i], thread ? thread->tid : 0, b->weight[i],
                    stack);
        }
    pfr_samples_close(cursor);
    return st;
}

int main(int argc, char **argv) {
    pfr_error err = {PFR_OK, 0, 0, "", "model_stream RECORDING [OUT]"};
    static pfr_open_options spooled; /* all zero: the defaults */
    spooled.size = sizeof spooled;
    spooled.spool = true; /* a model reads its input more than once */
    pfr_reader *reader = argc == 2 || argc == 3 ? pfr_open(argv[1], &spooled, &err) : NULL;
    pfr_model *model = reader ? pfr_model_open(reader, NULL, &err) : NULL;
    FILE *to = argc == 3 ? fopen(argv[2], "w") : stdout;
    const bool failed = !model || !to || print(model, to, &err) < 0;
    if (failed)
        fprintf(stderr, "%s\n", err.text);
    if (to)
        fclose(to);
    pfr_model_close(model);
    pfr_close(reader);
    return failed;
}
