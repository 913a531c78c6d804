/* SPDX-License-Identifier: Apache-2.0 */
/* AUX areas on a scripted kernel with Intel PT: a folder like sysfs, and an area that the test fills as hardware would,
 * faster than the ring buffer. */
#include "record/rings/aux_areas.h"
#include "record/recorder.h"
#include "scripted_kernel.h"
#include <sys/stat.h>

#define AREA ((size_t)16 << 10)
enum { PT_TYPE = 9 };

/* --- sysfs --- */

static char sysfs[64];

static void put_text(const char *name, const char *text) {
    char whole[200];
    snprintf(whole, sizeof whole, "%s/bus/event_source/devices/intel_pt/%s", sysfs, name);
    FILE *const file = fopen(whole, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name) {
    char whole[200];
    snprintf(whole, sizeof whole, "%s%s", sysfs, name);
    assert_int_equal(mkdir(whole, 0700), 0);
}

static const char *const folders[] = {"",
                                      "/bus",
                                      "/bus/event_source",
                                      "/bus/event_source/devices",
                                      "/bus/event_source/devices/intel_pt",
                                      "/bus/event_source/devices/intel_pt/format",
                                      "/bus/event_source/devices/intel_pt/caps"};
static const char *const texts[][2] = {{"type", "9\n"},
                                       {"max_nonturbo_ratio", "30\n"},
                                       {"format/pt", "config:0\n"},
                                       {"format/cyc", "config:1\n"},
                                       {"format/mtc", "config:9\n"},
                                       {"format/tsc", "config:10\n"},
                                       {"format/noretcomp", "config:11\n"},
                                       {"format/branch", "config:13\n"},
                                       {"format/mtc_period", "config:14-17\n"},
                                       {"format/psb_period", "config:24-27\n"},
                                       {"caps/mtc", "1\n"},
                                       {"caps/mtc_periods", "249\n"},
                                       {"caps/psb_cyc", "1\n"},
                                       {"caps/psb_periods", "3f\n"}};

static void make_sysfs(void) {
    snprintf(sysfs, sizeof sysfs, "/tmp/perfray-sysfs-%d", (int)getpid());
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++)
        make_folder(folders[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        put_text(texts[i][0], texts[i][1]);
    scripted.sys = sysfs;
}

static void remove_sysfs(void) {
    char whole[200];
    for (size_t i = sizeof texts / sizeof *texts; i-- > 0;) {
        snprintf(whole, sizeof whole, "%s/bus/event_source/devices/intel_pt/%s", sysfs, texts[i][0]);
        unlink(whole);
    }
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        snprintf(whole, sizeof whole, "%s%s", sysfs, folders[i]);
        rmdir(whole);
    }
}

/* --- hardware --- */

/* The n-th byte written by the hardware. */
static uint8_t byte_at(uint64_t n) {
    return (uint8_t)(n * 7 + (n >> 8));
}

static void trace(uint64_t length, uint64_t flags) {
    const uint64_t head = page()->aux_head;
    assert_true(head + length - page()->aux_tail <= script.area_bytes);
    for (uint64_t i = head; i < head + length; i++)
        script.area[i & (script.area_bytes - 1)] = byte_at(i);
    __atomic_store_n(&page()->aux_head, head + length, __ATOMIC_RELEASE);
    /* fields of AUX: offset, size, flags; sample_id: tid, time, cpu, id */
    const uint64_t words[] = {
        head, length, flags, (uint64_t)77 << 32 | 77, (uint64_t)script.turns + 1, 0, (uint64_t)FIRST_FD * 10};
    add_record(PFR_RECORD_AUX, words, 7);
}

static uint64_t length_of(uint64_t number) {
    return 10003 + number;
}

static void ten_kilobytes(int number) {
    trace(length_of((uint64_t)number), number == 2);
}

/* --- Contents of the file --- */

struct found {
    uint64_t areas, bytes, aux_records, truncated, infos, index;
    uint64_t words[AUX_WORDS];
    size_t nr_words;
    uint32_t kind;
};

/* Each area is at the expected place and has the bytes that the hardware wrote; padding is zeros. */
static void look_at_area(pfr_reader *reader, const pfr_record *rec, struct found *f) {
    static uint8_t bytes[2 * AREA];
    struct pfr_rec_auxtrace area;
    pfr_error err = {0};
    size_t got;
    ASSERT_OK(pfr_decode(rec, &area, sizeof area, &err), err);
    ASSERT_OK(pfr_payload(reader, 0, bytes, sizeof bytes, &got, &err), err);
    assert_int_equal(area.offset, f->bytes);
    assert_int_equal(got, area.size);
    assert_int_equal(area.size, (length_of(f->areas) + 7) / 8 * 8);
    assert_int_equal(area.cpu, 0);
    for (size_t i = 0; i < got; i++)
        if (bytes[i] != (i < length_of(f->areas) ? byte_at(area.offset + i) : 0))
            fail_msg("byte %zu of the area at %llu", i, (unsigned long long)area.offset);
    f->bytes += length_of(f->areas++);
}

static void look_at(pfr_reader *reader, const pfr_record *rec, struct found *f) {
    struct pfr_rec_aux aux;
    struct pfr_rec_auxtrace_info info;
    pfr_error err = {0};
    if (rec->type == PFR_RECORD_AUXTRACE)
        look_at_area(reader, rec, f);
    if (rec->type == PFR_RECORD_AUX) {
        ASSERT_OK(pfr_decode(rec, &aux, sizeof aux, &err), err);
        f->aux_records++;
        f->truncated += aux.flags & 1;
    }
    if (rec->type == PFR_RECORD_AUXTRACE_INFO) {
        ASSERT_OK(pfr_decode(rec, &info, sizeof info, &err), err);
        f->infos++;
        f->kind = info.type;
        f->nr_words = info.priv.count;
        assert_true(f->nr_words <= AUX_WORDS);
        memcpy(f->words, info.priv.at, 8 * f->nr_words);
    }
}

static struct found find(void) {
    struct found f = {0};
    pfr_error err = {0};
    pfr_record rec;
    pfr_status status;
    const pfr_open_options how = {.size = sizeof how, .keep_aux = true};
    pfr_reader *const reader = pfr_open(path, &how, &err);
    if (!reader)
        fail_msg("%s", err.text);
    while ((status = pfr_next(reader, &rec, &err)) >= 0 && status != PFR_END) {
        assert_int_equal(status, PFR_OK);
        look_at(reader, &rec, &f);
    }
    const pfr_feature *const index = pfr_find_feature(reader, 18, NULL);
    f.index = index ? (index->bytes.length - 8) / 16 : 0;
    pfr_close(reader);
    return f;
}

/* --- tests --- */

static const char *const pt_alone[] = {"intel_pt//u", NULL};

static void begin(void (*turn)(int number)) {
    begin_script();
    make_sysfs();
    script.turn = turn;
}

static pfr_status run(const pfr_recorder_options *options, pfr_error *err) {
    recorder = recorder_open_on(&scripted, options, err);
    return recorder ? pfr_recorder_run(recorder, err) : err->status;
}

static pfr_recorder_options with_area(const char *const *events) {
    pfr_recorder_options options = options_for(events);
    options.aux_bytes = AREA;
    return options;
}

static void end(void) {
    end_script();
    remove_sysfs();
}

TEST(areas_that_wrap_are_complete_and_reported) {
    pfr_error err = {0};
    pfr_recorder_result result;
    begin(ten_kilobytes);
    const pfr_recorder_options options = with_area(pt_alone);
    ASSERT_OK(run(&options, &err), err);
    pfr_recorder_get_result(recorder, &result);
    const struct found f = find();
    assert_int_equal(script.area_bytes, AREA);
    assert_false(script.area_overwrites);
    assert_int_equal(f.areas, 4);
    assert_int_equal(f.index, 4);
    assert_int_equal(f.aux_records, 4);
    assert_int_equal(page()->aux_tail, page()->aux_head);
    assert_int_equal(page()->aux_head, f.bytes);
    assert_int_equal(f.truncated, 1);
    assert_int_equal(result.aux_truncated, 1);
    assert_int_equal(script.enabled, 2 + 4); /* the counter and dummy at the start, and the counter after each read */
    end();
}

TEST(aux_records_have_what_a_decoder_needs) {
    static const uint64_t expected[] = {PT_TYPE, 5, 1000, 77, 1, 1u << 10, 1u << 11, 2, 0, 1, 1u << 9, 0xfu << 14};
    pfr_error err = {0};
    begin(NULL);
    const pfr_recorder_options options = with_area(pt_alone);
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    page()->cap_user_time_zero = 1;
    page()->time_shift = 5;
    page()->time_mult = 1000;
    page()->time_zero = 77;
    ASSERT_OK(aux_put_info(recorder, &err), err);
    ASSERT_OK(aux_put_clock(recorder, &err), err);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    const struct found f = find();
    assert_int_equal(f.infos, 2); /* the first one, at the start, has no clock */
    assert_int_equal(f.kind, 1);
    assert_int_equal(f.nr_words, 17);
    assert_memory_equal(f.words, expected, sizeof expected);
    assert_int_equal(f.words[14], 1u << 1);
    assert_int_equal(f.words[15], 30);
    end();
}

TEST(what_is_not_typed_of_intel_pt_is_what_perf_means) {
    static const char *const typed[] = {"intel_pt/cyc,mtc_period=0/", NULL};
    pfr_error err = {0};
    begin(NULL);
    const pfr_recorder_options options = with_area(typed);
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    const struct perf_event_attr *const attr = &recorder->events.at[0].attr;
    assert_int_equal(attr->type, PT_TYPE);
    assert_int_equal(attr->config, 1 << 0 | 1 << 1 | 1 << 9 | 1 << 10 | 1 << 13 | 3 << 24);
    assert_int_equal(attr->sample_period, 1);
    assert_false(attr->freq);
    assert_int_equal(attr->aux_watermark, AREA / 4);
    assert_int_equal(recorder->events.count, 2); /* and one event that records mappings and switches */
    assert_true(recorder->events.at[1].attr.context_switch && recorder->events.at[1].attr.mmap);
    end();
}

TEST(an_area_is_halved_until_it_fits) {
    pfr_error err = {0};
    begin(NULL);
    script.area_limit = AREA / 4;
    const pfr_recorder_options options = with_area(pt_alone);
    ASSERT_OK(run(&options, &err), err);
    assert_int_equal(script.area_bytes, AREA / 4);
    assert_non_null(strstr(said, "AUX areas have 4 KB instead of 16"));
    end();
}

TEST(an_area_that_cannot_be_had_ends_it) {
    pfr_error err = {0};
    begin(NULL);
    script.area_limit = 1;
    const pfr_recorder_options options = with_area(pt_alone);
    assert_int_equal(run(&options, &err), PFR_ERR_PERMISSION);
    assert_non_null(strstr(err.text, "AUX area"));
    end();
}

/* In this case the kernel copies pieces of the area into samples, so the recorder must not read the area. */
TEST(samples_of_an_area_do_not_drain_it) {
    static const char *const group[] = {"{intel_pt//u,cpu-clock:u}", NULL};
    pfr_error err = {0};
    begin(ten_kilobytes);
    pfr_recorder_options options = with_area(group);
    options.aux_sample = 4096;
    options.aux_bytes = 4 * AREA;
    ASSERT_OK(run(&options, &err), err);
    const struct perf_event_attr *const leader = &recorder->events.at[0].attr, *const member =
                                                                                   &recorder->events.at[1].attr;
    assert_true(member->sample_type & PERF_SAMPLE_AUX && !(leader->sample_type & PERF_SAMPLE_AUX));
    assert_int_equal(member->aux_sample_size, 4096);
    assert_int_equal(leader->aux_sample_size, 0);
    assert_true(script.area_overwrites);
    assert_int_equal(find().areas, 0);
    end();
}

static void assert_wrong(pfr_recorder_options options, const char *word) {
    pfr_error err = {0};
    assert_int_equal(run(&options, &err), PFR_ERR_USAGE);
    if (!strstr(err.text, word))
        fail_msg("%s", err.text);
    end_script();
}

TEST(options_that_exclude_an_area_are_reported) {
    pfr_recorder_options options;
    begin(NULL);
    options = with_area(clock_alone);
    options.aux_sample = 4096;
    assert_wrong(options, "intel_pt//,cycles");
    options = with_area(pt_alone);
    options.overwrite = true;
    assert_wrong(options, "--overwrite");
    options = with_area(pt_alone);
    options.clock = "monotonic";
    assert_wrong(options, "--clockid");
    remove_sysfs();
}

static void record_with(struct failing_alloc *failing) {
    pfr_error err = {0};
    begin(ten_kilobytes);
    pfr_recorder_options options = with_area(pt_alone);
    options.alloc = &failing->alloc;
    const pfr_status status = run(&options, &err);
    if (failing->has_failed && status != PFR_ERR_MEMORY && status != PFR_OK)
        fail_msg("allocation %ld: %s: %s", failing->fail_at, pfr_status_name(status), err.text);
    if (!failing->has_failed)
        ASSERT_OK(status, err);
    end();
}

TEST(every_allocation_with_an_area_may_fail) {
    struct failing_alloc failing;
    long n = 1;
    for (; failing_alloc_begin(&failing, n), record_with(&failing), failing.has_failed; n++)
        assert_int_equal(failing.blocks, 0);
    assert_int_equal(failing.blocks, 0);
}
