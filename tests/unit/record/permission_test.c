/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tests what an ordinary user may record at each level of kernel.perf_event_paranoid, on a scripted kernel that answers
 * like perf_event_open (Linux: perf_allow_kernel, perf_allow_cpu). From the lowest level on: everything, no whole CPUs,
 * no kernel, nothing (level 3, in Debian and Ubuntu). The level is in a file that the test writes.
 */
#include "record/recorder.h"
#include "scripted_kernel.h"
#include <sys/stat.h>

static char proc[64], made[4][200];

static void level_is(int level) {
    char target[64];
    begin_script();
    script.paranoid = level;
    snprintf(proc, sizeof proc, "/tmp/perfray-proc-%d", (int)getpid());
    snprintf(made[0], sizeof made[0], "%s/sys/kernel/perf_event_paranoid", proc);
    snprintf(made[1], sizeof made[1], "%s/sys/kernel", proc);
    snprintf(made[2], sizeof made[2], "%s/sys", proc);
    snprintf(made[3], sizeof made[3], "%s/%d", proc, (int)getpid());
    snprintf(target, sizeof target, "/proc/%d", (int)getpid());
    assert_int_equal(mkdir(proc, 0700), 0);
    assert_int_equal(mkdir(made[2], 0700), 0);
    assert_int_equal(mkdir(made[1], 0700), 0);
    assert_int_equal(symlink(target, made[3]), 0);
    FILE *const file = fopen(made[0], "w");
    assert_non_null(file);
    fprintf(file, "%d\n", level);
    assert_int_equal(fclose(file), 0);
    scripted.proc = proc;
}

static void level_ends(void) {
    scripted.proc = "/proc";
    unlink(made[0]);
    rmdir(made[1]);
    rmdir(made[2]);
    unlink(made[3]);
    assert_int_equal(rmdir(proc), 0);
    unlink(path);
}

/* Opens and closes a recorder; messages are in `said`, the error in *err. */
static pfr_status open_at_level(int level, pfr_recorder_options options, pfr_error *err) {
    *err = (pfr_error){0};
    level_is(level);
    recorder = recorder_open_on(&scripted, &options, err);
    const pfr_status status = recorder ? PFR_OK : err->status;
    pfr_recorder_close(recorder);
    recorder = NULL;
    assert_int_equal(script.opened, script.closed);
    level_ends();
    return status;
}

static pfr_recorder_options of_all_cpus(void) {
    pfr_recorder_options options = options_for(clock_alone);
    options.self = false;
    options.cpus = NULL;
    options.all_cpus = true;
    return options;
}

static void assert_refused_with(pfr_status status, const pfr_error *err, const char *advice) {
    if (status != PFR_ERR_PERMISSION || !strstr(err->text, advice))
        fail_msg("%s: %s", pfr_status_name(status), err->text);
}

TEST(own_tasks_are_sampled_up_to_level_2) {
    pfr_error err;
    for (int level = -1; level <= 2; level++) {
        ASSERT_OK(open_at_level(level, options_for(clock_alone), &err), err);
        assert_int_equal(script.last.exclude_kernel, level == 2);
        assert_true((strstr(said, "no permission to sample the kernel") != NULL) == (level == 2));
    }
    assert_refused_with(open_at_level(3, options_for(clock_alone), &err), &err, "is 3: it needs 2 or less");
}

TEST(whole_cpus_are_sampled_up_to_level_0) {
    pfr_error err;
    ASSERT_OK(open_at_level(-1, of_all_cpus(), &err), err);
    ASSERT_OK(open_at_level(0, of_all_cpus(), &err), err);
    assert_refused_with(open_at_level(1, of_all_cpus(), &err), &err, "is 1: it needs 0 or less for whole CPUs");
    assert_refused_with(open_at_level(2, of_all_cpus(), &err), &err, "is 2: it needs 0 or less for whole CPUs");
}

/* Excluding the kernel does not help here. */
TEST(physical_addresses_are_recorded_up_to_level_1) {
    pfr_error err;
    pfr_recorder_options options = options_for(clock_alone);
    options.physical_addresses = true;
    ASSERT_OK(open_at_level(1, options, &err), err);
    assert_refused_with(open_at_level(2, options, &err), &err, "is 2: it needs 1 or less");
}

TEST(kernel_only_sampling_is_permitted_up_to_level_1) {
    pfr_error err;
    pfr_recorder_options options = options_for(clock_alone);
    options.only_kernel = true;
    ASSERT_OK(open_at_level(1, options, &err), err);
    assert_refused_with(open_at_level(2, options, &err), &err, "is 2: it needs 1 or less");
}
