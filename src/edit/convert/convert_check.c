/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks that readers accept what recover wrote. A record with bytes that its type does not explain is accepted only if
 * no other record begins inside it, which the reader decides by the records that follow (resync.c). Recover omits bytes
 * between records, so other records follow in the output, and bytes inside the record may now look like a header that
 * leads to one of them.
 *
 * Only the written file shows which record this affects. It is read back, and the next pass omits the first record that
 * is refused. If that does not help, all records that are plausible only because of their neighbours are omitted.
 */
#include "file/write/recording_writer.h"
#include "file/read/plausible_record.h"
#include "file/read/resync.h"
#include "base/io/scratch.h"
#include "edit/convert/convert_check.h"

#include <unistd.h>

/* Records about the container are made by the conversion and do not correspond to records of the input. */
bool conversion_counts(uint32_t type) {
    return type != PFR_RECORD_ATTR && type != PFR_RECORD_TRACING_DATA && type != PFR_RECORD_BUILD_ID &&
           type != PFR_RECORD_FEATURE && !holds_compressed(type);
}

/* Returns the list's next refused record if it is `rec`, else NULL. */
static struct refused *listed(struct conversion *c, const pfr_record *rec) {
    struct refused *next = &c->refused[c->refused_met];
    if (c->refused_met == c->nr_refused || !conversion_counts(rec->type))
        return NULL;
    return next->number == c->written + c->refused_met ? next : NULL;
}

/* Counts the loss in every pass but reports it once. The count c->losses_reported cannot ensure that, because earlier
 * passes may have reported losses that come later in the file (conversion_lost). */
static void report_lost(struct conversion *c, const pfr_record *rec, bool *reported) {
    pfr_error lost;
    pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "record",
             "a record that readers could not separate from the following one is omitted");
    c->counts.lost++;
    c->counts.lost_bytes += rec->size;
    if (!c->writer || *reported)
        return;
    *reported = true;
    c->losses_reported++;
    if (c->options->hole)
        c->options->hole(c->options->context, &lost);
}

bool conversion_is_refused(struct conversion *c, const pfr_record *rec) {
    struct refused *refused = listed(c, rec);
    bool reported = false;
    if (refused) {
        c->refused_met++;
        return report_lost(c, rec, &refused->reported), true;
    }
    if (!c->only_sure || plausibility_of(c->reader, rec) != PLAUSIBILITY_ODD)
        return false;
    return report_lost(c, rec, &reported), true;
}

/* The check is needed if records may have other neighbours than in the input, and the reader met records that are
 * plausible only because of their neighbours. */
static bool is_to_be_checked(const struct conversion *c) {
    const bool same = c->counts.lost == 0 && c->same_order && c->to == c->reader->header.container && !c->was_packed;
    return c->recover && !c->again && !same && !c->only_sure && c->reader->damage.unsure > 0;
}

/* Sets *count to the number of records before the first refused record; UINT64_MAX if all records are accepted. */
static pfr_status count_sound(pfr_reader *r, uint64_t *count, pfr_error *err) {
    pfr_record rec;
    pfr_status s;
    *count = 0;
    while ((s = pfr_next(r, &rec, err)) >= 0 && s != PFR_END) {
        if (s == PFR_OK)
            *count += conversion_counts(rec.type);
        else if (r->damage.quality.garbage + r->damage.quality.bad_records > 0)
            return PFR_OK;
    }
    *count = UINT64_MAX;
    return s < 0 ? s : PFR_OK;
}

/* Inserts a record into the list. The argument `number` does not count the records that are already in the list; the
 * numbers in the list count them. */
static void note_refused(struct conversion *c, uint64_t number) {
    uint32_t at = 0;
    for (; at < c->nr_refused && c->refused[at].number <= number; at++)
        number++;
    memmove(&c->refused[at + 1], &c->refused[at], (c->nr_refused - at) * sizeof *c->refused);
    c->refused[at] = (struct refused){.number = number};
    c->nr_refused++;
}

/* Opens the written output. If it cannot be read back, returns NULL and sets err->status to PFR_OK. */
static pfr_reader *open_written(const struct conversion *c, pfr_error *err) {
    const pfr_open_options options = {.size = sizeof options, .alloc = &c->reader->memory.alloc};
    const char *path = writer_unfinished(c->writer);
    const int fd = c->trial >= 0 ? dup(c->trial) : -1;
    *err = (pfr_error){.status = PFR_OK};
    if (fd < 0)
        return path ? pfr_open(path, &options, err) : NULL;
    if (scratch_rewind(fd, err) >= 0)
        return reader_open_fd(fd, "a temporary file", &options, err);
    close(fd);
    return NULL;
}

static bool reads_as_written(const struct conversion *c) {
    return c->to != PFR_DIRECTORY || c->reader->header.container == PFR_DIRECTORY;
}

void conversion_check(struct conversion *c) {
    uint64_t count = UINT64_MAX;
    pfr_error why;
    if (!is_to_be_checked(c))
        return;
    pfr_reader *reader = open_written(c, &why);
    pfr_status s = why.status;
    if (reader)
        s = count_sound(reader, &count, &why);
    pfr_close(reader);
    if (s >= 0 && count == UINT64_MAX)
        return;
    c->again = true;
    c->only_sure = s < 0 || c->nr_refused == REFUSED_MOST || !reads_as_written(c);
    if (!c->only_sure)
        note_refused(c, count);
}

static pfr_status try_once(struct conversion *c, pfr_error *err) {
    const pfr_write_options how = conversion_how(c);
    PFR_TRY(scratch_open(&c->trial, err));
    const pfr_status s = conversion_pass(c, pfr_writer_open_fd(c->trial, false, "a temporary file", &how, err), err);
    close(c->trial);
    c->trial = -1;
    return s;
}

pfr_status conversion_try(struct conversion *c, pfr_error *err) {
    pfr_status s = PFR_OK;
    bool more = is_to_be_checked(c);
    while (s >= 0 && more) {
        s = try_once(c, err);
        more = c->again && !c->only_sure;
    }
    return s;
}
