/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing of -e: the resulting events and the error positions. Formats and tracepoints are in a temporary sysfs and
   tracefs. */
#include "test.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include "record/event/event.h"

static struct memory memory;
static struct event_list list;
static pfr_error err;
static struct kernel kernel;
static char folder[] = "/tmp/perfray-events-XXXXXX";

static void put(const char *path, const char *text) {
    char whole[256];
    snprintf(whole, sizeof whole, "%s/%s", folder, path);
    for (char *at = whole + sizeof folder; (at = strchr(at, '/')); at++) {
        *at = '\0';
        mkdir(whole, 0700);
        *at = '/';
    }
    FILE *const file = fopen(whole, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", text);
    assert_int_equal(fclose(file), 0);
}

static void remove_folder(void) {
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        perror(command);
}

static void make_folder(void) {
    static bool made;
    if (made)
        return;
    made = true;
    assert_non_null(mkdtemp(folder));
    atexit(remove_folder);
    put("bus/event_source/devices/cpu/type", "4");
    put("bus/event_source/devices/cpu/format/event", "config:0-7,32-35");
    put("bus/event_source/devices/cpu/format/umask", "config:8-15");
    put("bus/event_source/devices/cpu/format/ldlat", "config1:0-15");
    put("bus/event_source/devices/cpu/format/any", "config:21");
    put("bus/event_source/devices/cpu/events/mem-loads", "event=0xcd,umask=0x1,ldlat=3");
    put("events/sched/sched_switch/id", "372");
    put("events/sched/sched_stat/id", "363");
    put("events/irq/irq_entry/id", "9");
}

static pfr_status parse(const char *text) {
    make_folder();
    kernel = real_kernel;
    kernel.sys = kernel.tracing = folder;
    memory_init(&memory, NULL, 0);
    event_list_init(&list, &memory);
    err = (pfr_error){0};
    return event_list_parse(&list, text, &kernel, &err);
}

static void forget(void) {
    event_list_free(&list);
    assert_int_equal(memory.used, 0);
}

#define FIRST (list.at[0].attr)

TEST(names_of_tables_have_type_and_config) {
    ASSERT_OK(parse("cycles,cs,L1-dcache-load-misses,LLC-stores,r1a8,branches"), err);
    const struct {
        uint32_t type;
        uint64_t config;
    } expected[] = {{0, 0}, {1, 3}, {3, 0x10000}, {3, 0x102}, {4, 0x1a8}, {0, 4}};
    assert_int_equal(list.count, 6);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(list.at[i].attr.type, expected[i].type);
        assert_int_equal(list.at[i].attr.config, expected[i].config);
        assert_true(list.at[i].attr.exclude_guest);
    }
    assert_true(list.at[0].falls_back);
    assert_false(list.at[1].falls_back);
    forget();
}

TEST(modifiers_say_what_is_left_out) {
    ASSERT_OK(parse("cpu-clock:u,cpu-clock:kpp,cpu-clock:G,cpu-clock:D"), err);
    assert_true(list.at[0].attr.exclude_kernel && list.at[0].attr.exclude_hv && !list.at[0].attr.exclude_user);
    assert_true(list.at[1].attr.exclude_user && !list.at[1].attr.exclude_kernel);
    assert_int_equal(list.at[1].attr.precise_ip, 2);
    assert_true(list.at[2].attr.exclude_host && !list.at[2].attr.exclude_guest);
    assert_true(list.at[3].attr.pinned && !list.at[3].attr.exclude_guest);
    assert_string_equal(list.at[1].name, "cpu-clock:kpp");
    forget();
}

TEST(groups_have_a_leader) {
    ASSERT_OK(parse("cs,{cpu-clock,task-clock:k}:Su,faults"), err);
    assert_int_equal(list.count, 4);
    assert_int_equal(list.at[1].members, 2);
    assert_int_equal(list.at[2].leader, 1);
    assert_int_equal(list.at[3].leader, 3);
    assert_true(list.at[1].reads_group && list.at[2].reads_group && !list.at[3].reads_group);
    assert_true(list.at[1].attr.exclude_kernel);
    forget();
}

TEST(breakpoints_have_length_and_accesses) {
    ASSERT_OK(parse("mem:0x1000,mem:0x2000/8:w,mem:0x3000:x:u"), err);
    assert_int_equal(FIRST.bp_type, HW_BREAKPOINT_R | HW_BREAKPOINT_W);
    assert_int_equal(FIRST.bp_len, 4);
    assert_int_equal(list.at[1].attr.bp_len, 8);
    assert_int_equal(list.at[1].attr.bp_type, HW_BREAKPOINT_W);
    assert_int_equal(list.at[2].attr.bp_len, sizeof(long));
    assert_true(list.at[2].attr.exclude_kernel);
    assert_string_equal(list.at[2].name, "mem:0x3000:x:u");
    forget();
}

TEST(formats_of_sysfs_distribution_bits) {
    ASSERT_OK(parse("cpu/event=0xabc,umask=0x3,any/u"), err);
    assert_int_equal(FIRST.type, 4);
    assert_true(FIRST.config == (0xbcull | 0xaull << 32 | 0x300 | 1ull << 21));
    assert_true(FIRST.exclude_kernel);
    assert_string_equal(list.at[0].name, "cpu/event=0xabc,umask=0x3,any/u");
    forget();
    ASSERT_OK(parse("cpu/mem-loads,period=77,name=loads/"), err);
    assert_int_equal(FIRST.config, 0x1cd);
    assert_int_equal(FIRST.config1, 3);
    assert_int_equal(FIRST.sample_period, 77);
    assert_string_equal(list.at[0].name, "loads");
    forget();
}

TEST(tracepoints_may_be_globs) {
    ASSERT_OK(parse("sched:sched_*,*:irq_entry"), err);
    assert_int_equal(list.count, 3);
    assert_int_equal(FIRST.config, 363);
    assert_int_equal(list.at[1].attr.config, 372);
    assert_string_equal(list.at[2].name, "irq:irq_entry");
    assert_int_equal(list.at[2].attr.sample_period, 1);
    forget();
}

TEST(terms_apply_to_all_tracepoints_of_a_glob_but_not_to_their_names) {
    ASSERT_OK(parse("sched:sched_*/period=3/,sched:sched_switch/freq=7/u"), err);
    assert_int_equal(list.count, 3);
    for (size_t i = 0; i < 2; i++) {
        assert_true(list.at[i].own_period);
        assert_int_equal(list.at[i].attr.sample_period, 3);
        assert_null(strchr(list.at[i].name, '/'));
    }
    assert_true(list.at[2].own_frequency);
    assert_string_equal(list.at[2].name, "sched:sched_switch:u");
    forget();
}

static void assert_wrong(const char *text, const char *place, const char *what) {
    ASSERT_STATUS(parse(text), PFR_ERR_USAGE, err);
    if (!strstr(err.text, place) || !strstr(err.text, what))
        fail_msg("'%s' is reported as: %s", text, err.text);
    forget();
}

TEST(errors_show_the_place) {
    assert_wrong("cs,cpu-clok", "character 4 ", "cpu-clok");
    assert_wrong("cs,,cs", "character 4 ", "missing");
    assert_wrong("{cs,faults", "character 11 ", "'}'");
    assert_wrong("cs:ux", "character 5 ", "modifier");
    assert_wrong("mem:zz", "character 5 ", "address");
    assert_wrong("mem:0x10/3", "character 10 ", "length");
    assert_wrong("sched:sched_switch/config=375/", "character 20 ", "config");
    assert_wrong("cpu/event=0x10000/", "character 5 ", "does not fit");
    assert_wrong("cpu/nothing=1/", "character 5 ", "nothing");
    assert_wrong("cpu/event=1", "character 12 ", "'/'");
    assert_wrong("pmu9/event=1/", "character 1 ", "pmu9");
    assert_wrong("sched:nope", "character 1 ", "sched:nope");
    assert_wrong("cs faults", "character 4 ", "follows");
    assert_wrong("cs:pppp", "character 4 ", "three");
    assert_wrong("", "character 1 ", "missing");
}
