/* SPDX-License-Identifier: Apache-2.0 */
/* Touches new pages along known call paths, each path a known number of times, so a recording of all first touches is
   the same in every run. usage: pages */
#include <stddef.h>
#include <sys/mman.h>

#define PAGE 4096
#define PAGES 1200
#define CALLED __attribute__((noinline, noclone))

static char *next;
static volatile int calls;

static CALLED void touch_page(void) {
    *next = 1;
    next += PAGE;
    calls = calls + 1;
}

static CALLED void touch_pair(void) {
    next[PAGE] = 1;
    *next = 1;
    next += 2 * PAGE;
    calls = calls + 1;
}

static CALLED void rows(int count) {
    for (int i = 0; i < count; i++)
        touch_page();
    calls = calls + 1;
}

static CALLED void columns(int count) {
    for (int i = 0; i < count; i++)
        touch_pair();
    calls = calls + 1;
}

static CALLED void down(int depth, int count) {
    if (depth > 0)
        down(depth - 1, count);
    else
        rows(count);
    calls = calls + 1;
}

int main(void) {
    next = mmap(NULL, (size_t)PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (next == MAP_FAILED)
        return 1;
    madvise(next, (size_t)PAGES * PAGE, MADV_NOHUGEPAGE);
    rows(400);
    columns(150);
    down(3, 200);
    down(20, 100);
    return calls == 0;
}
