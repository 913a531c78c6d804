/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints the overview of a recording: one line per fact, which begins with the fact's name; lists are indented below
 * that line. The whole recording is read first, because counts need it, and streams have facts between the records.
 */
#include "base/text/text.h"
#include "view/info/info_attr.h"
#include "view/info/info_overview.h"
#include "view/info/info_xray.h"

#include <perfray/quality.h>

static void say_form(pfr_output *to, const pfr_header *header) {
    static const char *const containers[] = {
        [PFR_FILE] = "perf.data file", [PFR_PIPE] = "perf.data stream", [PFR_DIRECTORY] = "perf.data directory"};
    overview_label(to, "format");
    say(to, "%s, %s-endian, %s%s\n", containers[header->container], header->big_endian ? "big" : "little",
        header->version == 1 ? "PERFFILE" : "PERFILE2", header->not_finalised ? ", not finalised" : "");
    if (header->parts > 1) {
        overview_label(to, "parts");
        say(to, "%" PRIu32 "\n", header->parts);
    }
}

static void say_header_sizes(pfr_output *to, const pfr_header *header) {
    overview_label(to, "header");
    say(to, "%" PRIu64 " bytes", header->header_size);
    if (header->container != PFR_PIPE) {
        say(to, ", %" PRIu64 " an event; records %" PRIu64 " bytes at %" PRIu64, header->attr_size, header->data_size,
            header->data_offset);
        if (header->data_size != header->data_size_said)
            say(to, " (header: %" PRIu64 ")", header->data_size_said);
    }
    say(to, "\n");
}

static void say_event_line(const struct info *info, uint32_t index) {
    static const struct attr_style indented = {"\n                ", ", ", ": "};
    const pfr_event *event = pfr_get_event(info->reader, index);
    const struct event_count count = facts_of_event(&info->facts, index);
    say(info->to, "  ");
    say_name(info->to, event->name);
    say(info->to, ": %" PRIu64 " samples", count.samples);
    if (count.lost)
        say(info->to, ", %" PRIu64 " lost", count.lost);
    if (event->nr_ids)
        say(info->to, ", %" PRIu64 " ids", event->nr_ids);
    say_attr(info->to, &event->attr, &indented);
    say(info->to, "\n");
}

static void say_events(const struct info *info) {
    const uint32_t count = pfr_event_count(info->reader);
    overview_label(info->to, "events");
    say(info->to, "%" PRIu32 "\n", count);
    for (uint32_t i = 0; i < count; i++)
        say_event_line(info, i);
}

static void say_span(pfr_output *to, const struct info_facts *facts) {
    if (facts->first_time > facts->last_time)
        return;
    overview_label(to, "samples from");
    out_time(&to->out, facts->first_time, 6);
    say(to, " to ");
    out_time(&to->out, facts->last_time, 6);
    say(to, " s, ");
    out_time(&to->out, facts->last_time - facts->first_time, 6);
    say(to, " s in all\n");
}

static void say_type_line(void *context, uint32_t type, uint64_t count) {
    char room[TYPE_NAME_ROOM];
    say(context, "  %-20s %10" PRIu64 "\n", record_type_name(type, room), count);
}

static void say_records(const struct info *info) {
    overview_label(info->to, "records");
    say(info->to, "%" PRIu64 "\n", info->facts.total);
    facts_each_type(&info->facts, say_type_line, info->to);
    if (info->facts.untold)
        say(info->to, "  %-20s %10" PRIu64 "\n", "further types", info->facts.untold);
}

static void say_aux(pfr_output *to, const struct info_facts *facts) {
    if (facts->aux_buffers == 0)
        return;
    overview_label(to, "AUX buffers");
    say(to, "%" PRIu64 ", %" PRIu64 " bytes\n", facts->aux_buffers, facts->aux_bytes);
}

static void say_compression(pfr_output *to, const struct info_facts *facts) {
    if (facts->compressed_bytes == 0)
        return;
    overview_label(to, "compressed");
    say(to, "%" PRIu64 " bytes of records in %" PRIu64 " bytes, ratio ", facts->inner_bytes, facts->compressed_bytes);
    say_f64(to, (double)facts->inner_bytes / (double)facts->compressed_bytes, 1, 0);
    say(to, "\n");
}

static void say_quality(pfr_output *to, const pfr_quality *quality) {
    overview_label(to, "quality");
    const char *blank = "";
#define SAY_FIELD(key, member, doc)                                                                                    \
    say(to, "%s" key "=%" PRIu64, blank, (uint64_t)quality->member);                                                   \
    blank = " ";
    PFR_QUALITY_FIELDS(SAY_FIELD)
#undef SAY_FIELD
    say(to, "\n");
}

pfr_status info_overview(struct info *info, pfr_error *err) {
    info->facts.wants_times = true;
    const pfr_status status = facts_collect(&info->facts, err);
    const struct feature_scene scene = {info->to, info->reader, false};
    if (info->facts.traced.at) {
        overview_trace(info);
        say_records(info);
        say_quality(info->to, pfr_get_quality(info->reader));
        return status;
    }
    say_form(info->to, pfr_get_header(info->reader));
    say_header_sizes(info->to, pfr_get_header(info->reader));
    overview_machine(&scene, info->options.captured);
    say_span(info->to, &info->facts);
    say_events(info);
    overview_groups(&scene);
    say_records(info);
    overview_contents(&scene);
    say_aux(info->to, &info->facts);
    say_compression(info->to, &info->facts);
    overview_unknown(&scene);
    say_quality(info->to, pfr_get_quality(info->reader));
    return status;
}
