/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The main function of every unit test program. It runs the tests that TEST() put into the linker section pfr_tests.
 *
 * Each test is a separate cmocka group, because cmocka only returns how many tests of a group failed. With one test per
 * group, this number and whether the test reached its end distinguish passed, failed and skipped. The result is printed
 * as one line that ./dev test counts: `ok NAME`, `not ok NAME` or `skip NAME reason`.
 */
#include "test.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Symbols that the linker makes from the section's name. */
extern const struct test_entry *const __start_pfr_tests[];
extern const struct test_entry *const __stop_pfr_tests[];

struct attempt {
    const struct test_entry *test;
    bool finished;
};

static void run_attempt(void **state) {
    struct attempt *attempt = *state;
    attempt->test->run();
    attempt->finished = true;
}

/* "../tests/unit/base/cursor_test.c" -> "unit/base/cursor_test" with its length */
static int name_file(const char *path, const char **start) {
    const char *from = strstr(path, "unit/");
    *start = from ? from : path;
    const char *dot = strrchr(*start, '.');
    return (int)(dot ? (size_t)(dot - *start) : strlen(*start));
}

static bool try_test(const struct test_entry *test) {
    struct attempt attempt = {test, false};
    const struct CMUnitTest group[] = {{test->name, run_attempt, NULL, NULL, &attempt}};
    const int failures = _cmocka_run_group_tests(test->name, group, 1, NULL, NULL);
    const char *file;
    const int length = name_file(test->file, &file);
    const char *result = failures ? "not ok" : attempt.finished ? "ok" : "skip";
    const char *reason = failures || attempt.finished ? "" : " it called skip()";
    printf("%s %.*s:%s%s\n", result, length, file, test->name, reason);
    fflush(stdout);
    return failures == 0;
}

int main(int argc, char **argv) {
    const char *word = argc > 1 ? argv[1] : "";
    int failed = 0;
    for (const struct test_entry *const *at = __start_pfr_tests; at < __stop_pfr_tests; at++)
        if (strstr((*at)->name, word) && !try_test(*at))
            failed++;
    return failed ? 1 : 0;
}
