/* SPDX-License-Identifier: Apache-2.0 */
/* The number of workers that count a recording, which depends on facts that are known before counting. */
#include "model/profile/count/profile_workers.h"
#include "test.h"

static const struct workers_size large = {.samples = 100000000, .slices = 1000, .cpus = 16};

/* Each kind of sample, from the cheapest to the most expensive. */
static struct workers_size size_of_kind(unsigned kind) {
    struct workers_size size = large;
    size.plain = kind == 0;
    size.chains = kind >= 2;
    size.nodes = kind == 3;
    size.made = kind == 4;
    return size;
}

TEST(the_requested_number_of_workers_is_used_if_there_are_slices) {
    struct workers_size size = {.samples = 1, .slices = 10, .cpus = 1, .asked = 7, .chains = true};
    assert_int_equal(workers_wanted(&size), 7);
    size.asked = 11;
    assert_int_equal(workers_wanted(&size), 10);
    size.slices = 0;
    assert_int_equal(workers_wanted(&size), 1);
    size.slices = SIZE_MAX;
    size.asked = UINT32_MAX;
    assert_int_equal(workers_wanted(&size), 256);
}

TEST(few_samples_are_counted_by_one_worker) {
    static const uint64_t few[] = {0, 1, 1000, 100000};
    for (unsigned kind = 0; kind < 5; kind++)
        for (unsigned i = 0; i < sizeof few / sizeof *few; i++) {
            struct workers_size size = size_of_kind(kind);
            size.samples = few[i];
            assert_int_equal(workers_wanted(&size), 1);
        }
}

TEST(few_chains_are_counted_by_one_worker_and_many_by_several) {
    struct workers_size size = size_of_kind(2);
    size.samples = 450000;
    assert_int_equal(workers_wanted(&size), 1);
    size.nodes = true;
    assert_int_equal(workers_wanted(&size), 2);
    size.nodes = false;
    size.samples = 5000000;
    assert_int_equal(workers_wanted(&size), 4); /* not more: each worker stores nearly all stacks */
    size.cpus = 2;
    assert_int_equal(workers_wanted(&size), 2);
}

TEST(workers_never_exceed_cpus_and_never_decrease_with_work) {
    for (unsigned kind = 0; kind < 5; kind++) {
        uint32_t before = 1;
        for (uint64_t samples = 1; samples; samples *= 2) {
            struct workers_size size = size_of_kind(kind), cheaper = size_of_kind(kind ? kind - 1 : 0);
            size.samples = cheaper.samples = samples;
            const uint32_t workers = workers_wanted(&size);
            const uint32_t most = kind >= 2 ? 4 : 16;
            assert_in_range(workers, before, most);
            assert_true(workers >= workers_wanted(&cheaper) || workers == most);
            before = workers;
        }
        assert_int_equal(before, kind >= 2 ? 4 : 16);
    }
}

TEST(as_many_samples_as_can_be_do_not_wrap) {
    struct workers_size size = large;
    size.samples = UINT64_MAX;
    assert_int_equal(workers_wanted(&size), 16);
    size.cpus = 0;
    assert_int_equal(workers_wanted(&size), 1);
}
