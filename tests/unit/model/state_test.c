/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of docs/state.md about order and maps: 1, 2, 3, 9, 10 and 11. Each test builds a recording in memory,
 * and fails if the rule is broken. Also, every allocation of a build fails once.
 */
#include "state_builder.h"

#include "../base/failing_alloc.h"

enum { LOW = 0x1000, INSIDE = 0x1010, SIZE = 0x100 };

/* Rule 1: records are ordered by time; records with equal times are ordered by their offset in the file. */
TEST(state_rule_1_time_then_place) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 30);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/late", 20);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 15);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/early", 10);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 40);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 50);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/same", 50);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 50);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/again", 50);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 60);
    check_records(&s, "/late /early /late /late /same /again", NULL);
}

/* The effect of one state record on another also depends on their keys: here the fork is in the file before the
   mappings that it inherits. */
TEST(state_rule_1_state_is_applied_by_key) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_comm(&s, 0, 7, 7, "later", 30);
    add_fork(&s, 0, 8, 7, 8, 7, 20);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/lib", 10);
    add_comm(&s, WITH_EXEC, 7, 7, "sooner", 5);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 40);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 40);
    check_records(&s, "/lib /lib", "sooner later");
}

TEST(state_rule_1_part_before_offset_before_inner) {
    const struct state timed = {.timed = true};
    const pfr_record records[] = {{.offset = 900, .inner = 0, .part = 0},
                                  {.offset = 900, .inner = 8, .part = 0},
                                  {.offset = 901, .inner = 0, .part = 0},
                                  {.offset = 100, .inner = 0, .part = 1},
                                  {.offset = 50, .inner = 9, .part = 2}};
    for (unsigned i = 0; i + 1 < sizeof records / sizeof *records; i++) {
        const struct record_key a = state_key(&timed, &records[i], 5), b = state_key(&timed, &records[i + 1], 5),
                                sooner = state_key(&timed, &records[i + 1], 4);
        assert_true(key_before(&a, &b));
        assert_false(key_before(&b, &a));
        assert_false(key_before(&a, &a));
        assert_true(key_before(&sooner, &a));
    }
}

/* Rule 2: only file order counts. The samples of the second form have times. */
static void add_by_file_order(enum record_form form) {
    struct record_builder s;
    begin_records(&s, form);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 90);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/first", 80);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 70);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/second", 60);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 50);
    check_records(&s, "- /first /second", NULL);
}

TEST(state_rule_2_without_times) {
    add_by_file_order(WITHOUT_TIME);
}

TEST(state_rule_2_without_sample_id_all) {
    add_by_file_order(WITHOUT_ID);
}

/* Rule 3: state records without a time are applied first, wherever they are in the file. */
TEST(state_rule_3_no_time_acts_first) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 5);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 5);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/timed", 10);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 15);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/zero", 0);
    add_mmap(&s, USER_MODE, 8, 8, LOW, SIZE, "/never", UINT64_MAX);
    check_records(&s, "/zero /never /timed", NULL);
}

/* Rule 9: the tid decides, not the pid. */
TEST(state_rule_9_map_of_the_tid) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_comm(&s, 0, 7, 7, "seven", 1);
    add_comm(&s, 0, 8, 8, "eight", 1);
    add_mmap(&s, USER_MODE, 8, 7, LOW, SIZE, "/lib", 2);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 3);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 3);
    check_records(&s, "/lib -", "seven eight");
}

TEST(state_rule_9_one_kernel_in_which_modules_win) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, KERNEL_MODE, UINT32_MAX, 0, LOW + 0x40, 0x40, "/lib/modules/m.ko", 1);
    add_mmap(&s, KERNEL_MODE, UINT32_MAX, 0, LOW, SIZE, "[kernel.kallsyms]_text", 2);
    add_sample(&s, KERNEL_MODE, 7, 7, LOW + 0x3f, 3);
    add_sample(&s, KERNEL_MODE, 8, 9, LOW + 0x40, 3);
    add_sample(&s, KERNEL_MODE, 8, 9, LOW + 0x7f, 3);
    add_sample(&s, KERNEL_MODE, 8, 9, LOW + 0x80, 3);
    add_sample(&s, USER_MODE, 8, 9, LOW + 0x40, 3);
    add_sample(&s, 0, 8, 9, LOW + 0x40, 3);
    check_records(&s, "[kernel.kallsyms]_text /lib/modules/m.ko /lib/modules/m.ko [kernel.kallsyms]_text - -", NULL);
}

TEST(state_rule_9_no_length_and_not_yet) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 5);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/lib", 10);
    add_mmap(&s, USER_MODE, 7, 7, INSIDE, 0, "/none", 11);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 12);
    add_sample(&s, USER_MODE, 7, 7, LOW + SIZE - 1, 12);
    add_sample(&s, USER_MODE, 7, 7, LOW + SIZE, 12);
    check_records(&s, "- /lib /lib -", NULL);
}

/* Rule 10: the CPU mode selects the space; nothing is known without a mode, and for the hypervisor and guests. */
TEST(state_rule_10_the_mode_chooses_the_space) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, KERNEL_MODE, UINT32_MAX, 0, LOW, SIZE, "[kernel.kallsyms]_text", 0);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/lib", 10);
    for (uint16_t mode = 0; mode < 6; mode++)
        add_sample(&s, mode, 7, 7, INSIDE, 20);
    check_records(&s, "- [kernel.kallsyms]_text /lib - - -", NULL);
}

/* Rule 11: code that was loaded while the kernel ran exists until it is unloaded; other code may take its place. */
TEST(state_rule_11_ksymbols_are_intervals) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_ksymbol(&s, LOW, SIZE, false, "bpf_prog_one", 20);
    add_ksymbol(&s, LOW, SIZE, true, "bpf_prog_one", 40);
    add_ksymbol(&s, LOW, SIZE / 2, false, "bpf_prog_two", 60);
    for (uint64_t time = 10; time <= 70; time += 20)
        add_sample(&s, KERNEL_MODE, 7, 7, INSIDE, time);
    add_sample(&s, KERNEL_MODE, 7, 7, LOW + SIZE - 1, 70);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 70);
    check_records(&s, "- bpf_prog_one - bpf_prog_two - -", NULL);
}

/* ... and within the kernel's mapping it is the symbol, not the object. */
TEST(state_rule_11_ksymbols_within_the_kernel) {
    struct record_builder s;
    struct memory memory;
    struct state state;
    struct place place;
    pfr_error err;
    const pfr_record rec = {.misc = KERNEL_MODE};
    begin_records(&s, TIMED);
    add_mmap(&s, KERNEL_MODE, UINT32_MAX, 0, 0, 0x100000, "[kernel.kallsyms]_text", 0);
    add_ksymbol(&s, LOW, SIZE, false, "bpf_prog_one", 20);
    end_file(&s.b);
    pfr_reader *reader = open_built(&s.b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    state_place(&state, &rec, 7, 7, INSIDE, (struct record_key){30, 1, 0}, &place);
    assert_int_equal(state.objects.at[place.object].kind, OBJECT_KERNEL);
    assert_non_null(place.ksymbol);
    assert_string_equal(intern_chars(&state.names, state.objects.at[place.ksymbol->object].path), "bpf_prog_one");
    assert_int_equal(place.ksymbol->start, LOW);
    state_place(&state, &rec, 7, 7, INSIDE, (struct record_key){10, 1, 0}, &place);
    assert_null(place.ksymbol);
    state_free(&state);
    pfr_close(reader);
    free(s.b.bytes);
}

TEST(state_rule_11_cgroups_have_paths_by_key) {
    struct record_builder s;
    struct memory memory;
    struct state state;
    pfr_error err;
    begin_records(&s, TIMED);
    add_cgroup(&s, 5, "/second", 30);
    add_cgroup(&s, 5, "/first", 10);
    add_cgroup(&s, 6, "/other", 10);
    end_file(&s.b);
    pfr_reader *reader = open_built(&s.b, NULL);
    memory_init(&memory, NULL, 0);
    ASSERT_OK(state_build(&state, reader, &memory, &err), err);
    assert_int_equal(state_cgroup(&state, 5, (struct record_key){5, 1, 0}), NO_VALUE);
    assert_string_equal(intern_chars(&state.names, state_cgroup(&state, 5, (struct record_key){20, 1, 0})), "/first");
    assert_string_equal(intern_chars(&state.names, state_cgroup(&state, 5, (struct record_key){40, 1, 0})), "/second");
    assert_string_equal(intern_chars(&state.names, state_cgroup(&state, 6, (struct record_key){40, 1, 0})), "/other");
    assert_int_equal(state_cgroup(&state, 7, (struct record_key){40, 1, 0}), NO_VALUE);
    state_free(&state);
    pfr_close(reader);
    free(s.b.bytes);
}

/* Mappings of all kinds, forks and names, so many that every array grows. */
static struct builder build_many(void) {
    struct record_builder s;
    char path[32];
    begin_records(&s, TIMED);
    add_mmap(&s, KERNEL_MODE, UINT32_MAX, 0, LOW, SIZE, "[kernel.kallsyms]_text", 0);
    for (uint32_t i = 1; i <= 300; i++) {
        snprintf(path, sizeof path, "/lib/%u", i);
        add_fork(&s, 0, 100 + i, 99 + i, 100 + i, 99 + i, 10 * i);
        add_mmap(&s, USER_MODE, 100 + i, 100 + i, LOW * i, SIZE, path, 10 * i + 1);
        add_mmap(&s, USER_MODE, 120, 120, LOW * i, SIZE, i % 2 ? "//anon" : "[vdso]", 10 * i + 2);
        add_comm(&s, i % 3 ? 0 : WITH_EXEC, 100 + i, 100 + i, path, 10 * i + 3);
    }
    end_file(&s.b);
    return s.b;
}

TEST(state_build_leaves_nothing_when_an_allocation_fails) {
    struct builder b = build_many();
    pfr_reader *reader = open_built(&b, NULL);
    struct failing_alloc failing = {.has_failed = true};
    long n = 1;
    for (; failing.has_failed; n++) {
        struct memory memory;
        struct state state;
        pfr_error err;
        failing_alloc_begin(&failing, n);
        memory_init(&memory, &failing.alloc, 0);
        ASSERT_OK(pfr_rewind(reader, &err), err);
        const pfr_status st = state_build(&state, reader, &memory, &err);
        state_free(&state);
        assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        if (failing.blocks != 0 || memory.used != 0)
            fail_msg("%ld blocks and %ju bytes are left when allocation %ld fails", failing.blocks,
                     (uintmax_t)memory.used, n);
    }
    assert_true(n > 50);
    pfr_close(reader);
    free(b.bytes);
}
