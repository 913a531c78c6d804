/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules of docs/state.md about threads: 4 to 8. Each test builds a recording in memory, and fails if the
 * rule is broken. Also a chain of forks that is far deeper than a lookup may follow.
 */
#include "state_builder.h"

enum { LOW = 0x1000, INSIDE = 0x1010, HIGH = 0x9000, SIZE = 0x100, FORKS = 100000 };

/* Rule 4: the tid identifies the thread, whatever pid a record has; a new tid joins the process of its pid. */
TEST(threads_rule_4_tid_finds_pid_is_joined) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/seven", 1);
    add_mmap(&s, USER_MODE, 8, 8, LOW, SIZE, "/eight", 1);
    add_mmap(&s, USER_MODE, UINT32_MAX, UINT32_MAX, LOW, SIZE, "/nobody", 1);
    add_comm(&s, 0, 7, 70, "member", 2);
    add_sample(&s, USER_MODE, 7, 70, INSIDE, 3);
    add_sample(&s, USER_MODE, 8, 70, INSIDE, 3);
    add_sample(&s, USER_MODE, 8, 7, INSIDE, 3);
    add_sample(&s, USER_MODE, 8, 80, INSIDE, 3);
    add_sample(&s, USER_MODE, UINT32_MAX, UINT32_MAX, INSIDE, 3);
    add_sample(&s, USER_MODE, 0, 0, INSIDE, 3);
    check_records(&s, "/seven /seven /seven /eight - -", "member member :7 :80 :-1 swapper");
}

/* A new tid with an unknown pid creates the process. */
TEST(threads_rule_4_a_new_tid_makes_its_process) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 70, LOW, SIZE, "/lib", 1);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 2);
    add_sample(&s, USER_MODE, 7, 71, INSIDE, 2);
    check_records(&s, "/lib /lib", ":7 :71");
}

/* Rule 5: FORK begins a generation, EXIT does not end one. */
TEST(threads_rule_5_fork_begins_exit_ends_nothing) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_comm(&s, 0, 1, 1, "init", 1);
    add_comm(&s, 0, 7, 7, "first", 2);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/lib", 3);
    add_exit(&s, 7, 7, 10);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 15);
    add_fork(&s, 0, 7, 1, 7, 1, 20);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 25);
    add_comm(&s, 0, 7, 7, "second", 30);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 35);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 5);
    check_records(&s, "/lib - - /lib", "first init second first");
}

/* A tid without a fork existed before its first record; a tid created by a fork did not. */
TEST(threads_rule_5_always_there_unless_forked) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 1);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 1);
    add_comm(&s, 0, 7, 7, "seven", 10);
    add_comm(&s, 0, 1, 1, "init", 10);
    add_fork(&s, 0, 8, 1, 8, 1, 20);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 30);
    check_records(&s, NULL, "seven :8 init");
}

/* Rule 6: a new process has its parent's mappings at the time of the fork; later changes are separate. */
TEST(threads_rule_6_fork_inherits_at_its_key) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/before", 10);
    add_fork(&s, 0, 8, 7, 8, 7, 20);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/after", 30);
    add_mmap(&s, USER_MODE, 8, 8, HIGH, SIZE, "/child", 30);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 40);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 40);
    add_sample(&s, USER_MODE, 8, 8, HIGH, 40);
    add_sample(&s, USER_MODE, 7, 7, HIGH, 40);
    check_records(&s, "/before /after /child -", NULL);
}

TEST(threads_rule_6_bare_and_begun_again_are_empty) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/lib", 10);
    add_fork(&s, BARE, 8, 7, 8, 7, 20);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 30);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 30);
    add_fork(&s, 0, 7, 7, 7, 7, 40);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 50);
    check_records(&s, "- /lib -", NULL);
}

/* A thread shares the mappings of its process, those from before its fork and later ones, even if another process is
 * recorded as its parent. */
TEST(threads_rule_6_thread_joins_its_process) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/seven", 10);
    add_mmap(&s, USER_MODE, 8, 8, LOW, SIZE, "/eight", 10);
    add_fork(&s, 0, 7, 7, 70, 7, 20);
    add_fork(&s, 0, 8, 7, 80, 7, 20);
    add_mmap(&s, USER_MODE, 7, 70, HIGH, SIZE, "/shared", 30);
    add_sample(&s, USER_MODE, 7, 70, INSIDE, 40);
    add_sample(&s, USER_MODE, 8, 80, INSIDE, 40);
    add_sample(&s, USER_MODE, 7, 7, HIGH, 40);
    check_records(&s, "/seven /eight /shared", NULL);
}

/* The name is that of the forking thread, not of its process, at the time of the fork. */
TEST(threads_rule_6_name_of_the_parent_thread) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_comm(&s, 0, 7, 7, "leader", 1);
    add_fork(&s, 0, 7, 7, 70, 7, 2);
    add_comm(&s, 0, 7, 70, "worker", 3);
    add_fork(&s, 0, 8, 7, 8, 70, 4);
    add_comm(&s, 0, 7, 70, "renamed", 5);
    add_sample(&s, USER_MODE, 8, 8, INSIDE, 6);
    add_fork(&s, 0, 10, 9, 10, 9, 10);
    add_comm(&s, 0, 9, 9, "nine", 11);
    add_sample(&s, USER_MODE, 10, 10, INSIDE, 12);
    check_records(&s, NULL, "worker :10");
}

/* Rule 7: a fork costs one space, however many mappings its parent has. */
TEST(threads_rule_7_forks_copy_nothing) {
    const uint32_t maps = 1000, forks = 1000;
    struct memory memory;
    struct spaces spaces;
    struct threads threads;
    uint32_t space;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&spaces, &memory);
    threads_init(&threads, &memory, &spaces);
    ASSERT_OK(threads_space(&threads, 1, 1, KEY_FIRST, &space, &err), err);
    for (uint32_t i = 0; i < maps; i++)
        ASSERT_OK(space_add(&spaces, space, i, 1, 0, i, (struct record_key){1, i, 0}, &err), err);
    for (uint32_t i = 0; i < forks; i++)
        ASSERT_OK(threads_fork(&threads, 10 + i, 1, 10 + i, 1, false, (struct record_key){2, i, 0}, &err), err);
    ASSERT_OK(spaces_seal(&spaces, &err), err);
    assert_int_equal(spaces.count, forks + 1);
    assert_true(memory.peak < 2000000); /* copies would take 56 MB */
    space = thread_space_at(&threads, 500, 500, (struct record_key){3, 0, 0});
    assert_int_equal(space_find(&spaces, space, 77, (struct record_key){3, 0, 0})->object, 77);
    threads_free(&threads);
    spaces_free(&spaces);
    assert_int_equal(memory.used, 0);
}

/* Each process forks the next. Every lookup ends; nearby ones find the map of the first. */
TEST(threads_rule_7_deep_chains_end) {
    const struct record_key end = {UINT64_MAX - 1, 0, 0};
    struct memory memory;
    struct spaces spaces;
    struct threads threads;
    uint32_t space;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    spaces_init(&spaces, &memory);
    threads_init(&threads, &memory, &spaces);
    ASSERT_OK(threads_space(&threads, 1, 1, KEY_FIRST, &space, &err), err);
    ASSERT_OK(space_add(&spaces, space, LOW, SIZE, 0, 5, (struct record_key){1, 0, 0}, &err), err);
    for (uint32_t pid = 2; pid <= FORKS; pid++)
        ASSERT_OK(threads_fork(&threads, pid, pid - 1, pid, pid - 1, false, (struct record_key){pid, 0, 0}, &err), err);
    ASSERT_OK(spaces_seal(&spaces, &err), err);
    for (uint32_t pid = 1; pid <= FORKS; pid++) {
        const struct map *m = space_find(&spaces, thread_space_at(&threads, pid, pid, end), INSIDE, end);
        if (pid <= SPACE_DEPTH_MOST)
            assert_non_null(m);
        if (m)
            assert_int_equal(m->object, 5);
    }
    threads_free(&threads);
    spaces_free(&spaces);
    assert_int_equal(memory.used, 0);
}

/* Rule 8: a name applies to one thread; the first name also applies to the time before it, later names do not. */
TEST(threads_rule_8_first_name_holds_before) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_fork(&s, 0, 7, 7, 70, 7, 1);
    add_sample(&s, USER_MODE, 7, 70, INSIDE, 5);
    add_comm(&s, 0, 7, 70, "one", 10);
    add_sample(&s, USER_MODE, 7, 70, INSIDE, 15);
    add_comm(&s, 0, 7, 70, "two", 20);
    add_sample(&s, USER_MODE, 7, 70, INSIDE, 25);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 25);
    check_records(&s, NULL, "one one two :7");
}

TEST(threads_rule_8_exec_ends_the_maps) {
    struct record_builder s;
    begin_records(&s, TIMED);
    add_mmap(&s, USER_MODE, 7, 7, LOW, SIZE, "/old", 1);
    add_comm(&s, 0, 7, 7, "same", 5);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 6);
    add_comm(&s, WITH_EXEC, 7, 7, "new", 10);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 11);
    add_mmap(&s, USER_MODE, 7, 7, HIGH, SIZE, "/new", 12);
    add_sample(&s, USER_MODE, 7, 7, HIGH, 13);
    add_sample(&s, USER_MODE, 7, 7, INSIDE, 7);
    check_records(&s, "/old - /new /old", "same new new same");
}
