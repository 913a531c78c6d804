/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Writes the end of a file: LOST_SAMPLES for each counter that lost samples according to read(2) (PERF_FORMAT_LOST),
 * build-ids of the objects that samples hit, the time span of the samples, sizes and features. If the recording is
 * split into parts, the next part is begun before the current one is finished.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "base/io/output.h"
#include "record/contents/finish_file.h"
#include "record/contents/begin_file.h"
#include "record/contents/bpf_programs.h"
#include "record/contents/hit_build_ids.h"
#include "record/rings/recorder_note.h"
#include "record/contents/tasks.h"
#include "wire/feature_bits.h"

/* Returns the index of `lost` among the words that read(2) returns. The value comes first, then the times and the id,
   if `format` includes them. */
static size_t lost_at(uint64_t format) {
    size_t at = 1;
    at += (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
    at += (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
    at += (format & PERF_FORMAT_ID) != 0;
    return at;
}

/* The lost samples of counter `id`, from what read(2) returns for the leader of a group: nr, the times, and for each
 * member the value, id and lost. */
static uint64_t lost_in_group(const uint64_t *words, size_t count, uint64_t format, uint64_t id) {
    size_t at = 1;
    at += (format & PERF_FORMAT_TOTAL_TIME_ENABLED) != 0;
    at += (format & PERF_FORMAT_TOTAL_TIME_RUNNING) != 0;
    for (uint64_t i = 0; i < words[0] && at + 3 <= count; i++, at += 3)
        if (words[at + 1] == id)
            return words[at + 2];
    return 0;
}

static uint64_t lost_of(pfr_recorder *r, const struct open_counter *counter) {
    const uint64_t format = r->events.at[counter->event].attr.read_format;
    uint64_t words[3 + 3 * 64];
    if (!(format & PERF_FORMAT_LOST))
        return 0;
    const ssize_t got = r->kernel->read(r->kernel->context, counter->fd, words, sizeof words);
    const size_t count = got > 0 ? (size_t)got / sizeof *words : 0;
    if (count == 0)
        return 0;
    if (format & PERF_FORMAT_GROUP)
        return lost_in_group(words, count, format, counter->id);
    return count > lost_at(format) ? words[lost_at(format)] : 0;
}

static pfr_status put_lost(pfr_recorder *r, const struct open_counter *counter, uint64_t lost, pfr_error *err) {
    const struct pfr_rec_lost_samples body = {.lost = lost};
    const struct pfr_rec_sample_id id = {
        .id = counter->id, .identifier = counter->id, .cpu = (uint32_t)counter->cpu, .tid = (uint32_t)counter->tid};
    return pfr_writer_put(r->file.writer, counter->event, PFR_RECORD_LOST_SAMPLES, 0, &body, sizeof body, &id, err);
}

/* The kernel counts losses over the whole recording; each file gets the losses since the previous file. */
static pfr_status put_losses(pfr_recorder *r, pfr_error *err) {
    for (size_t i = 0; i < r->nr_counters; i++) {
        struct open_counter *const counter = &r->counters[i];
        const uint64_t lost = lost_of(r, counter);
        const uint64_t here = lost > counter->lost ? lost - counter->lost : 0;
        if (here)
            PFR_TRY(put_lost(r, counter, here, err));
        counter->lost += here;
        r->result.lost += here;
    }
    return PFR_OK;
}

static pfr_status put_times(pfr_writer *writer, const struct hit_times *times, pfr_error *err) {
    const uint64_t words[2] = {times->first, times->last};
    return pfr_writer_feature(writer, BIT_SAMPLE_TIME, words, sizeof words, err);
}

/* --- options.parts_most: only the newest finished parts are kept --- */

void parts_forget(pfr_recorder *r) {
    for (size_t i = 0; r->file.kept && i < r->options.parts_most; i++)
        if (r->file.kept[i])
            mem_free(&r->memory, r->file.kept[i], strlen(r->file.kept[i]) + 1, 1);
    mem_free(&r->memory, r->file.kept, r->options.parts_most, sizeof *r->file.kept);
    r->file.kept = NULL;
}

/* Adds a finished part; if there are more than parts_most parts, removes the oldest. */
static pfr_status keep_part(pfr_recorder *r, const char *path, pfr_error *err) {
    if (!r->file.kept)
        r->file.kept = mem_zeroed(&r->memory, r->options.parts_most, sizeof *r->file.kept);
    char *const copy = r->file.kept ? mem_alloc(&r->memory, strlen(path) + 1, 1) : NULL;
    if (!copy)
        return mem_fail(&r->memory, err, "parts");
    char **const place = &r->file.kept[r->file.nr_kept++ % r->options.parts_most];
    if (*place) {
        if (unlink(*place) != 0)
            recorder_note(r, "%s cannot be removed: %s", *place, strerror(errno));
        mem_free(&r->memory, *place, strlen(*place) + 1, 1);
    }
    *place = strcpy(copy, path);
    return PFR_OK;
}

/* Whether the path leads to another file than `own`, or to no file. */
static bool leads_elsewhere(const char *path, const struct stat *own) {
    struct stat now;
    if (lstat(path, &now) != 0)
        return errno == ENOENT || errno == ENOTDIR;
    return now.st_dev != own->st_dev || now.st_ino != own->st_ino;
}

static pfr_status report_displaced(const char *path, const struct stat *own, pfr_error *err) {
    if (own->st_nlink == 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output",
                        "%.60s was deleted or replaced while it was written: the recording is lost", path);
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output",
                    "%.60s was renamed while it was written: the recording is complete, but under another name", path);
}

/* Finishes a file. *displaced: the file is complete, but its path no longer leads to it; err has the message. */
static pfr_status finish(pfr_recorder *r, const struct finished_file *file, bool *displaced, pfr_error *err) {
    struct hit_times times = {0, 0};
    struct stat own;
    const bool listed = r->options.build_ids == PFR_BUILD_IDS_OF_HITS || r->options.build_ids == PFR_BUILD_IDS_OF_ALL;
    if (listed && file->fd >= 0)
        PFR_TRY(hits_put(r, file, &times, err));
    PFR_TRY(put_times(file->writer, &times, err));
    r->result.bytes += pfr_writer_size(file->writer);
    const bool known = file->fd >= 0 && fstat(file->fd, &own) == 0;
    PFR_TRY(pfr_writer_finish(file->writer, err));
    *displaced = known && leads_elsewhere(file->path, &own);
    if (*displaced)
        return report_displaced(file->path, &own, err);
    return r->options.parts && r->options.parts_most ? keep_part(r, file->path, err) : PFR_OK;
}

/* Writes the last records. After them, only features may follow. */
static pfr_status end_records(pfr_recorder *r, pfr_error *err) {
    PFR_TRY(tasks_put_tail(r, err));
    PFR_TRY(put_losses(r, err));
    PFR_TRY(bpf_put_late(r, err));
    PFR_TRY(file_put_clocks(r, err));
    r->result.plain_bytes += r->options.compress ? r->file.raw_bytes : 0;
    return pfr_writer_flush(r->file.writer, err);
}

static pfr_status report_displaced_parts(const pfr_recorder *r, pfr_error *err) {
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "output",
                    "%u part%s deleted, renamed or replaced while it was written", r->file.displaced,
                    r->file.displaced == 1 ? " was" : "s were each");
}

pfr_status file_finish(pfr_recorder *r, pfr_error *err) {
    bool displaced = false;
    pfr_status status = end_records(r, err);
    if (status >= 0)
        status = finish(r, &(struct finished_file){r->file.writer, r->file.path, r->file.output}, &displaced, err);
    pfr_writer_close(r->file.writer);
    r->file.writer = NULL;
    return status < 0 || r->file.displaced == 0 ? status : report_displaced_parts(r, err);
}

/* If another process has moved or removed a part, recording continues; the end reports how many parts were affected. */
static pfr_status finish_part(pfr_recorder *r, const struct finished_file *file, pfr_error *err) {
    pfr_error why = {.offset = PFR_NO_OFFSET};
    bool displaced = false;
    const pfr_status status = finish(r, file, &displaced, &why);
    pfr_writer_close(file->writer);
    if (displaced) {
        recorder_note(r, "%s", why.text);
        r->file.displaced++;
        return PFR_OK;
    }
    if (status < 0 && err)
        *err = why;
    return status;
}

/* Begins the next part first, because records that are drained while the current part is finished go into the next
   one. */
pfr_status file_next(pfr_recorder *r, pfr_error *err) {
    const struct finished_file file = {r->file.writer, r->file.path, r->file.output};
    struct arena part = r->file.part;
    PFR_TRY(end_records(r, err));
    arena_init(&r->file.part, &r->memory);
    r->file.writer = NULL;
    const pfr_status begun = file_begin(r, err);
    if (begun < 0) {
        pfr_writer_close(r->file.writer);
        r->file.writer = NULL;
    }
    const pfr_status finished = finish_part(r, &file, begun < 0 ? NULL : err);
    arena_free(&part);
    return begun < 0 ? begun : finished;
}
