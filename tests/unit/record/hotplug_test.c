/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs that go online and offline on a scripted kernel, whose list of CPUs is a file that the test writes. */
#include "record/recorder.h"
#include "scripted_kernel.h"
#include <sys/stat.h>

static char sysfs[64], list[200];
static uint8_t *first_ring;
static const char *const folders[] = {"", "/devices", "/devices/system", "/devices/system/cpu"};

static void cpus_are(const char *text) {
    FILE *const file = fopen(list, "w");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

static void begin(const char *cpus) {
    char whole[200];
    begin_script();
    snprintf(sysfs, sizeof sysfs, "/tmp/perfray-cpus-%d", (int)getpid());
    snprintf(list, sizeof list, "%s/devices/system/cpu/online", sysfs);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(whole, sizeof whole, "%s%s", sysfs, folders[i]);
        assert_int_equal(mkdir(whole, 0700), 0);
    }
    scripted.sys = sysfs;
    script.waits_for_nothing = true;
    cpus_are(cpus);
}

static void end(void) {
    char whole[200];
    end_script();
    unlink(list);
    for (size_t i = sizeof folders / sizeof *folders; i-- > 0;) {
        snprintf(whole, sizeof whole, "%s%s", sysfs, folders[i]);
        rmdir(whole);
    }
}

static void record_all(const char *output) {
    pfr_error err = {0};
    pfr_recorder_options options = options_for(clock_alone);
    options.self = false;
    options.cpus = NULL;
    options.all_cpus = true;
    options.output = output;
    recorder = recorder_open_on(&scripted, &options, &err);
    if (!recorder)
        fail_msg("%s", err.text);
    first_ring = script.ring;
    ASSERT_OK(pfr_recorder_run(recorder, &err), err);
}

/* Sample of a counter: IDENTIFIER, IP, TID, TIME, CPU, PERIOD. */
static void sample_of(unsigned counter, uint64_t time) {
    const uint64_t words[] = {(uint64_t)(FIRST_FD + (int)counter) * 10, 0x1000, (uint64_t)77 << 32 | 77, time, 0, 1};
    add_record(9, words, 6);
}

static void one_comes(int number) {
    if (number == 0)
        cpus_are("0-1");
    if (number < 2) {
        sample_of(0, (uint64_t)number + 1);
        return;
    }
    assert_int_equal(script.opened, 4); /* clock and dummy on two CPUs */
    assert_int_equal(script.cpus[2], 1);
    assert_int_equal(script.cpus[3], 1);
    assert_ptr_not_equal(script.ring, first_ring);
    sample_of(2, (uint64_t)number + 1);
}

/* The samples of the new counter belong to the event, although its id is in the file only since the CPU went online. */
TEST(a_cpu_that_comes_is_recorded) {
    begin("0");
    script.turn = one_comes;
    record_all(path);
    const struct counted c = count_file();
    assert_int_equal(c.samples, 4);
    assert_int_equal(c.holes, 0);
    assert_int_equal(script.maps, 2);
    assert_int_equal(script.enabled, 4);
    assert_non_null(strstr(said, "CPU 1 came online and is recorded"));
    end();
}

static void one_goes(int number) {
    if (number == 0)
        cpus_are("0");
    if (number == 2)
        cpus_are("0-1");
    script.ring = first_ring;
    sample_of(0, (uint64_t)number + 1);
}

TEST(the_others_go_on_when_a_cpu_goes_and_comes_back) {
    begin("0-1");
    script.turn = one_goes;
    record_all(path);
    assert_int_equal(count_file().samples, 4);
    assert_non_null(strstr(said, "CPU 1 went offline; the others are still recorded"));
    assert_non_null(strstr(said, "CPU 1 came online and is recorded"));
    assert_int_equal(script.opened, 6);
    assert_int_equal(script.maps, 2); /* the CPU uses its previous ring again */
    end();
}

static void one_comes_in_vain(int number) {
    if (number == 0)
        cpus_are("0-1");
    sample_of(0, (uint64_t)number + 1);
}

TEST(a_new_cpu_that_cannot_be_recorded_is_reported) {
    begin("0");
    script.turn = one_comes_in_vain;
    script.cpu_off = 1;
    record_all(path);
    assert_int_equal(count_file().samples, 4);
    assert_int_equal(script.opened, 2);
    assert_non_null(strstr(said, "CPU 1 came online but cannot be recorded: event cpu-clock"));
    end();
}

/* A CPU that goes offline between reading the list and opening is skipped, if there is another one. */
TEST(a_cpu_that_is_off_is_passed_over) {
    char online[200];
    begin("0-1");
    snprintf(online, sizeof online, "%s/devices/system/cpu/cpu1", sysfs);
    assert_int_equal(mkdir(online, 0700), 0);
    snprintf(online, sizeof online, "%s/devices/system/cpu/cpu1/online", sysfs);
    FILE *const file = fopen(online, "w");
    assert_non_null(file);
    fputs("0\n", file);
    assert_int_equal(fclose(file), 0);
    script.cpu_off = 1;
    record_all(path);
    assert_int_equal(script.opened, 2);
    unlink(online);
    online[strlen(online) - strlen("/online")] = '\0';
    rmdir(online);
    end();
}
