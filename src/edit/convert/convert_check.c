/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether readers take what recover wrote. A record with bytes that its type does not explain is believed where no
 * other record begins inside it, which the records that follow it decide (resync.c: unbelieved). Recover leaves out
 * what was between them, so that others follow, and a header in such bytes may suddenly lead to a record.
 *
 * Which one that is only the written file shows. It is read, and the first record that is refused is left out by the
 * next pass; where that does not help, all are that are not believed by themselves.
 */
#include "file/write/recording_writer.h"
#include "file/read/plausible_record.h"
#include "file/read/resync.h"
#include "base/io/scratch.h"
#include "edit/convert/convert_check.h"

#include <unistd.h>

/* Those that only say something about the container are made anew, and are not the ones that were read. */
bool conversion_counts(uint32_t type) {
    return type != PFR_RECORD_ATTR && type != PFR_RECORD_TRACING_DATA && type != PFR_RECORD_BUILD_ID &&
           type != PFR_RECORD_FEATURE && !holds_compressed(type);
}

/* NULL: it is not the next of those that were refused. */
static struct refused *listed(struct conversion *c, const pfr_record *rec) {
    struct refused *next = &c->refused[c->refused_met];
    if (c->refused_met == c->nr_refused || !conversion_counts(rec->type))
        return NULL;
    return next->number == c->written + c->refused_met ? next : NULL;
}

/* Told once, though passes before this one counted losses that came later (conversion_lost). */
static void tell(struct conversion *c, const pfr_record *rec, bool *told) {
    pfr_error lost;
    pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "record",
             "a record that could not be told from the one that follows it, left out");
    c->counts.lost++;
    c->counts.lost_bytes += rec->size;
    if (!c->writer || *told)
        return;
    *told = true;
    c->told++;
    if (c->options->hole)
        c->options->hole(c->options->context, &lost);
}

bool conversion_is_refused(struct conversion *c, const pfr_record *rec) {
    struct refused *refused = listed(c, rec);
    bool told = false;
    if (refused) {
        c->refused_met++;
        return tell(c, rec, &refused->told), true;
    }
    if (!c->only_sure || plausibility_of(c->reader, rec) != PLAUSIBILITY_ODD)
        return false;
    return tell(c, rec, &told), true;
}

/* Whether what surrounds records may be other than in the input, and some depend on it. */
static bool is_to_be_checked(const struct conversion *c) {
    const bool same = c->counts.lost == 0 && c->same_order && c->to == c->reader->header.container && !c->was_packed;
    return c->recover && !c->again && !same && !c->only_sure && c->reader->unsure > 0;
}

/* Of those that were written, how many are read before the first that is refused; UINT64_MAX: none is. */
static pfr_status count_sound(pfr_reader *r, uint64_t *count, pfr_error *err) {
    pfr_record rec;
    pfr_status s;
    *count = 0;
    while ((s = pfr_next(r, &rec, err)) >= 0 && s != PFR_END) {
        if (s == PFR_OK)
            *count += conversion_counts(rec.type);
        else if (r->quality.garbage + r->quality.bad_records > 0)
            return PFR_OK;
    }
    *count = UINT64_MAX;
    return s < 0 ? s : PFR_OK;
}

/* Numbers count those that were left out, too. */
static void note_refused(struct conversion *c, uint64_t number) {
    uint32_t at = 0;
    for (; at < c->nr_refused && c->refused[at].number <= number; at++)
        number++;
    memmove(&c->refused[at + 1], &c->refused[at], (c->nr_refused - at) * sizeof *c->refused);
    c->refused[at] = (struct refused){.number = number};
    c->nr_refused++;
}

/* What was written, as far as it can be read again; NULL without an error: it cannot. */
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
