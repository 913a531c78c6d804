/* SPDX-License-Identifier: Apache-2.0 */
/* Events with all members of their attrs, as printed by `perf evlist -v`. */
#include "view/info/info_attr.h"
#include "view/info/info_events.h"

#define ATTR_TYPE_TRACEPOINT 2u

pfr_status read_to_end(pfr_reader *reader, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    do
        status = pfr_next(reader, &rec, err);
    while (status >= 0 && status != PFR_END);
    return status < 0 ? status : PFR_OK;
}

pfr_status info_events(struct info *info, pfr_error *err) {
    const bool stream = pfr_get_header(info->reader)->container == PFR_PIPE;
    const pfr_status status = stream ? read_to_end(info->reader, err) : PFR_OK;
    bool has_tracepoint = false;
    for (uint32_t i = 0; i < pfr_event_count(info->reader); i++) {
        const pfr_event *event = pfr_get_event(info->reader, i);
        say_name(info->to, stream ? event->rebuilt : event->name); /* in a stream, perf evlist ignores names */
        say_attr(info->to, &event->attr, &attr_style_list);
        say(info->to, "\n");
        has_tracepoint |= event->attr.type == ATTR_TYPE_TRACEPOINT;
    }
    if (has_tracepoint)
        say(info->to, "# Tip: use 'perf evlist --trace-fields' to show fields for tracepoint events\n");
    return status;
}
