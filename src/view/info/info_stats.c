/* SPDX-License-Identifier: Apache-2.0 */
/* Counts as `perf report --stats` prints them: by type, then by event. */
#include "view/info/info_stats.h"
#include "wire/feature_bits.h"

struct stats_scene {
    pfr_output *to;
    uint64_t total;
};

static void say_count(pfr_output *to, const char *name, uint64_t count) {
    say(to, "%16s events: %10" PRIu64, name, count);
}

static void say_type(void *context, uint32_t type, uint64_t count) {
    const struct stats_scene *scene = context;
    char room[TYPE_NAME_ROOM];
    say_count(scene->to, record_type_name(type, room), count);
    say(scene->to, "  (");
    say_f64(scene->to, 100.0 * (double)count / (double)scene->total, 1, 4);
    say(scene->to, "%%)\n");
}

static void say_event_counts(pfr_output *to, const char *name, struct event_count count) {
    if (count.samples == 0 && count.lost == 0)
        return;
    say_name(to, name);
    say(to, " stats:\n");
    if (count.samples) {
        say_count(to, "SAMPLE", count.samples);
        say(to, "\n");
    }
    if (count.lost) {
        say_count(to, "LOST_SAMPLES", count.lost);
        say(to, "\n");
    }
}

pfr_status info_stats(struct info *info, pfr_error *err) {
    const pfr_status status = facts_collect(&info->facts, err);
    struct stats_scene scene = {info->to, info->facts.total};
    say(info->to, "\nAggregated stats:%s\n",
        pfr_get_header(info->reader)->features[0] >> BIT_AUXTRACE & 1
            ? " (excludes AUX area (e.g. instruction trace) decoded / synthesized events)"
            : "");
    if (info->facts.total) {
        say_count(info->to, "TOTAL", info->facts.total);
        say(info->to, "\n");
    }
    facts_each_type(&info->facts, say_type, &scene);
    for (uint32_t i = 0; i < pfr_event_count(info->reader); i++)
        say_event_counts(info->to, pfr_get_event(info->reader, i)->name, facts_of_event(&info->facts, i));
    return status;
}
