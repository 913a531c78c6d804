/* SPDX-License-Identifier: Apache-2.0 */
/* The seed of hash tables, see hash_seed.h, and the functions of debug.h. */
#include "base/tables/hash_seed.h"

#include <perfray/debug.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "base/memory/sizes.h"

uint64_t hash_seed;

/* Early in boot the kernel may have no random bytes; then the seed is made of the time, a randomised address and the
   process id. */
__attribute__((constructor)) static void draw_seed(void) {
    struct timespec now;
    if (getrandom(&hash_seed, sizeof hash_seed, GRND_NONBLOCK) == (ssize_t)sizeof hash_seed)
        return;
    clock_gettime(CLOCK_REALTIME, &now);
    hash_seed = (uint64_t)(uintptr_t)&now ^ (uint64_t)now.tv_nsec << 32 ^ (uint64_t)getpid();
}

void pfr_debug_hash_seed(uint64_t seed) {
    hash_seed = seed;
}

pfr_status pfr_debug_sizes(const char *text, pfr_error *err) {
    return sizes_set(text, err);
}
