/* SPDX-License-Identifier: Apache-2.0 */
/* The features that describe the recording: how it was started, its events, times and clocks. */
#include <time.h>
#include "base/text/text.h"
#include "view/info/info_attr.h"
#include "view/info/info_feature.h"
#include "wire/layout.h"
#include "wire/names.h"

#define NS_PER_S 1000000000u

static void say_argument(pfr_output *to, const pfr_text *word) {
    uint32_t from = 0;
    for (uint32_t at = 0; at < word->length; at++) {
        if (word->at[at] != '\'')
            continue;
        print_name(to, word->at + from, at - from);
        say(to, "\\'");
        from = at + 1;
    }
    print_name(to, word->at + from, word->length - from);
    say(to, " ");
}

void say_arguments(pfr_output *to, const pfr_items *words) {
    struct pfr_rec_string word;
    EACH_PART(words, word)
    say_argument(to, &word.text);
}

void say_cmdline(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_cmdline body;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# cmdline : ");
    say_arguments(scene->to, &body.words);
    say(scene->to, "\n");
}

static void say_ids(pfr_output *to, const pfr_u64s *ids) {
    say(to, ", id = {");
    for (uint64_t i = 0; i < ids->count; i++)
        say(to, "%s %" PRIu64, i ? "," : "", pfr_u64s_at(ids, i));
    say(to, " }");
}

void say_event_desc(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_event_desc body;
    struct pfr_rec_event_desc_entry event;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    EACH_PART(&body.events, event) {
        say(scene->to, "# event : name = ");
        say_view(scene->to, &event.name);
        say(scene->to, ", ");
        if (event.ids.count)
            say_ids(scene->to, &event.ids);
        say_attr(scene->to, &event.attr, &attr_style_header);
        say(scene->to, "\n");
    }
}

void say_branch_stack(const struct feature_scene *scene, const pfr_feature *feature) {
    (void)feature;
    say(scene->to, "# contains samples with branch stack\n");
}

void say_auxtrace(const struct feature_scene *scene, const pfr_feature *feature) {
    (void)feature;
    say(scene->to, "# contains AUX area data (e.g. instruction trace)\n");
}

void say_stat(const struct feature_scene *scene, const pfr_feature *feature) {
    (void)feature;
    say(scene->to, "# contains stat data\n");
}

static bool is_anonymous(const pfr_text *group) {
    static const char anonymous[] = "{anon_group}";
    return group->length == sizeof anonymous - 1 && memcmp(group->at, anonymous, group->length) == 0;
}

bool group_follows(const struct feature_scene *scene, const struct pfr_rec_group_desc_entry *group, uint32_t *next) {
    const uint32_t events = pfr_event_count(scene->reader);
    if (group->leader_idx < *next || group->leader_idx >= events || group->nr_members > events - group->leader_idx)
        return false;
    *next = group->leader_idx + group->nr_members;
    return true;
}

static void say_group(const struct feature_scene *scene, const struct pfr_rec_group_desc_entry *group) {
    say(scene->to, "# group: ");
    if (!is_anonymous(&group->name))
        say_view(scene->to, &group->name);
    for (uint32_t i = 0; i < group->nr_members; i++) {
        say(scene->to, i ? "," : "{");
        say_name(scene->to, pfr_get_event(scene->reader, group->leader_idx + i)->name);
    }
    say(scene->to, "}\n");
}

void say_group_desc(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_group_desc body;
    struct pfr_rec_group_desc_entry group;
    uint32_t next = 0;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    EACH_PART(&body.groups, group)
    if (group.nr_members > 1 && group_follows(scene, &group, &next))
        say_group(scene, &group);
}

void say_sample_time(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_sample_time body;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# time of first sample : ");
    out_time(&scene->to->out, body.first, 6);
    say(scene->to, "\n# time of last sample : ");
    out_time(&scene->to->out, body.last, 6);
    say(scene->to, "\n# sample duration : ");
    say_f64(scene->to, (double)(body.last - body.first) / 1e6, 3, 10);
    say(scene->to, " ms\n");
}

void say_clockid(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_clockid body;
    if (decode_feature(scene, feature, &body, sizeof body))
        say(scene->to, "# clockid frequency: %" PRIu64 " MHz\n", body.resolution * 1000);
}

void say_dir_format(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_dir_format body;
    if (decode_feature(scene, feature, &body, sizeof body))
        say(scene->to, "# directory data version : %" PRIu64 "\n", body.version);
}

void say_compressed(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_compressed body;
    if (decode_feature(scene, feature, &body, sizeof body))
        say(scene->to, "# compressed : %s, level = %" PRIu32 ", ratio = %" PRIu32 "\n",
            body.type == 1 ? "Zstd" : "Unknown", body.level, body.ratio);
}

const char *clock_word(uint32_t clockid) {
    static const char *const words[] = {
        [0] = "realtime", [1] = "monotonic", [4] = "monotonic_raw", [7] = "boottime", [11] = "tai"};
    const char *word = clockid < sizeof words / sizeof *words ? words[clockid] : NULL;
    return word ? word : "(not found)";
}

void say_moment(pfr_output *to, uint64_t nanoseconds) {
    const time_t seconds = (time_t)(nanoseconds / NS_PER_S);
    struct tm moment;
    if (!localtime_r(&seconds, &moment))
        return;
    say(to, "%04d-%02d-%02d %02d:%02d:%02d", moment.tm_year + 1900, moment.tm_mon + 1, moment.tm_mday, moment.tm_hour,
        moment.tm_min, moment.tm_sec);
    say(to, ".%06" PRIu64, nanoseconds % NS_PER_S / 1000);
}

void say_clock_data(const struct feature_scene *scene, const pfr_feature *feature) {
    struct pfr_rec_feature_clock_data body;
    if (!decode_feature(scene, feature, &body, sizeof body))
        return;
    say(scene->to, "# clockid: %s (%" PRIu32 ")\n# reference time: ", clock_word(body.clockid), body.clockid);
    say_moment(scene->to, body.wall_clock_ns);
    say(scene->to, " = ");
    out_time(&scene->to->out, body.wall_clock_ns, 6);
    say(scene->to, " (TOD) = ");
    out_time(&scene->to->out, body.clockid_time_ns, 9);
    say(scene->to, " (%s)\n", clock_word(body.clockid));
}
