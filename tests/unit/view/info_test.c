/* SPDX-License-Identifier: Apache-2.0 */
/* info with generated recordings: every part in every format, escaped names, recordings truncated at any byte. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <perfray/info.h>
#include <perfray/quality.h>
#include "test.h"

#define TEXT_ROOM ((size_t)1 << 20)

static char *load(const char *name, size_t *length) {
    char path[1024];
    if (!getenv("FIXTURES"))
        skip();
    snprintf(path, sizeof path, "%.800s/recorded/%s", getenv("FIXTURES"), name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(TEXT_ROOM);
    assert_non_null(bytes);
    *length = fread(bytes, 1, TEXT_ROOM, file);
    fclose(file);
    return bytes;
}

static void print(const char *bytes, size_t length, pfr_info_part part, pfr_info_format format, int fd) {
    const pfr_info_options options = {.size = sizeof options, .part = part, .format = format, .captured = 1};
    pfr_error err;
    pfr_reader *reader = pfr_open_bytes(bytes, length, NULL, &err);
    pfr_output *out = pfr_output_open(fd, false, &err);
    assert_non_null(out);
    if (reader)
        pfr_info_print(reader, &options, out, &err);
    ASSERT_OK(pfr_output_close(out, &err), err);
    pfr_close(reader);
}

/* Returns the printed text, NUL-terminated; the caller frees it. */
static char *printed(const char *name, pfr_info_part part, pfr_info_format format) {
    size_t length;
    char *bytes = load(name, &length);
    FILE *file = tmpfile();
    assert_non_null(file);
    print(bytes, length, part, format, fileno(file));
    char *text = calloc(1, TEXT_ROOM);
    assert_non_null(text);
    rewind(file);
    assert_true(fread(text, 1, TEXT_ROOM - 1, file) > 0);
    fclose(file);
    free(bytes);
    return text;
}

static void assert_prints(const char *name, pfr_info_part part, pfr_info_format format, const char *const *wanted) {
    char *text = printed(name, part, format);
    for (; *wanted; wanted++)
        if (!strstr(text, *wanted))
            fail_msg("%s: \"%s\" is not in:\n%.4000s", name, *wanted, text);
    free(text);
}

TEST(info_stats_count_members_of_groups_by_their_growth) {
    const char *const wanted[] = {"\nAggregated stats:\n           TOTAL events: ",
                                  "cpu-clock stats:\n          SAMPLE events:        100\n"
                                  "page-faults stats:\n          SAMPLE events:          1\n",
                                  NULL};
    assert_prints("group.data", PFR_INFO_STATS, PFR_INFO_TEXT, wanted);
}

TEST(info_events_show_the_fields_of_the_attr) {
    const char *const wanted[] = {"cpu-clock: type: 1, size: 128, ", ", sample_type: IP|TID|TIME|", NULL};
    assert_prints("cpu-clock.data", PFR_INFO_EVENTS, PFR_INFO_TEXT, wanted);
}

TEST(info_events_of_tracepoints_end_with_the_tip) {
    const char *const wanted[] = {": type: 2, ", "\n# Tip: use 'perf evlist --trace-fields'", NULL};
    assert_prints("tracepoints.data", PFR_INFO_EVENTS, PFR_INFO_TEXT, wanted);
}

TEST(info_header_frames_its_features) {
    const char *const wanted[] = {"# ========\n# captured on    : ", "\n# header version : 1\n",
                                  "# missing features: ", " \n# ========\n#\n", NULL};
    assert_prints("cpu-clock.data", PFR_INFO_OVERVIEW, PFR_INFO_PERF, wanted);
}

TEST(info_header_of_a_stream_has_features_after_the_frame) {
    const char *const wanted[] = {"# feat offset    : 0\n# ========\n#\n# hostname : ", "\n# event : name = ", NULL};
    assert_prints("pipe.data", PFR_INFO_OVERVIEW, PFR_INFO_PERF, wanted);
}

TEST(info_header_names_bpf_programs) {
    const char *const wanted[] = {"# bpf_prog_info ", ": bpf_prog_", " addr 0x", " size ", NULL};
    assert_prints("bpf-program.data", PFR_INFO_OVERVIEW, PFR_INFO_PERF, wanted);
}

TEST(info_build_ids_precede_names) {
    const char *const wanted[] = {"\ne95baaeaec8534edc5df3654182ddf12b19d9b23 [vdso]\n", NULL};
    assert_prints("cpu-clock.data", PFR_INFO_BUILD_IDS, PFR_INFO_TEXT, wanted);
}

TEST(info_build_ids_without_a_list_are_objects_that_samples_hit) {
    const char *const wanted[] = {"                                         /", NULL};
    assert_prints("no-build-ids.data", PFR_INFO_BUILD_IDS, PFR_INFO_TEXT, wanted);
}

TEST(info_overview_ends_with_every_field_of_the_quality_line) {
    static const char *const wanted[] = {
#define FIELD(key, member, doc) key "=",
        PFR_QUALITY_FIELDS(FIELD)
#undef FIELD
            "\nquality       lost=",
        NULL};
    assert_prints("cpu-clock.data", PFR_INFO_OVERVIEW, PFR_INFO_TEXT, wanted);
}

TEST(info_overview_reports_a_killed_recorder) {
    const char *const wanted[] = {", not finalised\n", " unfinished=1 ", NULL};
    assert_prints("killed.data", PFR_INFO_OVERVIEW, PFR_INFO_TEXT, wanted);
}

TEST(info_json_has_a_version_in_every_part) {
    const char *const wanted[] = {"{\n  \"version\": 1,\n", NULL};
    for (int part = PFR_INFO_OVERVIEW; part <= PFR_INFO_STATS; part++)
        assert_prints("group.data", (pfr_info_part)part, PFR_INFO_JSON, wanted);
}

TEST(info_refuses_parts_and_forms_that_do_not_exist) {
    size_t length;
    char *bytes = load("cpu-clock.data", &length);
    pfr_error err;
    pfr_reader *reader = pfr_open_bytes(bytes, length, NULL, &err);
    pfr_output *out = pfr_output_open(STDOUT_FILENO, false, &err);
    const pfr_info_options part = {.size = sizeof part, .part = (pfr_info_part)9};
    const pfr_info_options form = {.size = sizeof form, .format = (pfr_info_format)9};
    assert_non_null(reader);
    ASSERT_STATUS(pfr_info_print(reader, &part, out, &err), PFR_ERR_USAGE, err);
    ASSERT_STATUS(pfr_info_print(reader, &form, out, &err), PFR_ERR_USAGE, err);
    assert_int_equal(pfr_info_print(reader, &form, out, NULL), PFR_ERR_USAGE);
    pfr_output_close(out, NULL);
    pfr_close(reader);
    free(bytes);
}

/* Prints a copy of the exact length, so that sanitizers detect reads beyond the end. */
static void print_all(const char *bytes, size_t length, int fd) {
    char *exact = malloc(length);
    assert_non_null(exact);
    memcpy(exact, bytes, length);
    for (int part = PFR_INFO_OVERVIEW; part <= PFR_INFO_STATS; part++)
        print(exact, length, (pfr_info_part)part, PFR_INFO_TEXT, fd);
    print(exact, length, PFR_INFO_OVERVIEW, PFR_INFO_PERF, fd);
    print(exact, length, PFR_INFO_OVERVIEW, PFR_INFO_JSON, fd);
    free(exact);
}

TEST(info_survives_recordings_cut_anywhere) {
    static const char *const names[] = {"group.data", "pipe.data", "tracepoints.data", "zstd.data"};
    const int fd = open("/dev/null", O_WRONLY);
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        char *bytes = load(names[i], &length);
        for (size_t cut = 1; cut < length; cut += 1 + cut / 20)
            print_all(bytes, cut, fd);
        free(bytes);
    }
    close(fd);
}

TEST(info_survives_any_byte_of_the_features_changed) {
    static const char *const names[] = {"bpf-program.data", "group.data", "tracepoints.data"};
    const int fd = open("/dev/null", O_WRONLY);
    assert_true(fd >= 0);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        size_t length;
        char *bytes = load(names[i], &length);
        for (size_t at = length > 6000 ? length - 6000 : 0; at < length; at += 37) {
            bytes[at] ^= (char)0xa5;
            print_all(bytes, length, fd);
            bytes[at] ^= (char)0xa5;
        }
        free(bytes);
    }
    close(fd);
}
