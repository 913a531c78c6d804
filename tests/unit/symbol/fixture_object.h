/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_FIXTURE_OBJECT_H
#define PFR_TESTS_FIXTURE_OBJECT_H
/* Path of an object of tests/fixtures/objects; valid until the next call. Skips the test if there are no fixtures. */
#include <stdio.h>
#include <stdlib.h>
#include "test.h"

static inline const char *fixture_object(const char *name) {
    static char path[1024];
    const char *fixtures = getenv("FIXTURES");
    if (!fixtures)
        skip();
    snprintf(path, sizeof path, "%.800s/objects/%s", fixtures, name);
    return path;
}

#endif
