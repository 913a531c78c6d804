/* SPDX-License-Identifier: Apache-2.0 */
/* Prints facts from header features for the overview: see info_overview.h. */
#include "file/read/tracing_blob.h"
#include "view/info/info_bpf.h"
#include "view/info/info_overview.h"
#include "wire/feature_bits.h"

bool find_feature_body(const struct feature_scene *scene, uint32_t bit, void *body, size_t size) {
    const pfr_feature *feature = pfr_find_feature(scene->reader, bit, NULL);
    return feature && decode_feature(scene, feature, body, size);
}

static void say_fact(pfr_output *to, const char *label, const pfr_text *text) {
    if (text->length == 0)
        return;
    overview_label(to, label);
    say_view(to, text);
    say(to, "\n");
}

/* Six features consist of one string. Their structs differ only in the name of the member. */
static void say_string_fact(const struct feature_scene *scene, const char *label, uint32_t bit) {
    struct pfr_rec_feature_hostname body;
    if (find_feature_body(scene, bit, &body, sizeof body))
        say_fact(scene->to, label, &body.hostname);
}

static void say_cpus(const struct feature_scene *scene) {
    struct pfr_rec_feature_nrcpus cpus;
    struct pfr_rec_feature_total_mem memory;
    if (find_feature_body(scene, BIT_NRCPUS, &cpus, sizeof cpus)) {
        overview_label(scene->to, "cpus");
        say(scene->to, "%" PRIu32 " online of %" PRIu32 "\n", cpus.online, cpus.available);
    }
    if (find_feature_body(scene, BIT_TOTAL_MEM, &memory, sizeof memory)) {
        overview_label(scene->to, "memory");
        say(scene->to, "%" PRIu64 " kB\n", memory.total_mem);
    }
}

static void say_command(const struct feature_scene *scene) {
    struct pfr_rec_feature_cmdline body;
    if (!find_feature_body(scene, BIT_CMDLINE, &body, sizeof body))
        return;
    overview_label(scene->to, "command");
    say_arguments(scene->to, &body.words);
    say(scene->to, "\n");
}

static void say_clock(const struct feature_scene *scene) {
    struct pfr_rec_feature_clock_data body;
    if (!find_feature_body(scene, BIT_CLOCK_DATA, &body, sizeof body) || body.wall_clock_ns == 0)
        return;
    overview_label(scene->to, "clock");
    say(scene->to, "%s, %" PRIu64 " ns at ", clock_word(body.clockid), body.clockid_time_ns);
    say_moment(scene->to, body.wall_clock_ns);
    say(scene->to, "\n");
}

static void say_file_time(pfr_output *to, int64_t captured) {
    if (captured <= 0)
        return;
    overview_label(to, "file of");
    say_moment(to, (uint64_t)captured * 1000000000u);
    say(to, "\n");
}

void overview_machine(const struct feature_scene *scene, int64_t captured) {
    say_file_time(scene->to, captured);
    say_string_fact(scene, "host", BIT_HOSTNAME);
    say_string_fact(scene, "kernel", BIT_OSRELEASE);
    say_string_fact(scene, "machine", BIT_ARCH);
    say_string_fact(scene, "cpu", BIT_CPUDESC);
    say_string_fact(scene, "cpuid", BIT_CPUID);
    say_cpus(scene);
    say_string_fact(scene, "recorder", BIT_VERSION);
    say_command(scene);
    say_clock(scene);
}

static void say_members(const struct feature_scene *scene, const struct pfr_rec_group_desc_entry *group,
                        uint32_t *next) {
    const bool follows = group_follows(scene, group, next);
    say(scene->to, "  ");
    say_view(scene->to, &group->name);
    for (uint32_t i = 0; follows && i < group->nr_members; i++) {
        say(scene->to, i ? ", " : ": ");
        say_name(scene->to, pfr_get_event(scene->reader, group->leader_idx + i)->name);
    }
    if (!follows)
        say(scene->to,
            ": %" PRIu32 " members from event %" PRIu32 ", invalid: beyond the events or in an earlier group",
            group->nr_members, group->leader_idx);
    say(scene->to, "\n");
}

void overview_groups(const struct feature_scene *scene) {
    struct pfr_rec_feature_group_desc body;
    struct pfr_rec_group_desc_entry group;
    uint32_t next = 0;
    if (!find_feature_body(scene, BIT_GROUP_DESC, &body, sizeof body) || body.groups.count == 0)
        return;
    overview_label(scene->to, "groups");
    say(scene->to, "%" PRIu64 "\n", body.groups.count);
    EACH_PART(&body.groups, group)
    say_members(scene, &group, &next);
}

bool count_formats(const struct feature_scene *scene, struct xray_count *count) {
    const pfr_feature *feature = pfr_find_feature(scene->reader, BIT_TRACING_DATA, NULL);
    struct tracing_blob blob;
    struct tracing_format format;
    *count = (struct xray_count){0};
    if (!feature || blob_open(&blob, feature->bytes.at, feature->bytes.length, feature->offset, NULL) != PFR_OK)
        return false;
    count->systems = blob.nr_systems;
    while (blob_next(&blob, &format, NULL) == PFR_OK)
        count->formats++;
    return true;
}

static void say_program(const struct feature_scene *scene, const struct bpf_program *program) {
    say(scene->to, "  %" PRIu32 " ", program->id);
    if (program->name.length)
        say_view(scene->to, &program->name);
    else
        say(scene->to, "(no name)");
    if (program->tag) {
        say(scene->to, ", tag ");
        out_hex_bytes(&scene->to->out, program->tag, 8);
    }
    say(scene->to, ", %" PRIu32 " bytes of code, %" PRIu32 " of bytecode\n", program->jited_size, program->xlated_size);
}

static void say_programs(const struct feature_scene *scene) {
    const bool swap = pfr_get_header(scene->reader)->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    struct pfr_rec_feature_bpf_prog_info body;
    struct pfr_rec_bpf_prog_info_entry entry;
    struct bpf_program program;
    if (!find_feature_body(scene, BIT_BPF_PROG_INFO, &body, sizeof body) || body.programs.count == 0)
        return;
    overview_label(scene->to, "BPF programs");
    say(scene->to, "%" PRIu64 "\n", body.programs.count);
    EACH_PART(&body.programs, entry) {
        bpf_program_read(&entry, swap, &program);
        say_program(scene, &program);
    }
}

void overview_contents(const struct feature_scene *scene) {
    struct pfr_rec_feature_build_id body;
    struct pfr_rec_build_id_entry entry;
    struct xray_count formats;
    uint64_t build_ids = 0;
    if (find_feature_body(scene, BIT_BUILD_ID, &body, sizeof body)) {
        EACH_PART(&body.entries, entry)
        build_ids++;
        overview_label(scene->to, "build-ids");
        say(scene->to, "%" PRIu64 "\n", build_ids);
    }
    if (count_formats(scene, &formats)) {
        overview_label(scene->to, "tracepoints");
        say(scene->to, "%" PRIu32 " formats of %" PRIu32 " systems\n", formats.formats, formats.systems);
    }
    say_programs(scene);
}

void overview_unknown(const struct feature_scene *scene) {
    const uint32_t count = pfr_feature_count(scene->reader);
    for (uint32_t i = 0; i < count; i++) {
        const pfr_feature *feature = pfr_get_feature(scene->reader, i, NULL);
        if (!feature || (feature->layout && feature->status == PFR_OK))
            continue;
        overview_label(scene->to, feature->layout ? "cut feature" : "unknown");
        say(scene->to, "feature %" PRIu32 ", %" PRIu64 " bytes\n", feature->bit, feature->bytes.length);
    }
}
