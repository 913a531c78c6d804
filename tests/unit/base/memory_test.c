/* SPDX-License-Identifier: Apache-2.0 */
/* Counted memory, the arena on top of it, and the tables: every allocation fails once and nothing is lost. */
#include "test.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <pthread.h>
#include <sys/wait.h>
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "base/tables/intern.h"
#include "base/memory/pages.h"
#include "failing_alloc.h"

TEST(memory_counts_and_limits) {
    struct memory memory;
    pfr_error err;
    memory_init(&memory, NULL, 100);
    char *a = mem_alloc(&memory, 10, 6);
    assert_non_null(a);
    assert_int_equal(memory.used, 60);
    assert_null(mem_alloc(&memory, 41, 1));
    assert_int_equal(mem_fail(&memory, &err, "thing"), PFR_ERR_LIMIT);
    assert_non_null(strstr(err.text, "41 bytes"));
    assert_null(mem_resize(&memory, a, 10, 101, 6));
    assert_int_equal(memory.used, 60);
    mem_free(&memory, a, 10, 6);
    assert_int_equal(memory.used, 0);
}

static size_t resident(void) {
    size_t whole = 0, here = 0;
    FILE *const file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%zu %zu", &whole, &here), 2);
    fclose(file);
    return here * (size_t)sysconf(_SC_PAGESIZE);
}

enum { SMALL = 16384, BLOCKS = 1024 };

/* Allocates small blocks and frees all but one in sixteen, so that the heap cannot just shrink at its end. */
TEST(memory_that_was_freed_goes_back) {
    static char *blocks[BLOCKS];
    struct memory memory;
    memory_init(&memory, NULL, 0);
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = mem_alloc(&memory, SMALL, 1);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, SMALL);
    }
    const size_t full = resident();
    for (size_t i = 0; i < BLOCKS; i++)
        if (i % 16 != 15)
            mem_free(&memory, blocks[i], SMALL, 1);
    memory_settle(&memory);
    const size_t left = resident();
    for (size_t i = 15; i < BLOCKS; i += 16) {
        assert_int_equal(blocks[i][SMALL - 1], 1);
        mem_free(&memory, blocks[i], SMALL, 1);
    }
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(left + (size_t)SMALL * BLOCKS / 2 < full); /* sanitizers keep freed memory on purpose */
#endif
    (void)full, (void)left;
}

/* glibc prepares its allocator at the first use, without a lock. In a program with another malloc (a sanitizer's,
   jemalloc's) the first use is a malloc_trim. Only a new process has a first use, therefore the test starts its program
   again. */
#define FIRST_USES (getenv("PERFRAY_SPARSE") ? 0 : 40) /* an emulated program cannot start itself */

static void *settle_with_other(void *others) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    __atomic_sub_fetch((int *)others, 1, __ATOMIC_SEQ_CST);
    for (long spins = 0; spins < 100000000 && __atomic_load_n((int *)others, __ATOMIC_SEQ_CST) > 0; spins++)
        ; /* after a barrier, the threads would continue microseconds apart */
    memory_settle(&memory);
    return NULL;
}

TEST(memory_settles_in_two_threads) {
    pthread_t thread;
    int others = 2;
    assert_int_equal(pthread_create(&thread, NULL, settle_with_other, &others), 0);
    settle_with_other(&others);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int run_again(char *word) {
    int status = -1;
    const pid_t child = fork();
    if (child == 0) {
        char program[] = "unit_base", *const words[] = {program, word, NULL};
        if (freopen("/dev/null", "w", stdout))
            execv("/proc/self/exe", words);
        _exit(127);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

TEST(memory_settles_first_in_two_threads) {
    char word[] = "memory_settles_in_two_threads";
    for (int i = 0; i < FIRST_USES; i++)
        assert_int_equal(run_again(word), 0);
}

TEST(memory_resizes_and_frees) {
    struct memory memory;
    memory_init(&memory, NULL, 100);
    char *a = mem_zeroed(&memory, 4, 10);
    for (int i = 0; i < 40; i++)
        assert_int_equal(a[i], 0);
    a = mem_resize(&memory, a, 4, 10, 10);
    assert_non_null(a);
    assert_int_equal(memory.used, 100);
    a = mem_resize(&memory, a, 10, 1, 10);
    assert_int_equal(memory.used, 10);
    assert_int_equal(memory.peak, 100);
    mem_free(&memory, a, 1, 10);
    mem_free(&memory, NULL, 7, 7);
    assert_int_equal(memory.used, 0);
}

TEST(memory_products_do_not_wrap) {
    struct memory memory;
    memory_init(&memory, NULL, UINT64_MAX);
    assert_null(mem_alloc(&memory, SIZE_MAX / 2, 4));
    assert_int_equal(memory.failed, PFR_ERR_LIMIT);
    assert_null(mem_alloc(&memory, SIZE_MAX, 1));
    assert_null(mem_zeroed(&memory, SIZE_MAX, SIZE_MAX));
    assert_false(mem_charge(&memory, UINT64_MAX));
    void *none = mem_alloc(&memory, 0, 8);
    assert_non_null(none);
    mem_free(&memory, none, 0, 8);
    assert_int_equal(memory.used, 0);
}

TEST(memory_distinguishes_limit_from_failure) {
    struct failing_alloc failing;
    struct memory memory;
    pfr_error err;
    failing_alloc_begin(&failing, 1);
    memory_init(&memory, &failing.alloc, 0);
    assert_null(mem_alloc(&memory, 1, 8));
    assert_int_equal(mem_fail(&memory, &err, "x"), PFR_ERR_MEMORY);
    assert_int_equal(memory.used, 0);
}

TEST(memory_grows_arrays) {
    struct memory memory;
    memory_init(&memory, NULL, 1000);
    size_t capacity = 0;
    int *array = NULL;
    for (int i = 0; i < 100; i++) {
        int *grown = mem_grow(&memory, array, (size_t)i, &capacity, 3, sizeof *array);
        assert_non_null(grown);
        array = grown;
        array[i] = i;
    }
    assert_int_equal(array[77], 77);
    assert_int_equal(capacity, 192);
    assert_null(mem_grow(&memory, array, capacity, &capacity, 3, sizeof *array));
    assert_int_equal(capacity, 192);
    mem_free(&memory, array, capacity, sizeof *array);
}

/* If the requested size is far beyond the current one, the array grows by as many steps as necessary. */
TEST(memory_grows_arrays_to_any_number) {
    struct memory memory;
    memory_init(&memory, NULL, 1 << 20);
    size_t capacity = 0;
    int *array = mem_grow(&memory, NULL, 1000, &capacity, 3, sizeof *array);
    assert_non_null(array);
    assert_int_equal(capacity, 1536);
    array[1000] = 1000;
    array = mem_grow(&memory, array, 50000, &capacity, 3, sizeof *array);
    assert_non_null(array);
    assert_true(capacity > 50000);
    assert_int_equal(array[1000], 1000);
    assert_null(mem_grow(&memory, array, SIZE_MAX, &capacity, 3, sizeof *array));
    assert_int_equal(mem_failure(&memory), PFR_ERR_LIMIT);
    assert_true(capacity > 50000 && capacity < 100000);
    mem_free(&memory, array, capacity, sizeof *array);
    assert_int_equal(memory.used, 0);
}

/* A block is resized from small through many large sizes and back: written bytes remain, and new ones are zero. */
TEST(memory_large_blocks_grow_and_shrink) {
    static const size_t sizes[] = {1000, 300000, 700001, 5000000, 1 << 20, 4000000, 9999, 600000, 1};
    struct memory memory;
    memory_init(&memory, NULL, 0);
    uint32_t *at = mem_zeroed(&memory, sizes[0], sizeof *at);
    for (size_t i = 0; i < sizes[0]; i++)
        at[i] = (uint32_t)i;
    for (size_t k = 1; k < sizeof sizes / sizeof *sizes; k++) {
        at = mem_resize(&memory, at, sizes[k - 1], sizes[k], sizeof *at);
        assert_non_null(at);
        assert_int_equal(memory.used, sizes[k] * sizeof *at);
        const size_t kept = sizes[k] < sizes[k - 1] ? sizes[k] : sizes[k - 1];
        for (size_t i = 0; i < kept; i++)
            assert_int_equal(at[i], (uint32_t)i);
        for (size_t i = kept; i < sizes[k]; i++)
            at[i] = (uint32_t)i;
    }
    mem_free(&memory, at, 1, sizeof *at);
    assert_int_equal(memory.used, 0);
}

/* This holds also if a block shrank so little that its pages were not returned. */
TEST(pages_that_are_added_are_zero) {
    static const size_t sizes[] = {3000000, 2500000, 3000001, 9000000, 2097153, 4194304, 4194303, 7000000};
    uint8_t *at = pages_take(sizes[0]);
    assert_non_null(at);
    memset(at, 1, sizes[0]);
    for (size_t k = 1; k < sizeof sizes / sizeof *sizes; k++) {
        const size_t kept = sizes[k] < sizes[k - 1] ? sizes[k] : sizes[k - 1];
        at = pages_resize(at, sizes[k - 1], sizes[k]);
        assert_non_null(at);
        for (size_t i = 0; i < sizes[k]; i++)
            if (at[i] != (i < kept))
                fail_msg("byte %zu of %zu is %u", i, sizes[k], at[i]);
        memset(at, 1, sizes[k]);
    }
    pages_release(at, 7000000);
    assert_null(pages_take(SIZE_MAX));
}

TEST(memory_large_zeroed_blocks_are_zero) {
    struct memory memory;
    memory_init(&memory, NULL, 0);
    for (int round = 0; round < 3; round++) {
        uint8_t *at = mem_zeroed(&memory, 3 << 20, 1);
        for (size_t i = 0; i < 3 << 20; i += 7) {
            assert_int_equal(at[i], 0);
            at[i] = 1;
        }
        mem_free(&memory, at, 3 << 20, 1);
    }
    assert_null(mem_alloc(&memory, (size_t)1 << 46, 1));
}

TEST(arena_keeps_pointers_and_alignment) {
    struct memory memory;
    struct arena arena;
    uint64_t *numbers[3000];
    memory_init(&memory, NULL, 0);
    arena_init(&arena, &memory);
    for (unsigned i = 0; i < 3000; i++) {
        assert_non_null(arena_text(&arena, "abc", i % 4));
        numbers[i] = arena_copy(&arena, &(uint64_t){i}, 8, 8);
        assert_int_equal((uintptr_t)numbers[i] % 8, 0);
    }
    for (size_t align = 1; align <= 4096; align *= 2)
        assert_int_equal((uintptr_t)arena_take(&arena, 5, align) % align, 0);
    char *big = arena_zeroed(&arena, 3, 1 << 20);
    assert_int_equal(big[(3 << 20) - 1], 0);
    for (unsigned i = 0; i < 3000; i++)
        assert_int_equal(*numbers[i], i);
    arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

TEST(arena_refuses_impossible_sizes) {
    struct memory memory;
    struct arena arena;
    memory_init(&memory, NULL, 10000);
    arena_init(&arena, &memory);
    assert_null(arena_take(&arena, SIZE_MAX, 8));
    assert_null(arena_zeroed(&arena, SIZE_MAX / 2, 4));
    assert_null(arena_text(&arena, "", SIZE_MAX));
    assert_null(arena_take(&arena, 10000, 1));
    assert_int_equal(memory.failed, PFR_ERR_LIMIT);
    assert_non_null(arena_take(&arena, 0, 1));
    assert_string_equal(arena_text(&arena, NULL, 0), "");
    arena_free(&arena);
    assert_int_equal(memory.used, 0);
}

static pfr_status fill_table(struct intern_table *table, unsigned count, pfr_error *err) {
    for (unsigned i = 0; i < count; i++) {
        uint32_t id, again;
        const size_t length = i % 7 + 4;
        uint8_t text[16] = {0};
        memcpy(text, &i, sizeof i);
        pfr_status status = intern_put(table, text, length, &id, err);
        if (status == PFR_OK)
            status = intern_put(table, text, length, &again, err);
        if (status != PFR_OK)
            return status;
        assert_int_equal(id, i);
        assert_int_equal(again, i);
    }
    return PFR_OK;
}

TEST(intern_gives_dense_ids_and_bytes_back) {
    struct memory memory;
    struct intern_table table;
    pfr_error err;
    memory_init(&memory, NULL, 0);
    intern_init(&table, &memory);
    assert_int_equal(intern_find(&table, "", 0), INTERN_NONE);
    ASSERT_OK(fill_table(&table, 5000, &err), err);
    assert_int_equal(table.count, 5000);
    const unsigned number = 4321;
    uint8_t text[16] = {0};
    memcpy(text, &number, sizeof number);
    const size_t length = number % 7 + 4;
    assert_int_equal(intern_find(&table, text, length), number);
    assert_int_equal(intern_find(&table, text, length + 1), INTERN_NONE);
    assert_int_equal(intern_get(&table, number).length, length);
    assert_memory_equal(intern_get(&table, number).bytes, text, length);
    assert_int_equal(intern_chars(&table, number)[length], 0);
    uint32_t id;
    ASSERT_OK(intern_put(&table, NULL, 0, &id, &err), err);
    assert_string_equal(intern_chars(&table, id), "");
    assert_int_equal(intern_find(&table, "", 0), id);
    ASSERT_STATUS(intern_put(&table, "", (size_t)UINT32_MAX + 1, &id, &err), PFR_ERR_LIMIT, err);
    intern_free(&table);
    assert_int_equal(memory.used, 0);
}

TEST(intern_survives_each_failing_allocation) {
    struct failing_alloc failing;
    long n = 0;
    do {
        struct memory memory;
        struct intern_table table;
        pfr_error err;
        failing_alloc_begin(&failing, ++n);
        memory_init(&memory, &failing.alloc, 0);
        intern_init(&table, &memory);
        const pfr_status status = fill_table(&table, 500, &err);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        intern_free(&table);
        assert_int_equal(failing.blocks, 0);
        assert_int_equal(memory.used, 0);
    } while (failing.has_failed);
    assert_true(n > 5);
}

TEST(map_keeps_any_key_and_value) {
    struct memory memory;
    struct u64_map map;
    pfr_error err;
    uint64_t value = 5;
    memory_init(&memory, NULL, 0);
    u64_map_init(&map, &memory);
    assert_false(u64_map_get(&map, 0, &value));
    assert_false(u64_map_get(&map, 9, &value));
    for (uint64_t i = 0; i < 20000; i++)
        ASSERT_OK(u64_map_put(&map, i * 0x1000, ~i, &err), err);
    ASSERT_OK(u64_map_put(&map, UINT64_MAX, 0, &err), err);
    assert_int_equal(u64_map_count(&map), 20001);
    for (uint64_t i = 0; i < 20000; i++) {
        assert_true(u64_map_get(&map, i * 0x1000, &value));
        assert_int_equal(value, ~i);
        assert_false(u64_map_get(&map, i * 0x1000 + 1, &value));
    }
    assert_true(u64_map_get(&map, UINT64_MAX, &value));
    assert_int_equal(value, 0);
    bool is_new;
    *u64_map_at(&map, 0x1000, 0, &is_new) += 1;
    assert_false(is_new);
    u64_map_get(&map, 0x1000, &value);
    assert_int_equal(value, UINT64_MAX);
    u64_map_free(&map);
    assert_int_equal(memory.used, 0);
}

TEST(map_survives_each_failing_allocation) {
    struct failing_alloc failing;
    long n = 0;
    do {
        struct memory memory;
        struct u64_map map;
        pfr_error err;
        pfr_status status = PFR_OK;
        failing_alloc_begin(&failing, ++n);
        memory_init(&memory, &failing.alloc, 0);
        u64_map_init(&map, &memory);
        for (uint64_t i = 0; i < 100 && status == PFR_OK; i++)
            status = u64_map_put(&map, i, i, &err);
        assert_int_equal(status, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        uint64_t value;
        for (uint64_t i = 0; i < u64_map_count(&map); i++)
            assert_true(u64_map_get(&map, i, &value) && value == i);
        u64_map_free(&map);
        assert_int_equal(failing.blocks, 0);
    } while (failing.has_failed);
}

/* Memory of a share counts toward the whole; its failures do not affect the whole. */
TEST(a_sparing_share_leaves_a_part_of_the_whole_to_others) {
    struct memory whole, share, inner;
    memory_init(&whole, NULL, 1600);
    memory_share(&share, &whole);
    memory_share_sparing(&inner, &share);
    void *a = mem_alloc(&whole, 1, 1000);
    assert_null(mem_alloc(&inner, 1, 501));
    assert_int_equal(inner.failed, PFR_ERR_LIMIT);
    assert_int_equal(whole.used, 1000);
    void *b = mem_alloc(&inner, 1, 500);
    assert_non_null(b);
    assert_null(mem_resize(&inner, b, 500, 501, 1));
    void *c = mem_alloc(&share, 1, 100);
    assert_non_null(c);
    assert_int_equal(whole.used, 1600);
    b = mem_resize(&inner, b, 500, 400, 1);
    assert_non_null(b);
    mem_free(&whole, a, 1, 1000);
    mem_free(&inner, b, 1, 400);
    mem_free(&share, c, 1, 100);
    assert_int_equal(whole.used, 0);
}

TEST(unused_room_of_an_array_is_freed) {
    struct memory memory;
    size_t room = 100;
    memory_init(&memory, NULL, 1000);
    char *at = mem_alloc(&memory, room, 1);
    memset(at, 7, room);
    at = mem_trim(&memory, at, 30, &room, 1);
    assert_int_equal(room, 30);
    assert_int_equal(memory.used, 30);
    assert_int_equal(at[29], 7);
    at = mem_trim(&memory, at, 30, &room, 1);
    assert_int_equal(room, 30);
    at = mem_trim(&memory, at, 0, &room, 1);
    assert_int_equal(room, 1);
    mem_free(&memory, at, room, 1);
    assert_int_equal(memory.used, 0);
}

TEST(a_share_counts_against_the_whole) {
    struct memory whole, share;
    memory_init(&whole, NULL, 1000);
    memory_share(&share, &whole);
    void *a = mem_alloc(&whole, 1, 600), *b = mem_alloc(&share, 1, 300);
    assert_non_null(a);
    assert_non_null(b);
    assert_int_equal(whole.used, 900);
    assert_int_equal(share.used, 300);
    assert_null(mem_resize(&share, b, 300, 401, 1));
    assert_int_equal(share.failed, PFR_ERR_LIMIT);
    assert_int_equal(whole.failed, PFR_OK);
    b = mem_resize(&share, b, 300, 400, 1);
    assert_non_null(b);
    assert_int_equal(whole.used, 1000);
    assert_null(mem_alloc(&whole, 1, 1));
    b = mem_resize(&share, b, 400, 100, 1);
    assert_int_equal(whole.used, 700);
    mem_free(&share, b, 100, 1);
    mem_free(&whole, a, 600, 1);
    assert_int_equal(whole.used, 0);
    assert_int_equal(share.used, 0);
    assert_int_equal(whole.peak, 1000);
}
