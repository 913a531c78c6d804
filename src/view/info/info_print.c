/* SPDX-License-Identifier: Apache-2.0 */
/* pfr_info_print: selects the part and the form. */
#include "view/info/info_build_ids.h"
#include "view/info/info_events.h"
#include "view/info/info_header.h"
#include "view/info/info_json.h"
#include "view/info/info_overview.h"
#include "view/info/info_stats.h"

#include "base/memory/fail.h"
#include "file/read/features.h"

typedef pfr_status info_printer(struct info *info, pfr_error *err);

static info_printer *const text_printers[] = {
    [PFR_INFO_OVERVIEW] = info_overview,
    [PFR_INFO_EVENTS] = info_events,
    [PFR_INFO_BUILD_IDS] = info_build_ids,
    [PFR_INFO_STATS] = info_stats,
};

static info_printer *choose_printer(const pfr_reader *reader, const pfr_info_options *options) {
    if ((unsigned)options->part > PFR_INFO_STATS || (unsigned)options->format > PFR_INFO_JSON)
        return NULL;
    if (options->format == PFR_INFO_JSON)
        return info_json;
    if (reader->trace && options->format == PFR_INFO_PERF)
        return NULL;
    if (options->format == PFR_INFO_PERF && options->part == PFR_INFO_OVERVIEW)
        return info_header;
    return text_printers[options->part];
}

/* Printers of single facts skip features that cannot be read. This function reports that some were skipped. */
static pfr_status report_left_out(const struct info *info, pfr_error *err) {
    if (info->to->memory.failed != PFR_OK)
        return mem_fail(&info->to->memory, err, "info");
    return features_unread(info->reader, err);
}

pfr_status pfr_info_print(pfr_reader *reader, const pfr_info_options *options, pfr_output *out, pfr_error *err) {
    pfr_error mine = {0};
    struct info info = {.to = out, .reader = reader};
    if (!err)
        err = &mine;
    if (options)
        memcpy(&info.options, options, options->size < sizeof info.options ? options->size : sizeof info.options);
    info_printer *const print = choose_printer(reader, &info.options);
    if (!print)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "pfr_info_options",
                        reader->trace ? "perf's header text applies only to perf.data; this is an XRay trace"
                                      : "no such part or form of info");
    out->memory.failed = PFR_OK;
    facts_init(&info.facts, reader, &out->memory);
    const pfr_status status = print(&info, err);
    facts_free(&info.facts);
    return status < 0 ? status : report_left_out(&info, err);
}
