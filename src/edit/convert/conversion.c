/* SPDX-License-Identifier: Apache-2.0 */
/* Converts a recording in one or more passes. conversion.h has the overview. */
#include "file/write/recording_writer.h"
#include "file/read/features.h"
#include "file/read/resync.h"
#include "edit/convert/convert_check.h"
#include "edit/convert/convert_features.h"
#include "edit/convert/convert_losses.h"
#include "edit/convert/convert_record_types.h"
#include "edit/convert/repair_features.h"
#include "edit/convert/convert_xray.h"
#include "edit/quipper/quipper_write.h"

#include <inttypes.h>

#define PASSES (6u + REFUSED_MOST) /* most passes: five reasons to restart, the last pass, one per refused record */
#define ROOMS 3u                   /* record buffers of RECORD_MOST bytes: for `packed`, `mended` and `waiting` */
#define PARTS_MOST 512             /* part files of a directory; each is an open file */
#define ATTR_DECIDES 96u           /* bytes of an attr that decide how samples are decoded */

/* --- Records. */

static void note_time(struct conversion *c, uint64_t time, bool is_sample) {
    rounds_note(&c->rounds, time);
    if (!is_sample || time == 0 || time == NO_TIME)
        return;
    if (c->first_time == 0 || time < c->first_time)
        c->first_time = time;
    if (time > c->last_time)
        c->last_time = time;
}

/* True if this pass must restart without rounds, because a record was older than a FINISHED_ROUND already written. */
static bool is_void(struct conversion *c) {
    if (c->rounds.late && c->rounds_written && !c->without_rounds)
        c->without_rounds = c->again = true;
    return c->again;
}

/* Copies the samples of the same event that come next in the read buffer, as one block of bytes. */
static pfr_status conversion_run(struct conversion *c, int32_t event, pfr_error *err) {
    struct sample_run run;
    if (c->recover && c->reader->cursor.at < c->reader->events.last_added_at) /* each id is checked */
        return PFR_OK;
    if (!c->same_order || c->to == PFR_DIRECTORY || !walk_run(c->reader, event, false, UINT64_MAX, &run))
        return PFR_OK;
    for (uint64_t at = 0; run.time_at && at < run.length; at += load_u16(run.bytes + at + 6, c->reader->context.swap))
        note_time(c, load_u64(run.bytes + at + run.time_at, c->reader->context.swap), true);
    c->written += run.count;
    c->counts.records += run.count;
    c->counts.samples += run.count;
    pfr_status s = PFR_OK;
    if (c->writer)
        s = pfr_writer_raw(c->writer, run.bytes, (size_t)run.length, NULL, 0, err);
    walk_past(c->reader, run.length, run.count);
    return s;
}

/* True for a record inside COMPRESSED of a type that has a payload if it is not inside COMPRESSED. This record has no
 * payload; if it were copied, readers would take the records that follow it for its payload. */
static bool says_data_in_vain(struct conversion *c, const pfr_record *rec) {
    pfr_error lost;
    if (!rec->inside || c->keeps_packed || !may_be_followed(rec->type))
        return false;
    pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "record",
             "a record of type %u inside a compressed record is omitted: no payload can follow it there", rec->type);
    conversion_lost(c, &lost);
    return true;
}

/* In a stream, an event may follow samples. While there is only one event, the reader assigns all samples to it. In the
 * output all events precede the samples, so each sample needs the id of an event. */
static bool has_id_of_no_event(const struct conversion *c, const pfr_record *rec) {
    const pfr_reader *r = c->reader;
    if (rec->type != PFR_RECORD_SAMPLE || r->events.count < 2 || r->events.id_at == 0)
        return false;
    return r->events.id_at + 8 > rec->size ||
           pfr_event_of_id(r, load_u64(rec->bytes + r->events.id_at, r->context.swap)) < 0;
}

/* Recover omits samples that belong to no event, because perf stops at them, and records of unknown type, because their
 * bytes cannot be checked. */
static bool is_left_out(struct conversion *c, const pfr_record *rec) {
    pfr_error lost;
    if (!c->recover)
        return false;
    const bool is_of_no_event =
        (rec->type == PFR_RECORD_SAMPLE && rec->event == PFR_NO_EVENT) || has_id_of_no_event(c, rec);
    if (!is_of_no_event && layout_of_type(rec->context, rec->type))
        return false;
    if (is_of_no_event)
        pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "sample", "a sample that belongs to no event is omitted");
    else
        pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "record", "a record of unknown type %u is omitted",
                 rec->type);
    conversion_lost(c, &lost);
    return true;
}

/* The CPU of a record; -1: unknown. Recorders with several threads write one file per CPU. */
static int64_t cpu_of(const struct conversion *c, const pfr_record *rec) {
    uint32_t place;
    const struct layout *l = layout_at(rec->tail ? L_sample_id : L_sample);
    const size_t member = rec->tail ? offsetof(struct pfr_rec_sample_id, cpu) : offsetof(struct pfr_rec_sample, cpu);
    const uint32_t start = rec->tail ? rec->size - rec->tail : RECORD_HEADER;
    if (!(rec->context->word[WORD_SAMPLE] & PFR_SAMPLE_CPU) ||
        !layout_place_u32(l, rec->context, (uint16_t)member, &place) || start + place + 4 > rec->size)
        return -1;
    return load_u32(rec->bytes + start + place, c->reader->context.swap);
}

/* True for a record that describes state from before the recording started. The time of this record is 0, or 2^64-1 if
 * other records have times. These records stay in file order. */
static bool is_from_before(const struct conversion *c, const pfr_record *rec, uint64_t time) {
    const struct pfr_rec_attr *first = &pfr_get_event(c->reader, 0)->attr;
    const bool is_timed = first->sample_type & PFR_SAMPLE_TIME && first->flags.sample_id_all;
    return time == 0 || (time == NO_TIME && is_timed && rec->type != PFR_RECORD_SAMPLE);
}

/* The number of the file in a directory to which the record is written. Records of state from before the recording
 * started, and records that perf itself makes, go to the file `data` (number 0), which readers read first. */
static uint32_t part_of_record(const struct conversion *c, const pfr_record *rec) {
    if (c->reader->header.container == PFR_DIRECTORY)
        return rec->part;
    const uint64_t time = time_of(c->reader, rec);
    if (rec->type >= FIRST_USER || rec->event < 0 || is_from_before(c, rec, time))
        return 0;
    if (time == NO_TIME)
        return 1; /* records without a time stay in one file, which keeps their order */
    const int64_t cpu = cpu_of(c, rec);
    return cpu >= 0 && cpu < PARTS_MOST ? (uint32_t)cpu + 1 : 1;
}

/* Recover replaces an id that belongs to no event with 0: perf stops at a record with an unknown id, but assigns id 0
 * to the first event. */
static void mend_id(struct conversion *c, pfr_record *rec) {
    const pfr_reader *r = c->reader;
    pfr_error lost;
    if (!c->recover || rec->tail == 0 || r->events.count < 2 || r->events.id_back == 0 || r->events.id_back > rec->tail)
        return;
    const uint32_t at = rec->size - r->events.id_back;
    const uint64_t id = load_u64(rec->bytes + at, r->context.swap);
    if (id == 0 || pfr_event_of_id(r, id) >= 0)
        return;
    memcpy(c->mended, rec->bytes, rec->size);
    memset(c->mended + at, 0, 8);
    rec->bytes = c->mended;
    pfr_fail(&lost, PFR_HOLE, rec->offset, rec->size, "sample_id.id", "an id that belongs to no event is set to 0");
    conversion_lost(c, &lost);
}

static pfr_status conversion_record(struct conversion *c, pfr_record *rec, pfr_error *err) {
    pfr_status s = PFR_OK;
    if (rec->type < FIRST_USER)
        note_time(c, time_of(c->reader, rec), rec->type == PFR_RECORD_SAMPLE);
    if (is_void(c) || conversion_special(c, rec, &s, err) || says_data_in_vain(c, rec) || is_left_out(c, rec))
        return s;
    if (conversion_is_refused(c, rec))
        return PFR_OK;
    mend_id(c, rec);
    c->written += conversion_counts(rec->type);
    c->counts.records++;
    c->counts.samples += rec->type == PFR_RECORD_SAMPLE;
    if (c->to == PFR_DIRECTORY && c->writer)
        PFR_TRY(pfr_writer_part(c->writer, part_of_record(c, rec), err));
    if (!(rec->inside && c->keeps_packed))
        PFR_TRY(conversion_copy(c, rec, err));
    return rec->type == PFR_RECORD_SAMPLE && rec->event >= 0 && !rec->inside ? conversion_run(c, rec->event, err)
                                                                             : PFR_OK;
}

/* A damaged COMPRESSED record cannot be copied: the pass restarts and compresses the readable records in it again. */
static void conversion_hole(struct conversion *c, const pfr_error *hole) {
    c->holes++;
    if (c->keeps_packed && c->was_packed && (c->packed_length || strcmp(hole->where, "compressed") == 0))
        c->pack_anew = c->again = true;
    c->packed_length = 0;
    conversion_lost(c, hole);
}

/* Counts the holes that the reader counted but did not return from pfr_next one by one. */
static void count_unreported_holes(struct conversion *c) {
    const uint64_t holes = c->reader->damage.quality.holes;
    pfr_error lost;
    if (c->again || holes <= c->holes)
        return;
    pfr_fail(&lost, PFR_HOLE, PFR_NO_OFFSET, 0, "file_header", "%" PRIu64 " more errors in the header or the features",
             holes - c->holes);
    conversion_lost(c, &lost);
}

static pfr_status conversion_records(struct conversion *c, pfr_error *err) {
    pfr_record rec;
    pfr_error hole;
    pfr_status s;
    while (!c->again && (s = pfr_next(c->reader, &rec, &hole)) != PFR_END) {
        if (s < 0) {
            if (err)
                *err = hole;
            return s;
        }
        if (c->waiting.size)
            PFR_TRY(conversion_waiting(c, s == PFR_HOLE ? &hole : NULL, err));
        if (s == PFR_HOLE) {
            conversion_hole(c, &hole);
            continue;
        }
        if (c->packed_length)
            PFR_TRY(conversion_packed_is_good(c, err));
        PFR_TRY(conversion_record(c, &rec, err));
    }
    is_void(c);
    if (!c->again)
        PFR_TRY(conversion_waiting(c, NULL, err));
    count_unreported_holes(c);
    return c->packed_length ? conversion_packed_is_good(c, err) : PFR_OK;
}

/* --- Passes. */

static pfr_status one_pass(struct conversion *c, pfr_error *err) {
    c->again = c->rounds_written = false;
    c->rounds = (struct rounds){0};
    c->counts = (pfr_edit_counts){0};
    c->packed_length = c->events_given = c->waiting.size = 0;
    c->holes = c->written = c->refused_met = 0;
    c->first_time = c->last_time = 0;
    memset(c->given, 0, sizeof c->given);
    PFR_TRY(pfr_rewind(c->reader, err));
    PFR_TRY(features_unread(c->reader, err)); /* event names depend on features */
    PFR_TRY(conversion_front(c, err));
    PFR_TRY(conversion_records(c, err));
    if (c->again || !c->writer)
        return PFR_OK;
    PFR_TRY(conversion_events(c, err));
    if (c->recover)
        PFR_TRY(repair_end(c, err));
    PFR_TRY(features_unread(c->reader, err));
    PFR_TRY(writer_fill(c->writer, err));
    conversion_check(c);
    return c->again ? PFR_OK : pfr_writer_finish(c->writer, err);
}

static pfr_compression compression_of(const struct conversion *c) {
    const pfr_edit_compression asked = c->options->compression;
    const bool anew = asked == PFR_EDIT_AS_IT_IS && c->pack_anew && c->was_packed;
    return asked == PFR_EDIT_COMPRESS || anew ? PFR_ZSTD_FRAMES : PFR_PLAIN;
}

pfr_write_options conversion_how(const struct conversion *c) {
    const pfr_edit_options *o = c->options;
    const bool big = c->reader->header.big_endian;
    return (pfr_write_options){
        .size = sizeof(pfr_write_options),
        .alloc = &c->reader->memory.alloc,
        .container = c->to,
        .order = o->order != PFR_ORDER_HOST ? o->order
                 : big                      ? PFR_ORDER_BIG
                                            : PFR_ORDER_LITTLE,
        .compression = compression_of(c),
        .level = o->level,
        .attr_size = o->attr_size,
    };
}

static bool keeps_packed(const struct conversion *c) {
    return !c->pack_anew && c->options->compression == PFR_EDIT_AS_IT_IS;
}

pfr_status conversion_pass(struct conversion *c, pfr_writer *writer, pfr_error *err) {
    if (!writer)
        return err ? err->status : PFR_ERR_IO;
    c->writer = writer;
    const pfr_status s = one_pass(c, err);
    pfr_writer_close(c->writer);
    c->writer = NULL;
    return s;
}

static pfr_status write_pass(struct conversion *c, pfr_error *err) {
    c->keeps_packed = keeps_packed(c);
    const pfr_write_options how = conversion_how(c);
    return conversion_pass(c, pfr_writer_open(c->options->path, &how, err), err);
}

static pfr_status attr_size_can_be(const struct conversion *c, pfr_error *err) {
    const uint32_t size = c->options->attr_size;
    for (uint32_t i = 0; size && i < c->reader->events.count; i++) {
        const struct pfr_rec_attr *a = &c->reader->events.list[i].public.attr;
        if ((size < ATTR_DECIDES + 8 && a->sample_regs_intr) || (size < 88 && a->sample_regs_user) ||
            (size < 80 && a->branch_sample_type))
            return pfr_fail(
                err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "attr_size",
                "attrs of %u bytes are too short for the settings that define the sample layout of event %u", size, i);
    }
    return PFR_OK;
}

static void plan(struct conversion *c) {
    const pfr_edit_options *o = c->options;
    const pfr_header *h = &c->reader->header;
    c->to = strcmp(o->path, "-") == 0 ? PFR_PIPE : o->to_form ? o->container : h->container;
    c->same_order = o->order == PFR_ORDER_HOST || (o->order == PFR_ORDER_BIG) == h->big_endian;
    c->verbatim = h->container == PFR_PIPE && c->to == PFR_PIPE && c->same_order && !o->attr_size && !c->recover;
    c->without_rounds = c->to == PFR_DIRECTORY;
    c->pack_anew = c->recover || !c->same_order || h->container == PFR_DIRECTORY || c->to == PFR_DIRECTORY;
}

/* Output written to a stream cannot be taken back, so a dry pass first finds every reason to restart. */
static pfr_status look_first(struct conversion *c, pfr_error *err) {
    if (c->to != PFR_PIPE)
        return PFR_OK;
    c->again = true;
    for (unsigned pass = 0; c->again && pass < PASSES; pass++) {
        c->keeps_packed = keeps_packed(c); /* evaluated again: the last pass may have set pack_anew */
        PFR_TRY(one_pass(c, err));
    }
    return conversion_try(c, err);
}

static pfr_status conversion_over(struct conversion *c, pfr_edit_counts *counts, pfr_error *err) {
    if (c->reader->trace)
        return conversion_trace(c->reader, c->options, counts, err);
    if (c->options->trace != PFR_EDIT_TRACE_SAME)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "trace",
                        "the input is not an XRay trace and cannot be converted to one");
    plan(c);
    PFR_TRY(attr_size_can_be(c, err));
    c->packed = mem_alloc(&c->reader->memory, ROOMS, RECORD_MOST);
    if (!c->packed)
        return mem_fail(&c->reader->memory, err, "compressed");
    c->mended = c->packed + RECORD_MOST;
    c->waiting_bytes = c->mended + RECORD_MOST;
    pfr_status s = look_first(c, err);
    for (unsigned pass = 0; s >= 0 && pass < PASSES; pass++)
        if ((s = write_pass(c, err)) < 0 || !c->again)
            break;
    mem_free(&c->reader->memory, c->packed, ROOMS, RECORD_MOST);
    if (counts)
        *counts = c->counts;
    return s < 0 || c->counts.lost == 0 ? s : PFR_HOLE;
}

pfr_status pfr_convert(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err) {
    pfr_error own;
    struct conversion c = {.reader = reader, .options = options, .trial = -1};
    if (options->quipper)
        return quipper_write(reader, options, counts, err ? err : &own);
    return conversion_over(&c, counts, err ? err : &own);
}

pfr_status pfr_recover(pfr_reader *reader, const pfr_edit_options *options, pfr_edit_counts *counts, pfr_error *err) {
    pfr_error own;
    struct conversion c = {.reader = reader, .options = options, .recover = true, .trial = -1};
    return conversion_over(&c, counts, err ? err : &own);
}
