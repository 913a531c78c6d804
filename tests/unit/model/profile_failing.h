/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_PROFILE_FAILING_H
#define PFR_TESTS_PROFILE_FAILING_H
/* Loads profiles while allocations fail. */
#include "state_builder.h"

#include "../base/failing_alloc.h"

/* Whichever allocation fails, the profile reports it and leaks nothing. */
static inline void expect_nothing_left(const struct record_builder *s, const struct profile_request *request) {
    struct failing_alloc failing = {.has_failed = true};
    long n = 1;
    for (; failing.has_failed; n++) {
        struct profile *p = NULL;
        pfr_error err;
        failing_alloc_begin(&failing, n);
        const pfr_open_options options = {.size = sizeof options, .alloc = &failing.alloc};
        pfr_reader *reader = pfr_open_bytes(s->b.bytes, s->b.length, &options, &err);
        if (reader) {
            const pfr_status st = profile_load(&p, reader, request, &err);
            assert_int_equal(st, failing.has_failed ? PFR_ERR_MEMORY : PFR_OK);
        }
        profile_close(p);
        pfr_close(reader);
        if (failing.blocks != 0)
            fail_msg("%ld blocks are left when allocation %ld fails", failing.blocks, n);
    }
    assert_true(n > 40);
}

#endif
