/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pfr_dump in every format, with selections, and AUX data to files. Without a selection it shows as many records as the
 * reader returned, and reports each hole.
 */
#include "fuzz_print.h"

#include <perfray/dump.h>

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct form {
    enum text_kind kind;
    pfr_dump_options options;
    bool selects, makes_files;
};

static const struct form forms[] = {
    {TEXT_PLAIN, {.format = PFR_DUMP_TEXT}, false, false},
    {TEXT_PLAIN, {.format = PFR_DUMP_TEXT, .hex = true}, false, false},
    {TEXT_JSON_LINES, {.format = PFR_DUMP_JSON_LINES}, false, false},
    {TEXT_PLAIN, {.format = PFR_DUMP_PERF, .name = "fuzz"}, false, false},
    {TEXT_PLAIN, {.format = PFR_DUMP_TEXT, .only = "sample,mmap2,comm,header_attr,feature_build_id,73"}, true, false},
    {TEXT_JSON_LINES, {.format = PFR_DUMP_JSON_LINES, .offset_from = 200, .offset_to = 4000}, true, false},
    {TEXT_PLAIN, {.format = PFR_DUMP_PERF, .time_from = 1, .time_to = 1ull << 40}, true, false},
    {TEXT_PLAIN, {.format = PFR_DUMP_TEXT}, true, true},
};
#define FORMS (sizeof forms / sizeof *forms)

static void count_hole(void *context, const pfr_error *hole) {
    LAW(hole->text[0], "a hole without a word at %ju", (uintmax_t)hole->offset);
    ++*(uint64_t *)context;
}

static void check_counts(const struct form *form, pfr_status status, const pfr_dump_counts *counts, uint64_t reported,
                         const pfr_quality *quality) {
    if (status < 0 || form->makes_files)
        return;
    LAW(form->selects || counts->records >= quality->records, "%ju of %ju records", (uintmax_t)counts->records,
        (uintmax_t)quality->records);
    /* a hole that is one record is shown too */
    LAW(counts->records <= quality->records + quality->holes && counts->damaged <= counts->records,
        "%ju records, %ju holes, %ju of %ju damaged", (uintmax_t)quality->records, (uintmax_t)quality->holes,
        (uintmax_t)counts->damaged, (uintmax_t)counts->records);
    LAW((status == PFR_HOLE) == (quality->holes > 0 || reported > 0), "%s with %ju holes, %ju places reported",
        pfr_status_name(status), (uintmax_t)quality->holes, (uintmax_t)reported);
    LAW(reported >= counts->holes + counts->damaged, "%ju places for %ju holes and %ju damaged", (uintmax_t)reported,
        (uintmax_t)counts->holes, (uintmax_t)counts->damaged);
}

/* Removes the files of a run, which must not exist in the next one. */
static void remove_folder(const char *folder) {
    DIR *dir = opendir(folder);
    char path[512];
    for (struct dirent *e; dir && (e = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    if (dir)
        closedir(dir);
    rmdir(folder);
}

static pfr_status print_dump(pfr_reader *reader, const void *context, pfr_output *out, pfr_error *err) {
    const struct form *form = context;
    char folder[256];
    uint64_t reported = 0;
    pfr_dump_counts counts = {.size = sizeof counts};
    pfr_dump_options options = form->options;
    options.size = sizeof options;
    options.hole = count_hole;
    options.hole_context = &reported;
    options.counts = &counts;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/perfray-fuzz-%d", parent ? parent : "/tmp", (int)getpid());
    if (form->makes_files)
        options.aux_folder = folder;
    const pfr_status status = pfr_dump(reader, &options, out, err);
    check_counts(form, status, &counts, reported, pfr_get_quality(reader));
    if (form->makes_files)
        remove_folder(folder);
    return status;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    const struct form *form = &forms[fuzz_last(bytes, &length) % FORMS];
    const struct printing how = {
        .open = {.size = sizeof how.open, .limits = &fuzz_limits, .keep_aux = form->makes_files},
        .kind = form->kind,
        .options = form,
        .print = print_dump};
    fuzz_print(&how, bytes, length);
    return 0;
}
