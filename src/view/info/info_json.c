/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Prints any part of `info` as JSON (docs/json/info.schema.json). A document contains only the members of its part; the
 * overview contains all. Addresses, masks and object ids are strings, counts are numbers.
 */
#include "view/info/info_attr.h"
#include "view/info/info_bpf.h"
#include "view/info/info_feature.h"
#include "view/info/info_overview.h"
#include "view/info/info_json.h"
#include "view/info/info_build_ids.h"
#include "view/info/info_events.h"
#include "view/info/info_xray.h"

#include <perfray/quality.h>

#define INFO_JSON_VERSION 1u

static void json_view(struct json *json, const char *key, const pfr_text *text) {
    json_key(json, key);
    json_string(json, text->at, text->length);
}

static void json_number(struct json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_u64(json, value);
}

static void json_word(struct json *json, const char *key, const char *word) {
    json_key(json, key);
    json_text(json, word);
}

static void json_file(struct json *json, const pfr_header *header) {
    static const char *const containers[] = {[PFR_FILE] = "file", [PFR_PIPE] = "stream", [PFR_DIRECTORY] = "directory"};
    json_key(json, "file");
    json_begin_object(json);
    json_word(json, "container", containers[header->container]);
    json_word(json, "byte_order", header->big_endian ? "big" : "little");
    json_number(json, "version", header->version);
    json_key(json, "finalised");
    json_bool(json, !header->not_finalised);
    json_number(json, "parts", header->parts);
    json_number(json, "header_size", header->header_size);
    if (header->format == PFR_PERF_DATA && header->container != PFR_PIPE) {
        json_number(json, "attr_size", header->attr_size);
        json_number(json, "data_offset", header->data_offset);
        json_number(json, "data_size", header->data_size);
        json_number(json, "data_size_said", header->data_size_said);
    }
    if (header->file_size != UINT64_MAX)
        json_number(json, "file_size", header->file_size);
    json_end_object(json);
}

static void json_string_feature(struct json *json, const struct feature_scene *scene, const char *key, uint32_t bit) {
    struct pfr_rec_feature_hostname body; /* all features that consist of one string have this layout */
    if (find_feature_body(scene, bit, &body, sizeof body))
        json_view(json, key, &body.hostname);
}

static void json_machine(struct json *json, const struct feature_scene *scene) {
    static const struct {
        const char *key;
        uint32_t bit;
    } strings[] = {{"host", 3}, {"kernel", 4}, {"recorder", 5}, {"machine", 6}, {"cpu", 8}, {"cpuid", 9}};
    struct pfr_rec_feature_nrcpus cpus;
    struct pfr_rec_feature_total_mem memory;
    json_key(json, "machine");
    json_begin_object(json);
    for (size_t i = 0; i < sizeof strings / sizeof *strings; i++)
        json_string_feature(json, scene, strings[i].key, strings[i].bit);
    if (find_feature_body(scene, 7, &cpus, sizeof cpus)) {
        json_number(json, "cpus_online", cpus.online);
        json_number(json, "cpus_available", cpus.available);
    }
    if (find_feature_body(scene, 10, &memory, sizeof memory))
        json_number(json, "memory_kb", memory.total_mem);
    json_end_object(json);
}

static void json_command(struct json *json, const struct feature_scene *scene) {
    struct pfr_rec_feature_cmdline body;
    struct pfr_rec_string word;
    if (!find_feature_body(scene, 11, &body, sizeof body))
        return;
    json_key(json, "command");
    json_begin_array(json);
    EACH_PART(&body.words, word)
    json_string(json, word.text.at, word.text.length);
    json_end_array(json);
}

static void json_ids(struct json *json, const pfr_event *event) {
    json_key(json, "ids");
    json_begin_array(json);
    for (uint64_t i = 0; i < event->nr_ids; i++)
        json_u64(json, event->ids[i]);
    json_end_array(json);
}

static void json_event(struct json *json, const pfr_event *event, const struct event_count *count) {
    json_begin_object(json);
    json_word(json, "name", event->name);
    json_key(json, "named");
    json_bool(json, event->named);
    if (event->unit)
        json_word(json, "unit", event->unit);
    if (event->scale < 1 || event->scale > 1) {
        json_key(json, "scale");
        json_f64(json, event->scale);
    }
    json_ids(json, event);
    json_key(json, "attr");
    json_begin_object(json);
    json_attr(json, &event->attr);
    json_end_object(json);
    if (count) {
        json_number(json, "samples", count->samples);
        json_number(json, "lost_samples", count->lost);
    }
    json_end_object(json);
}

static void json_events(struct json *json, const struct info *info, bool counted) {
    json_key(json, "events");
    json_begin_array(json);
    for (uint32_t i = 0; i < pfr_event_count(info->reader); i++) {
        const struct event_count count = facts_of_event(&info->facts, i);
        json_event(json, pfr_get_event(info->reader, i), counted ? &count : NULL);
    }
    json_end_array(json);
}

static void json_groups(struct json *json, const struct feature_scene *scene) {
    struct pfr_rec_feature_group_desc body;
    struct pfr_rec_group_desc_entry group;
    json_key(json, "groups");
    json_begin_array(json);
    if (find_feature_body(scene, 17, &body, sizeof body)) {
        EACH_PART(&body.groups, group) {
            json_begin_object(json);
            json_view(json, "name", &group.name);
            json_number(json, "leader", group.leader_idx);
            json_number(json, "members", group.nr_members);
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void json_type(void *context, uint32_t type, uint64_t count) {
    struct json *json = context;
    char room[TYPE_NAME_ROOM];
    json_begin_object(json);
    json_number(json, "type", type);
    json_word(json, "name", record_type_name(type, room));
    json_number(json, "count", count);
    json_end_object(json);
}

static void json_records(struct json *json, const struct info_facts *facts) {
    json_number(json, "total", facts->total);
    json_key(json, "records");
    json_begin_array(json);
    facts_each_type(facts, json_type, json);
    json_end_array(json);
}

static pfr_status json_build_ids(struct json *json, const struct info *info, pfr_error *err) {
    struct object_list list;
    object_list_init(&list, &info->to->memory);
    const pfr_status status = object_list_fill(&list, info->reader, err);
    json_key(json, "build_ids");
    json_begin_array(json);
    for (uint32_t i = 0; i < list.names.count; i++) {
        const struct intern_text name = intern_get(&list.names, i);
        json_begin_object(json);
        json_key(json, "id");
        json_hex_bytes(json, list.ids[i].bytes, list.ids[i].length);
        json_key(json, "name");
        json_string(json, name.bytes, name.length);
        json_end_object(json);
    }
    json_end_array(json);
    object_list_free(&list);
    return status;
}

static void json_program(struct json *json, const struct bpf_program *program) {
    json_begin_object(json);
    json_number(json, "id", program->id);
    json_view(json, "name", &program->name);
    json_key(json, "tag");
    json_hex_bytes(json, program->tag, program->tag ? 8 : 0);
    json_number(json, "code_size", program->jited_size);
    json_number(json, "bytecode_size", program->xlated_size);
    json_end_object(json);
}

static void json_programs(struct json *json, const struct feature_scene *scene) {
    const bool swap = pfr_get_header(scene->reader)->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    struct pfr_rec_feature_bpf_prog_info body;
    struct pfr_rec_bpf_prog_info_entry entry;
    struct bpf_program program;
    json_key(json, "bpf_programs");
    json_begin_array(json);
    if (find_feature_body(scene, 25, &body, sizeof body)) {
        EACH_PART(&body.programs, entry) {
            bpf_program_read(&entry, swap, &program);
            json_program(json, &program);
        }
    }
    json_end_array(json);
}

static void json_features(struct json *json, const struct feature_scene *scene) {
    json_key(json, "features");
    json_begin_array(json);
    for (uint32_t i = 0; i < pfr_feature_count(scene->reader); i++) {
        const pfr_feature *feature = pfr_get_feature(scene->reader, i, NULL);
        if (!feature)
            continue;
        json_begin_object(json);
        json_number(json, "bit", feature->bit);
        if (feature->name)
            json_word(json, "name", feature->name);
        json_number(json, "offset", feature->offset);
        json_number(json, "size", feature->bytes.length);
        json_key(json, "whole");
        json_bool(json, feature->status == PFR_OK);
        json_end_object(json);
    }
    json_end_array(json);
}

static void json_facts(struct json *json, const struct feature_scene *scene, const struct info_facts *facts) {
    struct xray_count formats;
    if (facts->first_time <= facts->last_time) {
        json_number(json, "first_time", facts->first_time);
        json_number(json, "last_time", facts->last_time);
    }
    if (count_formats(scene, &formats)) {
        json_number(json, "tracepoint_systems", formats.systems);
        json_number(json, "tracepoint_formats", formats.formats);
    }
    json_number(json, "aux_buffers", facts->aux_buffers);
    json_number(json, "aux_bytes", facts->aux_bytes);
    json_number(json, "compressed_bytes", facts->compressed_bytes);
    json_number(json, "inner_bytes", facts->inner_bytes);
}

static void json_quality(struct json *json, const pfr_quality *quality) {
    json_key(json, "quality");
    json_begin_object(json);
#define JSON_FIELD(key, member, doc) json_number(json, key, (uint64_t)quality->member);
    PFR_QUALITY_FIELDS(JSON_FIELD)
#undef JSON_FIELD
    json_end_object(json);
}

static void json_header_parts(struct json *json, const struct info *info, const struct feature_scene *scene) {
    if (info->options.captured) {
        json_key(json, "captured");
        json_i64(json, info->options.captured);
    }
    json_file(json, pfr_get_header(info->reader));
    json_machine(json, scene);
    json_command(json, scene);
}

/* The overview of a stream has no build ids, because finding them would require a second pass over the records. The
 * build ids of a file are in a feature. */
static pfr_status json_overview(struct json *json, struct info *info, pfr_error *err) {
    const struct feature_scene scene = {info->to, info->reader, false};
    info->facts.wants_times = true;
    const pfr_status status = facts_collect(&info->facts, err);
    json_header_parts(json, info, &scene);
    if (info->facts.traced.at)
        json_trace(json, info);
    json_events(json, info, true);
    json_groups(json, &scene);
    json_records(json, &info->facts);
    json_facts(json, &scene, &info->facts);
    if (pfr_find_feature(info->reader, 2, NULL))
        json_build_ids(json, info, NULL);
    json_programs(json, &scene);
    json_features(json, &scene);
    json_quality(json, pfr_get_quality(info->reader));
    return status;
}

static pfr_status json_event_list(struct json *json, struct info *info, pfr_error *err) {
    const bool stream = pfr_get_header(info->reader)->container == PFR_PIPE;
    const pfr_status status = stream ? read_to_end(info->reader, err) : PFR_OK;
    json_events(json, info, false);
    return status;
}

static pfr_status json_object_list(struct json *json, struct info *info, pfr_error *err) {
    return json_build_ids(json, info, err);
}

static pfr_status json_stats(struct json *json, struct info *info, pfr_error *err) {
    const pfr_status status = facts_collect(&info->facts, err);
    json_records(json, &info->facts);
    json_events(json, info, true);
    return status;
}

static pfr_status (*const json_parts[])(struct json *json, struct info *info, pfr_error *err) = {
    [PFR_INFO_OVERVIEW] = json_overview,
    [PFR_INFO_EVENTS] = json_event_list,
    [PFR_INFO_BUILD_IDS] = json_object_list,
    [PFR_INFO_STATS] = json_stats,
};

pfr_status info_json(struct info *info, pfr_error *err) {
    struct json json = json_on(&info->to->out, JSON_PRETTY);
    json_begin_object(&json);
    json_number(&json, "version", INFO_JSON_VERSION);
    const pfr_status status = json_parts[info->options.part](&json, info, err);
    json_end_object(&json);
    json_end_line(&json);
    return status;
}
