/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the whole dump: shows pseudo records, then every selected record and the ranges that could not be used. */
#include "view/dump/dump_form.h"
#include "view/dump/dump_aux.h"
#include "view/dump/dump_perf.h"
#include "view/dump/dump_hole.h"
#include "view/dump/dump_begin.h"
#include "view/dump/dump_record.h"
#include "view/dump/dump_filter.h"
#include "view/dump/dump_decode.h"
#include "view/dump/dump_walk.h"

#include "file/read/features.h"

#include <inttypes.h>

#define PATH_ROOM 1024

static pfr_status show_record(struct dump *d, const pfr_record *rec, pfr_error *err) {
    const unsigned layout = dump_layout_of(d, rec->type);
    if (!dump_wants(d, rec, layout))
        return PFR_OK;
    d->counts.records++;
    if (d->options.format == PFR_DUMP_PERF)
        return dump_perf_record(d, rec, err);
    dump_show_record(d, rec, layout);
    return PFR_OK;
}

/* Reports a range that the reader could not use; if it is a single record, also shows the record. */
static pfr_status show_hole(struct dump *d, const pfr_record *rec, const pfr_error *hole, pfr_error *err) {
    const uint64_t damaged = d->counts.damaged;
    pfr_status s = PFR_OK;
    dump_report_hole(d, hole);
    d->quiet = true;
    if (rec->bytes)
        s = show_record(d, rec, err);
    d->quiet = false;
    d->counts.holes += d->counts.damaged == damaged;
    return s;
}

static pfr_status show_records(struct dump *d, pfr_error *err) {
    pfr_record rec;
    pfr_error own;
    pfr_status s;
    while ((s = pfr_next(d->reader, &rec, &own)) >= 0 && s != PFR_END && !pfr_output_failed(d->to)) {
        PFR_TRY(s == PFR_HOLE ? show_hole(d, &rec, &own, err) : show_record(d, &rec, err));
        if (d->failed < 0 && err)
            *err = d->why;
        PFR_TRY(d->failed);
    }
    if (s < 0 && err)
        *err = own;
    return s < 0 ? s : PFR_OK;
}

/* Reports damaged features of a stream. These are records, whose payloads were shown as far as they match their
   layout. */
static void report_features(struct dump *d) {
    pfr_error hole;
    for (uint32_t i = 0; i < pfr_feature_count(d->reader); i++) {
        const pfr_feature *feature = pfr_get_feature(d->reader, i, NULL);
        if (feature && pfr_check_feature(d->reader, feature, &hole) == PFR_HOLE)
            dump_report_hole(d, &hole);
    }
}

/* Reports a doubt: the instrumentation maps may belong to another program than the traced one. */
static void report_name_doubt(struct dump *d) {
    char text[PATH_ROOM];
    pfr_error why;
    if (name_limits_met(&d->functions.limits, &why))
        dump_report_hole(d, &why);
    if (d->options.note && function_names_doubt(&d->functions, text, sizeof text))
        d->options.note(d->options.hole_context, text);
}

static pfr_status run(struct dump *d, pfr_error *err) {
    if (d->reader->trace && (d->options.format == PFR_DUMP_PERF || d->options.aux_folder))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "format",
                        "perf's format and AUX data apply only to perf.data; this is an XRay trace");
    if (!d->reader->trace && d->options.instr_maps)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map",
                        "instrumentation maps apply only to XRay traces; this is perf.data");
    const struct function_names_options how = {.naming = {.instr_maps = d->options.instr_maps}, .trace = d->reader};
    PFR_TRY(function_names_open(&d->functions, &d->to->memory, &how, err));
    PFR_TRY(dump_filter_make(&d->filter, &d->options, err));
    if (d->filter.timed)
        PFR_TRY(xray_clock_learn(d->reader, err));
    d->clock = xray_clock_of(d->reader);
    PFR_TRY(dump_tables_make(d, err));
    if (d->options.aux_folder)
        return dump_aux(d, err);
    if (d->options.format != PFR_DUMP_PERF)
        PFR_TRY(dump_begin(d, err));
    PFR_TRY(show_records(d, err));
    if (pfr_get_header(d->reader)->container == PFR_PIPE)
        report_features(d);
    return PFR_OK;
}

/* Members that an older, smaller struct of the caller lacks stay 0. */
static void copy_sized(void *to, const void *from, size_t own, size_t theirs) {
    memcpy(to, from, theirs < own ? theirs : own);
}

static void give_counts(const struct dump *d) {
    pfr_dump_counts *to = d->options.counts;
    if (!to)
        return;
    const size_t size = to->size;
    copy_sized(to, &d->counts, sizeof d->counts, size);
    to->size = size;
}

static pfr_status judge(const struct dump *d, pfr_error *err) {
    const pfr_quality *quality = pfr_get_quality(d->reader);
    const uint64_t all = d->counts.holes + d->counts.damaged;
    const uint64_t holes = (quality->holes > all ? quality->holes : all) - d->counts.damaged;
    if (holes == 0 && d->reported == 0)
        return PFR_OK;
    return pfr_fail(err, PFR_HOLE, PFR_NO_OFFSET, 0, "dump",
                    "%" PRIu64 " byte ranges are not records, %" PRIu64 " records do not fit their layout, %" PRIu64
                    " ranges could not be used",
                    holes, d->counts.damaged, d->reported);
}

pfr_status pfr_dump(pfr_reader *reader, const pfr_dump_options *options, pfr_output *out, pfr_error *err) {
    static const struct dump_form *const forms[] = {
        [PFR_DUMP_TEXT] = &dump_text_form, [PFR_DUMP_JSON_LINES] = &dump_json_form, [PFR_DUMP_PERF] = NULL};
    struct dump *d = mem_zeroed(&out->memory, 1, sizeof *d);
    if (!d)
        return mem_fail(&out->memory, err, "dump");
    d->reader = reader;
    d->to = out;
    d->out = &out->out;
    if (options)
        copy_sized(&d->options, options, sizeof d->options, options->size);
    pfr_status s = PFR_ERR_USAGE;
    if ((unsigned)d->options.format < sizeof forms / sizeof *forms) {
        d->form = forms[d->options.format];
        s = run(d, err);
    } else {
        pfr_fail(err, s, PFR_NO_OFFSET, 0, "format", "there is no such format");
    }
    if (s == PFR_OK)
        s = features_unread(reader, err);
    if (s == PFR_OK)
        s = out_flush(d->out, err);
    if (s == PFR_OK)
        report_name_doubt(d);
    if (s == PFR_OK)
        s = judge(d, err);
    give_counts(d);
    function_names_close(&d->functions);
    dump_tables_free(d);
    mem_free(&out->memory, d, 1, sizeof *d);
    return s;
}
