/* SPDX-License-Identifier: Apache-2.0 */
/* Debug variables: see debugging.h. A program with more privileges than its caller ignores them (secure_getenv). */
#include "debugging.h"

#include <errno.h>
#include <perfray/debug.h>
#include <stdlib.h>
#include "outcome.h"

static bool apply_sizes(void) {
    const char *const text = secure_getenv("PERFRAY_SIZES");
    pfr_error err;
    if (!text || pfr_debug_sizes(text, &err) == PFR_OK)
        return true;
    complain("PERFRAY_SIZES: %s", err.text);
    return false;
}

static bool apply_hash_seed(void) {
    const char *const text = secure_getenv("PERFRAY_HASH_SEED");
    char *end;
    if (!text)
        return true;
    errno = 0;
    const unsigned long long seed = strtoull(text, &end, 0);
    if (errno == 0 && end != text && *end == '\0') {
        pfr_debug_hash_seed(seed);
        return true;
    }
    complain("PERFRAY_HASH_SEED: '%s' is not a number of at most 64 bits", text);
    return false;
}

bool apply_debug_variables(void) {
    return apply_sizes() && apply_hash_seed();
}
