/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder on a scripted kernel: one CPU, ring buffers in the test's memory, scripted answers. The written file is
 * read with the library. */
#include "record/recorder.h"
#include "scripted_kernel.h"
#include <time.h>

static void forty_kilobytes(int number) {
    for (uint64_t i = 0; i < 700; i++)
        add_sample((uint64_t)number * 1000 + i + 1);
}

TEST(records_that_wrap_are_complete_and_in_order) {
    begin_script();
    script.turn = forty_kilobytes;
    record(clock_alone);
    const struct counted c = count_file();
    assert_int_equal(c.samples, 4 * 700);
    assert_int_equal(c.holes, 0);
    assert_true(c.in_order);
    assert_true(c.rounds >= 4);
    assert_true(page()->data_tail == page()->data_head);
    end_script();
}

/* --- Records that the kernel made too long: the extra bytes are old contents of the ring buffer. --- */

enum { NAME_WORDS = 3 };

/* Number of 64-bit words of the sample_id; with two events it includes IDENTIFIER. */
static size_t id_words(void) {
    const uint64_t in_id = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ID | PERF_SAMPLE_STREAM_ID |
                           PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
    return (size_t)__builtin_popcountll(script.last.sample_type & in_id);
}

/* Adds a record in which `more` words follow the sample_id, whose last word is the id. These words look like another
 * time. */
static void add_overlong(uint32_t type, const uint64_t *body, size_t count, size_t more) {
    uint64_t words[64] = {0};
    memcpy(words, body, 8 * count);
    count += id_words();
    words[count - 1] = (uint64_t)FIRST_FD * 10;
    for (size_t i = 0; i < more; i++)
        words[count + i] = 0x7777777777777777u;
    add_record(type, words, count + more);
}

/* Names of 16 to 23 bytes, so that the NUL and its padding are at each position of a word. */
static void overlong_ones(int number) {
    for (uint64_t i = 0; i < 200; i++) {
        uint64_t symbol[2 + NAME_WORDS] = {0x1000, (uint64_t)1 << 32 | 64}, bpf[2] = {1 | 9ull << 32, 0xabcdef};
        memset(symbol + 2, 'b', 16 + i % 8);
        add_overlong(17, symbol, 2 + NAME_WORDS, i % 4 * 5);
        add_overlong(18, bpf, 2, i % 3 * 4);
        add_sample((uint64_t)number * 1000 + i + 1);
    }
}

static void check_sizes(size_t symbols, size_t programs) {
    const size_t id = 8 * id_words();
    pfr_error err = {0};
    pfr_record rec;
    pfr_reader *const reader = pfr_open(path, NULL, &err);
    assert_non_null(reader);
    while (pfr_next(reader, &rec, &err) == PFR_OK) {
        if (rec.type == PFR_RECORD_KSYMBOL && symbols-- > 0)
            assert_int_equal(rec.size, 8 + 8 * (2 + NAME_WORDS) + id);
        if (rec.type == PFR_RECORD_BPF_EVENT && programs-- > 0)
            assert_int_equal(rec.size, 8 + 8 * 2 + id);
    }
    assert_int_equal(symbols, 0);
    assert_int_equal(programs, 0);
    pfr_close(reader);
}

TEST(records_that_the_kernel_makes_too_long_are_cut_to_their_end) {
    begin_script();
    script.turn = overlong_ones;
    record(clock_alone);
    const struct counted c = count_file();
    assert_int_equal(c.samples, 4 * 200);
    assert_int_equal(c.holes, 0);
    assert_true(c.in_order);
    check_sizes(4 * 200, 4 * 200);
    end_script();
}

/* A name without a NUL, or an impossible size: the record is kept as the kernel wrote it. */
static void endless_name(int number) {
    uint64_t symbol[12];
    memset(symbol, 'b', sizeof symbol);
    if (number == 0)
        add_record(17, symbol, 12);
    add_sample((uint64_t)number + 1);
}

TEST(a_symbol_without_an_end_is_kept_as_it_is) {
    begin_script();
    script.turn = endless_name;
    record(clock_alone);
    assert_int_equal(count_file().samples, 4);
    end_script();
}

static void one_lost(int number) {
    const uint64_t id = (uint64_t)FIRST_FD * 10, task = (uint64_t)77 << 32 | 77;
    const uint64_t words[] = {id, 5, task, (uint64_t)number + 1, 0, id};
    if (number == 0)
        add_record(2, words, 6);
    add_sample((uint64_t)number + 10);
}

TEST(losses_are_recorded_and_reported) {
    pfr_recorder_result result;
    begin_script();
    script.turn = one_lost;
    script.lost = 7;
    record(clock_alone);
    pfr_recorder_get_result(recorder, &result);
    const struct counted c = count_file();
    assert_int_equal(c.lost, 1);
    assert_int_equal(c.samples, 4);
    assert_int_equal(c.lost_samples, (uint64_t)script.opened);
    assert_int_equal(result.lost, 7 * (uint64_t)script.opened);
    end_script();
}

TEST(cycles_fall_back_to_the_clock) {
    static const char *const cycles[] = {"cycles", NULL};
    begin_script();
    script.refuse_type = PERF_TYPE_HARDWARE;
    script.refuse_why = ENODEV;
    record(cycles);
    assert_non_null(strstr(said, "using cpu-clock"));
    assert_string_equal(recorder->events.at[0].name, "cpu-clock");
    end_script();
}

TEST(without_permission_for_the_kernel_only_user_code_is_sampled) {
    begin_script();
    script.refuses_kernel = true;
    record(clock_alone);
    assert_non_null(strstr(said, "perf_event_paranoid"));
    assert_true(script.last.exclude_kernel);
    end_script();
}

TEST(an_older_kernel_counts_no_losses) {
    begin_script();
    script.refuses_lost = true;
    record(clock_alone);
    assert_non_null(strstr(said, "lost samples"));
    assert_false(script.last.read_format & PERF_FORMAT_LOST);
    end_script();
}

/* The clock is one that all processes can read; its offset to the time of day is stored at the start and the end. */
TEST(a_requested_clock_is_used_and_recorded) {
    pfr_error err = {0};
    struct pfr_rec_feature_clock_data clock;
    begin_script();
    pfr_recorder_options options = options_for(clock_alone);
    options.clock = "CLOCK_MONOTONIC_RAW";
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    assert_true(script.last.use_clockid);
    assert_int_equal(script.last.clockid, CLOCK_MONOTONIC_RAW);
    pfr_reader *const reader = pfr_open(path, NULL, &err);
    assert_non_null(reader);
    const pfr_feature *const clock_data = pfr_find_feature(reader, 29, &err), *const step =
                                                                                  pfr_find_feature(reader, 23, &err);
    assert_non_null(clock_data);
    assert_non_null(step);
    ASSERT_OK(pfr_decode_feature(reader, clock_data, &clock, sizeof clock, &err), err);
    assert_int_equal(clock.clockid, CLOCK_MONOTONIC_RAW);
    assert_true(clock.end_clockid_time_ns > clock.clockid_time_ns);
    assert_true(clock.end_wall_clock_ns > 0 && clock.wall_clock_ns > 0);
    pfr_close(reader);
    end_script();
}

TEST(an_unknown_clock_is_reported) {
    pfr_error err = {0};
    begin_script();
    pfr_recorder_options options = options_for(clock_alone);
    options.clock = "sundial";
    assert_null(recorder_open_on(&scripted, &options, &err));
    assert_int_equal(err.status, PFR_ERR_USAGE);
    assert_non_null(strstr(err.text, "boottime"));
    assert_int_equal(script.opened, script.closed);
}

/* If the limit of open files is too low for all counters, nothing stays open and the message names the limit. */
TEST(the_limit_of_open_files_is_reported) {
    static const char *const many[] = {"cpu-clock,cpu-clock,cpu-clock,cpu-clock", NULL};
    pfr_error err = {0};
    begin_script();
    script.opens_at_most = 3;
    const pfr_recorder_options options = options_for(many);
    assert_null(recorder_open_on(&scripted, &options, &err));
    assert_int_equal(err.status, PFR_ERR_IO);
    assert_non_null(strstr(err.text, "ulimit -n"));
    assert_int_equal(script.opened, script.closed);
}

/* The event that records mappings and tasks is enabled from the start, even if no other event ever is. */
TEST(the_event_for_tasks_is_enabled_before_counting_begins) {
    pfr_error err = {0};
    begin_script();
    pfr_recorder_options options = options_for(clock_alone);
    options.delay_ms = -1;
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    assert_int_equal(recorder->events.count, 2);
    assert_int_equal(script.enabled, script.opened / 2);
    end_script();
}

TEST(rings_are_halved_until_they_fit) {
    begin_script();
    script.map_limit = RING / 4;
    record(clock_alone);
    assert_int_equal(script.mapped, RING / 4);
    assert_non_null(strstr(said, "16 KB instead of 64"));
    end_script();
}

static void assert_refused(int type, int why, pfr_status status, const char *word) {
    pfr_error err = {0};
    begin_script();
    script.refuse_type = type;
    script.refuse_why = why;
    const pfr_recorder_options options = options_for(clock_alone);
    assert_null(recorder_open_on(&scripted, &options, &err));
    if (err.status != status || !strstr(err.text, word))
        fail_msg("%s: %s", pfr_status_name(err.status), err.text);
    assert_int_equal(script.closed, script.opened);
    assert_int_equal(access(path, F_OK), -1);
}

TEST(refusals_are_reported_with_their_cause) {
    assert_refused(PERF_TYPE_SOFTWARE, EMFILE, PFR_ERR_IO, "ulimit -n");
    assert_refused(PERF_TYPE_SOFTWARE, ENODEV, PFR_ERR_USAGE, "no such counter");
    assert_refused(PERF_TYPE_SOFTWARE, ENOSYS, PFR_ERR_USAGE, "perf_event_open");
    assert_refused(PERF_TYPE_SOFTWARE, EACCES, PFR_ERR_PERMISSION, "perf_event_paranoid");
    assert_refused(PERF_TYPE_SOFTWARE, EPERM, PFR_ERR_PERMISSION, "not permitted");
}

/* A ring buffer that is written backward: the newest record is at data_head; half of the oldest is overwritten. */
static void backward(int number) {
    if (number != 0)
        return;
    uint64_t head = 0;
    for (uint64_t time = 1; time <= 2000; time++) {
        const struct perf_event_header header = {.type = 9, .size = 56};
        const uint64_t words[] = {(uint64_t)FIRST_FD * 10, 0x1000, (uint64_t)77 << 32 | 77, time, 0, 1};
        head -= header.size;
        into_ring(head, &header, sizeof header);
        into_ring(head + sizeof header, words, sizeof words);
    }
    __atomic_store_n(&page()->data_head, head, __ATOMIC_RELEASE);
}

TEST(an_overwritten_ring_keeps_the_newest) {
    pfr_error err = {0};
    begin_script();
    script.turn = backward;
    pfr_recorder_options options = options_for(clock_alone);
    options.overwrite = true;
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    assert_true(script.overwrites);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    const struct counted c = count_file();
    assert_int_equal(c.samples, RING / 56);
    assert_int_equal(c.last_time, 2000 - RING / 56 + 1);
    assert_int_equal(c.holes, 0);
    end_script();
}
static void three(int number) {
    for (uint64_t i = 0; i < 3; i++)
        add_sample((uint64_t)number * 10 + i + 1);
}

/* After a run in which one allocation fails, nothing remains open, mapped or allocated. */
static void record_with(struct failing_alloc *failing) {
    pfr_error err = {0};
    begin_script();
    script.turn = three;
    pfr_recorder_options options = options_for(clock_alone);
    options.alloc = &failing->alloc;
    options.build_ids = PFR_BUILD_IDS_OF_HITS;
    recorder = recorder_open_on(&scripted, &options, &err);
    const pfr_status status = recorder ? pfr_recorder_run(recorder, &err) : err.status;
    if (failing->has_failed && status != PFR_ERR_MEMORY && status != PFR_OK)
        fail_msg("allocation %ld: %s: %s", failing->fail_at, pfr_status_name(status), err.text);
    if (!failing->has_failed)
        ASSERT_OK(status, err);
    end_script();
}

TEST(every_allocation_may_fail) {
    struct failing_alloc failing;
    long n = 1;
    for (; failing_alloc_begin(&failing, n), record_with(&failing), failing.has_failed; n++)
        assert_int_equal(failing.blocks, 0);
    assert_int_equal(failing.blocks, 0);
    assert_true(n > 20);
}

/* --- Times at which counting is switched on and off. --- */

static void ten_milliseconds(int number) {
    (void)number;
    usleep(10000);
}

static pfr_status record_at_times(const char *times, pfr_error *err) {
    begin_script();
    script.turn = ten_milliseconds;
    pfr_recorder_options options = options_for(clock_alone);
    options.on_times = times;
    recorder = recorder_open_on(&scripted, &options, err);
    return recorder ? pfr_recorder_run(recorder, err) : err->status;
}

/* When the recorder has waited once, both times of the first range have passed. The second range is never reached. */
TEST(counting_is_switched_at_its_times) {
    pfr_error err = {0};
    ASSERT_OK(record_at_times("1-2,1000000-1000001", &err), err);
    assert_int_equal(script.enabled, script.opened + script.opened / 2); /* dummy events are enabled from the start */
    assert_false(recorder->control.enabled);
    end_script();
    ASSERT_OK(record_at_times("0-1000000", &err), err);
    assert_int_equal(recorder->control.nr_turns, 2);
    end_script();
}

TEST(times_that_are_none_are_refused) {
    static const char *const wrong[] = {"",     "5",        "5-",        "5-5",  "9-5",
                                        "5-9,", "5-9,9-12", "5-9;10-12", "-5-9", "5-9999999999"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        pfr_error err = {0};
        assert_int_equal(record_at_times(wrong[i], &err), PFR_ERR_USAGE);
        assert_non_null(strstr(err.text, "10-20,30-40"));
        assert_int_equal(script.opened, script.closed);
    }
}

/* --- Records of the state at the start. --- */

static size_t count_type(uint32_t type) {
    size_t count = 0;
    pfr_error err = {0};
    pfr_record rec;
    pfr_reader *const reader = pfr_open(path, NULL, &err);
    assert_non_null(reader);
    while (pfr_next(reader, &rec, &err) == PFR_OK)
        count += rec.type == type;
    pfr_close(reader);
    return count;
}

static void record_synthesizing(const char *kinds) {
    pfr_error err = {0};
    begin_script();
    pfr_recorder_options options = options_for(clock_alone);
    options.synthesize = kinds;
    recorder = recorder_open_on(&scripted, &options, &err);
    if (!recorder)
        fail_msg("%s", err.text);
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    end_script_but_file();
}

TEST(synthesized_records_are_limited_to_the_requested_kinds) {
    enum { COMM = 3, MMAP2 = 10 };
    record_synthesizing(NULL);
    assert_true(count_type(COMM) > 0 && count_type(MMAP2) > 0);
    record_synthesizing("task");
    assert_true(count_type(COMM) > 0 && count_type(MMAP2) == 0);
    record_synthesizing("task,mmap");
    assert_true(count_type(COMM) > 0 && count_type(MMAP2) > 0);
    record_synthesizing("no");
    assert_true(count_type(COMM) == 0 && count_type(MMAP2) == 0);
    unlink(path);
}

/* --- Memory for finding the objects with samples. --- */

static void many_tasks(int number) {
    const uint64_t id = (uint64_t)FIRST_FD * 10;
    for (uint64_t i = 0; i < 500; i++) {
        const uint64_t pid = 100000 + 500 * (uint64_t)number + i, task = pid << 32 | pid;
        const uint64_t fork[] = {1 | pid << 32, 1 | pid << 32, 5 + pid, task, 5 + pid, 0, id};
        add_record(7, fork, 3 + id_words());
    }
    add_sample((uint64_t)number + 1);
}

/* True if feature BUILD_ID names an object of this program (libc). */
static bool names_libc(void) {
    pfr_error err = {0};
    pfr_reader *const reader = pfr_open(path, NULL, &err);
    assert_non_null(reader);
    const pfr_feature *const ids = pfr_find_feature(reader, 2, &err);
    assert_non_null(ids);
    const bool named = ids->bytes.length && memmem(ids->bytes.at, ids->bytes.length, "/libc", 5);
    pfr_close(reader);
    return named;
}

static uint64_t record_many_tasks(uint64_t hits_memory) {
    pfr_error err = {0};
    pfr_recorder_result result;
    begin_script();
    script.turn = many_tasks;
    pfr_recorder_options options = options_for(clock_alone);
    options.build_ids = PFR_BUILD_IDS_OF_HITS;
    recorder = recorder_open_on(&scripted, &options, &err);
    assert_non_null(recorder);
    if (hits_memory)
        recorder->file.hits_memory = hits_memory;
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
    pfr_recorder_get_result(recorder, &result);
    return result.samples;
}

/* No sample is in libc. So libc is only named if marking would need too much memory, because then all mapped objects
 * are named. */
TEST(too_many_tasks_cost_no_more_memory) {
    assert_int_equal(record_many_tasks(0), 4);
    assert_false(names_libc());
    assert_null(strstr(said, "too many tasks"));
    end_script();
    assert_int_equal(record_many_tasks(400000), 4);
    assert_true(names_libc());
    assert_non_null(strstr(said, "too many tasks"));
    end_script();
}
