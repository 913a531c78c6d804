/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does work that can be counted: COUNT calls of step(), COUNT calls of getppid(2), and COUNT pages touched for the
 * first time, from the lowest on. Without arguments, does this once. With `wait`, does it once for each byte of
 * standard input, and answers each with a line that has the address of the last page. With `spin`, runs for ever and
 * does none of these.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define COUNT 4000
#define PAGE 4096

static volatile unsigned long sum;

__attribute__((noinline, noclone)) void step(unsigned long i) {
    sum += i;
}

__attribute__((noinline, noclone)) static char *touch(void) {
    char *const pages = mmap(NULL, (size_t)COUNT * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return NULL;
    madvise(pages, (size_t)COUNT * PAGE, MADV_NOHUGEPAGE);
    for (size_t i = 0; i < COUNT; i++)
        ((volatile char *)pages)[i * PAGE] = 1;
    return pages + (size_t)(COUNT - 1) * PAGE;
}

static void work(void) {
    for (unsigned long i = 0; i < COUNT; i++) {
        step(i);
        syscall(SYS_getppid);
    }
    printf("%p\n", (void *)touch());
    fflush(stdout);
}

int main(int argc, char **argv) {
    char byte;
    if (argc > 1 && strcmp(argv[1], "spin") == 0)
        for (;;)
            sum++;
    if (argc == 1)
        work();
    while (argc > 1 && read(STDIN_FILENO, &byte, 1) == 1)
        work();
    return 0;
}
