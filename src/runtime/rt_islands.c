/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pages of jumps near an object. A call in a sled reaches 2 GiB, but the runtime may be farther away. So a page within
 * reach of the object contains a jump to each entry point for sleds. Pages are never freed; later objects that are
 * loaded near them use them too.
 */
#include "runtime/rt_sleds.h"

#include <sys/mman.h>

#if defined __x86_64__

#define ISLANDS 64u
#define ISLAND_SIZE 4096u
#define REACH ((uint64_t)0x7fff0000)
#define NEAR_STEP ((uint64_t)64 << 10)
#define FAR_STEP ((uint64_t)16 << 20)
#define NEAR_TRIES 256u
#define FIXED_NOREPLACE 0x100000

extern const char rt_sled_enter[], rt_sled_exit[], rt_sled_tail[], rt_sled_argument[], rt_sled_custom[],
    rt_sled_typed[];

static uint64_t islands[ISLANDS];
static unsigned nr_islands;

RT_PLAIN static bool in_reach(uint64_t island, uint64_t start, uint64_t end) {
    const uint64_t low = island < start ? island : start,
                   high = island + ISLAND_SIZE > end ? island + ISLAND_SIZE : end;
    return high - low < REACH;
}

RT_PLAIN static bool map_at(uint64_t at) {
    const long got = rt_syscall(SYS_mmap, (long)at, ISLAND_SIZE, PROT_READ | PROT_WRITE,
                                MAP_PRIVATE | MAP_ANONYMOUS | FIXED_NOREPLACE, -1, 0);
    if (got == (long)at)
        return true;
    if (got > 0) /* kernels before 4.17 ignore the flag and treat the address as a hint */
        RT_CALL3(SYS_munmap, got, ISLAND_SIZE, 0);
    return false;
}

/* Tries addresses below the object first, because the heap grows after a program. */
RT_PLAIN static uint64_t map_near(uint64_t start, uint64_t end) {
    uint64_t at = start & ~(NEAR_STEP - 1);
    for (unsigned i = 0; at > NEAR_STEP && in_reach(at - NEAR_STEP, start, end); i++) {
        at -= i < NEAR_TRIES || at <= FAR_STEP ? NEAR_STEP : FAR_STEP;
        if (map_at(at))
            return at;
    }
    at = (end + FAR_STEP) & ~(FAR_STEP - 1);
    for (; in_reach(at, start, end); at += FAR_STEP)
        if (map_at(at))
            return at;
    return 0;
}

/* Writes the jumps: jmp *2(%rip), followed by the address. */
RT_PLAIN static bool fill(uint64_t at) {
    static const char *const targets[RT_SLEDS] = {rt_sled_enter,    rt_sled_exit,   rt_sled_tail,
                                                  rt_sled_argument, rt_sled_custom, rt_sled_typed};
    static const uint8_t jump[8] = {0xff, 0x25, 2, 0, 0, 0, 0x66, 0x90};
    for (unsigned kind = 0; kind < RT_SLEDS; kind++) {
        uint8_t *to = (uint8_t *)(uintptr_t)at + (size_t)kind * RT_ISLAND_JUMP;
        rt_copy(to, jump, sizeof jump);
        *(rt_u64 *)(to + sizeof jump) = (uint64_t)(uintptr_t)targets[kind];
    }
    return RT_CALL3(SYS_mprotect, at, ISLAND_SIZE, PROT_READ | PROT_EXEC) == 0;
}

RT_RARE uint64_t rt_island_near(uint64_t start, uint64_t end) {
    for (unsigned i = 0; i < nr_islands; i++)
        if (in_reach(islands[i], start, end))
            return islands[i];
    if (nr_islands == ISLANDS)
        return 0;
    const uint64_t at = map_near(start, end);
    if (at == 0)
        return 0;
    if (!fill(at)) {
        RT_CALL3(SYS_munmap, at, ISLAND_SIZE, 0);
        return 0;
    }
    islands[nr_islands++] = at;
    return at;
}

#endif
