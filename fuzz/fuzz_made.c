/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The output of convert and recover, with laws for any input. The output is a complete file or does not exist. If it
 * was written without a loss, or by recover, it is read without a hole and has the counted records and samples. A
 * second recovery loses nothing.
 */
#include "fuzz_made.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct made {
    char folder[48], first[64], again[64];
};

static void made_open(struct made *m) {
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    snprintf(m->folder, sizeof m->folder, "%s/perfray-made-XXXXXX", in_memory ? "/dev/shm" : "/tmp");
    LAW(mkdtemp(m->folder), "no folder %s", m->folder);
    snprintf(m->first, sizeof m->first, "%s/first", m->folder);
    snprintf(m->again, sizeof m->again, "%s/again", m->folder);
}

/* Removes the contents of the folder; returns the number of names in it. */
static unsigned clear(const char *folder) {
    char path[400];
    unsigned count = 0;
    DIR *dir = opendir(folder);
    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%.100s/%.255s", folder, e->d_name);
        count++;
        if (unlink(path) != 0) {
            clear(path);
            rmdir(path);
        }
    }
    if (dir)
        closedir(dir);
    return count;
}

static void made_close(struct made *m, unsigned expected) {
    const unsigned count = clear(m->folder);
    LAW(count == expected, "%u names are left, not %u", count, expected);
    LAW(rmdir(m->folder) == 0, "%s stays", m->folder);
}

static pfr_reader *open_made(const char *path) {
    const pfr_open_options options = {.size = sizeof options};
    pfr_error err;
    pfr_reader *reader = pfr_open(path, &options, &err);
    LAW(reader, "what was written is not opened: %s", err.text);
    return reader;
}

/* Asserts that the output is intact and has the counted records. */
static void check_whole(const char *path, const pfr_edit_counts *counts) {
    pfr_reader *reader = open_made(path);
    pfr_record rec;
    pfr_error err = {.text = ""};
    pfr_status s;
    while ((s = pfr_next(reader, &rec, &err)) == PFR_OK)
        continue;
    LAW(s == PFR_END, "what was written has a hole: byte %ju, %s: %s", (uintmax_t)err.offset, err.where, err.text);
    const pfr_quality *q = pfr_get_quality(reader);
    LAW(q->holes == 0, "what was written has %ju holes", (uintmax_t)q->holes);
    LAW(pfr_get_header(reader)->format != PFR_PERF_DATA || q->samples == counts->samples,
        "%ju samples, %ju were counted", (uintmax_t)q->samples, (uintmax_t)counts->samples);
    pfr_close(reader);
}

/*
 * Checks a PerfDataProto, which is recognised by its events. Its recording has at most the counted samples, unless it
 * has damaged records, which were kept as they are: readers judge them by what follows, which may be another record
 * here, and may find samples in their bytes.
 */
static void check_proto(const char *path, const pfr_edit_counts *counts) {
    const pfr_open_options options = {.size = sizeof options};
    pfr_record rec;
    pfr_error err = {.text = ""};
    pfr_reader *reader = pfr_open_any(path, &options, NULL, NULL, &err);
    LAW(reader, "the PerfDataProto that was written is not opened: %s", err.text);
    pfr_status s;
    while ((s = pfr_next(reader, &rec, &err)) == PFR_OK || s == PFR_HOLE)
        continue;
    LAW(s == PFR_END, "the PerfDataProto that was written ends with %s: %s", pfr_status_name(s), err.text);
    const pfr_quality *q = pfr_get_quality(reader);
    LAW(q->holes || q->samples <= counts->samples, "%ju samples, %ju were counted", (uintmax_t)q->samples,
        (uintmax_t)counts->samples);
    pfr_close(reader);
}

static void hear(void *context, const pfr_error *hole) {
    pfr_error *first = context;
    if (first->status == PFR_OK)
        *first = *hole;
}

static void check_again(const struct made *m, const pfr_edit_counts *before) {
    pfr_error err = {.text = ""}, lost = {.status = PFR_OK, .text = ""};
    pfr_reader *reader = open_made(m->first);
    const pfr_edit_options how = {.size = sizeof how, .path = m->again, .hole = hear, .context = &lost};
    pfr_edit_counts counts;
    const pfr_status s = pfr_recover(reader, &how, &counts, &err);
    LAW(s == PFR_OK, "what was recovered cannot be without a loss: %s%s", s < 0 ? err.text : "", lost.text);
    LAW(counts.samples == before->samples, "%ju samples of %ju when it is done again", (uintmax_t)counts.samples,
        (uintmax_t)before->samples);
    pfr_close(reader);
}

/*
 * Readers judge an attr with unknown bits by its surroundings, which change with the byte order; in a recording
 * without events they search for attrs everywhere.
 */
static bool is_odd(const pfr_reader *reader) {
    if (pfr_get_header(reader)->format == PFR_PERF_DATA && pfr_event_count(reader) == 0)
        return true;
    for (uint32_t i = 0; i < pfr_event_count(reader); i++) {
        const struct pfr_rec_attr *a = &pfr_get_event(reader, i)->attr;
        if (a->flags.reserved || a->aux_action.reserved || a->reserved_2)
            return true;
    }
    return false;
}

pfr_status fuzz_make(pfr_reader *reader, const pfr_edit_options *how, bool recover, pfr_error *err) {
    struct made made;
    pfr_edit_options own = *how;
    pfr_edit_counts counts;
    made_open(&made);
    own.path = made.first;
    const pfr_status s = (recover ? pfr_recover : pfr_convert)(reader, &own, &counts, err);
    LAW(s >= 0 || err->text[0], "%s without a word", pfr_status_name(s));
    LAW(s < 0 || (s == PFR_HOLE) == (counts.lost > 0), "%s, and %ju are lost", pfr_status_name(s),
        (uintmax_t)counts.lost);
    const bool again = s >= 0 && recover && !is_odd(reader);
    if (how->quipper == PFR_EDIT_QUIPPER && s >= 0 && pfr_event_count(reader) > 0)
        check_proto(made.first, &counts);
    else if (!how->quipper && (again || (s == PFR_OK && !is_odd(reader))))
        check_whole(made.first, &counts);
    if (again)
        check_again(&made, &counts);
    made_close(&made, s < 0 ? 0 : again ? 2 : 1);
    return s;
}
