/* SPDX-License-Identifier: Apache-2.0 */
/* Errors, their texts, and the defaults of limits. */
#include "test.h"
#include <errno.h>
#include <string.h>
#include "base/memory/bounds.h"
#include "base/memory/fail.h"

TEST(status_names_are_known_and_never_null) {
    assert_string_equal(pfr_status_name(PFR_OK), "ok");
    assert_string_equal(pfr_status_name(PFR_HOLE), "hole");
    assert_string_equal(pfr_status_name(PFR_ERR_USAGE), "usage");
    assert_string_equal(pfr_status_name(PFR_ERR_CHANGED), "changed");
    for (int i = -8; i <= 2; i++)
        assert_string_not_equal(pfr_status_name((pfr_status)i), "unknown");
    assert_string_equal(pfr_status_name((pfr_status)3), "unknown");
    assert_string_equal(pfr_status_name((pfr_status)-9), "unknown");
}

TEST(fail_fills_and_returns) {
    pfr_error err;
    assert_int_equal(pfr_fail(&err, PFR_ERR_DAMAGE, 7, 8, "mmap.len", "%d of %s", 3, "it"), PFR_ERR_DAMAGE);
    assert_int_equal(err.status, PFR_ERR_DAMAGE);
    assert_int_equal(err.offset, 7);
    assert_int_equal(err.length, 8);
    assert_string_equal(err.where, "mmap.len");
    assert_string_equal(err.text, "3 of it");
    assert_int_equal(pfr_fail(NULL, PFR_HOLE, 0, 0, NULL, "x"), PFR_HOLE);
    pfr_fail(&err, PFR_HOLE, 0, 0, NULL, "x");
    assert_string_equal(err.where, "");
}

TEST(fail_text_is_one_line_and_safe) {
    pfr_error err;
    char name[700];
    memset(name, 'a', sizeof name);
    name[sizeof name - 1] = '\0';
    pfr_fail(&err, PFR_ERR_IO, 0, 0, "x", "%s", name);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
    pfr_fail(&err, PFR_ERR_IO, 0, 0, "x", "%s", "a\n\033[2J");
    assert_string_equal(err.text, "a\\x0a\\x1b[2J");
}

TEST(fail_errno_maps_causes) {
    pfr_error err;
    assert_int_equal(pfr_fail_errno(&err, EACCES, "open", "a.data"), PFR_ERR_PERMISSION);
    assert_string_equal(err.text, "cannot open a.data: Permission denied");
    assert_int_equal(err.offset, PFR_NO_OFFSET);
    assert_int_equal(pfr_fail_errno(&err, EPERM, "open", NULL), PFR_ERR_PERMISSION);
    assert_int_equal(pfr_fail_errno(&err, ENOMEM, "open", "a"), PFR_ERR_MEMORY);
    assert_int_equal(pfr_fail_errno(NULL, ENOSPC, "write", "a"), PFR_ERR_IO);
}

TEST(limits_have_defaults_and_keep_what_is_asked) {
    const pfr_limits all = limits_resolve(NULL);
    assert_int_equal(all.memory, DEFAULT_LIMIT_MEMORY);
    assert_int_equal(all.depth, DEFAULT_LIMIT_DEPTH);
    assert_int_equal(all.chunk, DEFAULT_LIMIT_CHUNK);
    const pfr_limits asked = {.size = sizeof asked, .memory = 5, .depth = 3, .ratio = 9};
    const pfr_limits some = limits_resolve(&asked);
    assert_int_equal(some.memory, 5);
    assert_int_equal(some.depth, 3);
    assert_int_equal(some.ratio, 9);
    assert_int_equal(some.window, DEFAULT_LIMIT_WINDOW);
    const pfr_limits older = {.size = offsetof(pfr_limits, ratio), .memory = 5, .ratio = 9};
    assert_int_equal(limits_resolve(&older).ratio, DEFAULT_LIMIT_RATIO);
    assert_int_equal(limits_resolve(&older).memory, 5);
}
