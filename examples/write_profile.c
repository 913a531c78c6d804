/* SPDX-License-Identifier: Apache-2.0 */
/* Writes synthetic samples as a perf.data file: write_profile OUT. Show the result with perf report -i OUT. */
#include <perfray/perfray.h>
#include <stdio.h>
#include <unistd.h>

static const struct pfr_rec_attr clock_event = {
    .type = 1, /* PERF_TYPE_SOFTWARE; config 0: cpu-clock */
    .sample_type = PFR_SAMPLE_IP | PFR_SAMPLE_TID | PFR_SAMPLE_TIME | PFR_SAMPLE_PERIOD,
    .sample_period = 1000000,
    .flags = {.mmap = 1, .comm = 1, .task = 1, .sample_id_all = 1},
};

static void write_records(pfr_writer *w, pfr_error *err) {
    const uint32_t pid = (uint32_t)getpid();
    struct pfr_rec_sample_id id = {.pid = pid, .tid = pid, .time = 1};
    const struct pfr_rec_comm comm = {pid, pid, {"clerk", 5, 0}};
    const struct pfr_rec_mmap map = {pid, pid, 0x400000, 0x10000, 0, {"/usr/bin/clerk", 14, 0}};
    pfr_writer_put(w, 0, PFR_RECORD_COMM, 0, &comm, sizeof comm, &id, err);
    pfr_writer_put(w, 0, PFR_RECORD_MMAP, PFR_CPUMODE_USER, &map, sizeof map, &id, err);
    for (uint64_t i = 0; i < 1000; i++) {
        const struct pfr_rec_sample s = {
            .ip = 0x400000 + i % 10 * 64, .pid = pid, .tid = pid, .time = 2 + i * 1000000, .period = 1000000};
        pfr_writer_put(w, 0, PFR_RECORD_SAMPLE, PFR_CPUMODE_USER, &s, sizeof s, NULL, err);
    }
}

int main(int argc, char **argv) {
    pfr_error err = {.text = "write_profile OUT"};
    pfr_writer *w = argc == 2 ? pfr_writer_open(argv[1], NULL, &err) : NULL;
    if (w && pfr_writer_event(w, &clock_event, NULL, 0, &err) >= 0)
        write_records(w, &err); /* the first failure is kept and returned by pfr_writer_finish */
    const int failed = !w || pfr_writer_finish(w, &err) < 0;
    pfr_writer_close(w);
    if (failed)
        fprintf(stderr, "%s\n", err.text);
    return failed;
}
