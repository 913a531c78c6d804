/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports the parts of a recording that could not be used: the first places, then the number of others.
 *
 * Printers of the library read past damage. Some printers call report_damage for each place; others only count damage.
 * If such a printer counted damage, the recording is read again to find the places. A stream that was not spooled
 * cannot be read again, so only its counts are reported.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "command.h"

#define PLACES_MOST 10

/* Reports the first unreadable ranges; returns how many were reported. */
static uint64_t complain_of_places(const struct task *task, pfr_reader *reader) {
    pfr_record rec;
    pfr_error err;
    pfr_status status;
    uint64_t reported = 0;
    if (pfr_rewind(reader, &err) < 0)
        return 0;
    while (reported < PLACES_MOST && (status = pfr_next(reader, &rec, &err)) >= 0 && status != PFR_END)
        if (status == PFR_HOLE && ++reported)
            complain_of(task->file, &err, NULL);
    return reported;
}

/* Reports features that are outside the file or cannot be decoded. */
static uint64_t complain_of_features(const struct task *task, pfr_reader *reader) {
    pfr_error err;
    uint64_t reported = 0;
    for (uint32_t i = 0; i < pfr_feature_count(reader); i++) {
        const pfr_feature *const feature = pfr_get_feature(reader, i, &err);
        if (feature && pfr_check_feature(reader, feature, &err) == PFR_HOLE && reported++ < PLACES_MOST)
            complain_of(task->file, &err, NULL);
    }
    return reported;
}

/* Reports samples with unknown ids: the recording does not describe their contents. */
static uint64_t complain_of_lost_events(const struct task *task, const pfr_quality *quality) {
    if (quality->unknown_ids > 0)
        complain("%s: %" PRIu64 " sample%s to no event", task->file, quality->unknown_ids,
                 quality->unknown_ids == 1 ? " belongs" : "s belong");
    return quality->unknown_ids;
}

static void complain_of_counts(const struct task *task, const pfr_quality *quality, uint64_t reported) {
    const uint64_t left = quality->holes > reported ? quality->holes - reported : 0;
    if (left > 0 && reported > 0)
        complain("%s: and %" PRIu64 " more ranges, %" PRIu64 " bytes in total", task->file, left, quality->hole_bytes);
    else if (left > 0)
        complain("%s: %" PRIu64 " bytes could not be used, in %" PRIu64 " range%s", task->file, quality->hole_bytes,
                 left, left == 1 ? "" : "s");
}

static bool complain_of_end(const struct task *task, const pfr_header *header) {
    if (header->not_finalised)
        complain("%s: the recorder was killed before it wrote the header's features (host name, build ids ...), and "
                 "the last "
                 "records may be missing",
                 task->file);
    else if (header->container != PFR_PIPE && header->data_size < header->data_size_said)
        complain("%s: %" PRIu64 " bytes of records are missing at the end: the file was cut", task->file,
                 header->data_size_said - header->data_size);
    else
        return false;
    return true;
}

void report_limit(void *file, const pfr_error *hole) {
    if (strcmp(hole->where, "depth") == 0 || strcmp(hole->where, "memory") == 0 || strcmp(hole->where, "trees") == 0)
        complain_of(file, hole, NULL);
}

void report_damage(void *context, const pfr_error *hole) {
    struct damage *const damage = context;
    if (damage->places++ < PLACES_MOST)
        complain_of(damage->file, hole, NULL);
    if (hole->offset != PFR_NO_OFFSET)
        damage->bytes += hole->length;
}

enum exit_status complain_of_reported_damage(const struct task *task, const struct damage *damage, pfr_reader *reader) {
    const bool is_cut = complain_of_end(task, pfr_get_header(reader));
    if (damage->places > PLACES_MOST)
        complain("%s: and %" PRIu64 " more ranges, %" PRIu64 " bytes in total", task->file,
                 damage->places - PLACES_MOST, damage->bytes);
    return is_cut || damage->places > 0 ? ENDS_PARTIAL : ENDS_FINE;
}

enum exit_status complain_of_damage(const struct task *task, pfr_reader *reader) {
    const pfr_quality quality = *pfr_get_quality(reader);
    const bool is_cut = complain_of_end(task, pfr_get_header(reader));
    const bool is_damaged = quality.holes > 0 || quality.truncated_bytes > 0;
    uint64_t reported = is_cut ? 0 : complain_of_features(task, reader);
    if (is_damaged)
        reported += complain_of_places(task, reader);
    if (!is_cut || reported == PLACES_MOST) /* bytes after the cut are counted too, but have no place */
        complain_of_counts(task, &quality, reported);
    reported += complain_of_lost_events(task, &quality);
    return is_cut || is_damaged || reported > 0 ? ENDS_PARTIAL : ENDS_FINE;
}
