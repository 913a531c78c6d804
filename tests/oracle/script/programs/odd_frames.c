/* SPDX-License-Identifier: Apache-2.0 */
/* A program without frame pointers, whose frame pointer register leads to words that are no return addresses. Therefore
 * its call chains contain values that otherwise occur only as context markers. Each value is used for 20 ms in turn. */
#include <stdint.h>
#include <time.h>

struct frame {
    const struct frame *next;
    uint64_t address;
};

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void spin(const struct frame *frame) {
#if defined(__x86_64__)
    long rounds = 1000000;
    __asm__ volatile("push %%rbp\n\tmov %1, %%rbp\n1:\tdec %0\n\tjnz 1b\n\tpop %%rbp"
                     : "+r"(rounds)
                     : "r"(frame)
                     : "memory", "cc");
#else
    for (volatile long rounds = 1000000; rounds > 0; rounds--)
        continue;
#endif
}

int main(void) {
    static const int64_t odd[] = {-1, -608, -4095, -4096, -2048, -2176, -2560, -128, -512, -32, 0, 5};
    struct frame inner, outer = {0, 0x1234};
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++)
        for (double end = now() + 20; now() < end;) {
            inner.next = &outer;
            inner.address = (uint64_t)odd[i];
            spin(&inner);
        }
    return 0;
}
