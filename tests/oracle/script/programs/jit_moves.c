/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A just-in-time compiler for loops that writes jit-PID.dump, and separately prints where its loops are:
 *
 *     jit_moves SECONDS_OF_EACH_STEP
 *
 * Loops are loaded into an anonymous mapping, run, moved and run again, and other loops are loaded at their old
 * addresses. Between the steps the memory is mapped as code again, as by compilers that make memory either writable or
 * executable. Each step prints a line on stdout: its start and end (ns of CLOCK_MONOTONIC), and the loop's address,
 * size and name. Two loops have a stack frame that can only be unwound with their unwind tables.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MEMORY 65536u
#define CODE_SIZE 64u

static int dump;
static uint8_t *memory;
static uint64_t step_ns;

static uint64_t now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t size) {
    if (write(dump, bytes, size) != (ssize_t)size)
        exit(3);
}

struct record {
    uint32_t type, size;
    uint64_t time;
};

static void begin_dump(void) {
    char path[64];
    snprintf(path, sizeof path, "jit-%d.dump", (int)getpid());
    dump = open(path, O_CREAT | O_TRUNC | O_RDWR, 0600);
    if (dump < 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
        exit(4);
    const struct {
        uint32_t magic, version, size, machine, unused, pid;
        uint64_t time, flags;
    } header = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid(), now(), 0};
    put(&header, sizeof header);
}

/* push rbp; sub rsp, 40; mov ecx, 200; 1: dec ecx; jnz 1b; add rsp, 40; pop rbp; ret. rbp holds a number meanwhile, so
   that following frame pointers does not find the caller. */
static const uint8_t loop[] = {0x55, 0x48, 0x83, 0xec, 0x28, 0x31, 0xed, 0xb9, 0xc8, 0x00, 0x00,
                               0x00, 0xff, 0xc9, 0x75, 0xfc, 0x48, 0x83, 0xc4, 0x28, 0x5d, 0xc3};

#define LINE_MOST 3u
static const struct { unsigned at, line; } lines[LINE_MOST] = {{0, 10}, {12, 11}, {16, 12}};

static void put_line_record(uint64_t address, const char *file) {
    const size_t name = strlen(file) + 1;
    const uint64_t front[2] = {address, LINE_MOST};
    const struct record r = {2, (uint32_t)(sizeof r + sizeof front + LINE_MOST * 16 + name + 2 * 2), now()};
    put(&r, sizeof r);
    put(front, sizeof front);
    for (unsigned i = 0; i < LINE_MOST; i++) {
        const struct {
            uint64_t address;
            uint32_t line, column;
        } entry = {address + lines[i].at, lines[i].line, 0};
        put(&entry, sizeof entry);
        put(i ? "\xff" : file, i ? 2 : name);
    }
}

/* .eh_frame with one CIE and one FDE, followed by an unused .eh_frame_hdr. The .eh_frame begins 64 bytes after the
 * code. */
static void put_unwinding_record(void) {
    static const uint8_t frames[64] = {
        20,   0,    0,    0,  0,    0, 0,    0,    1,  'z',  'R',  0,  1,    0x78, 16,   1,    0x1b,        0x0c, 7, 8,
        0x90, 1,    0,    0,  28,   0, 0,    0,    28, 0,    0,    0,  0xa0, 0xff, 0xff, 0xff, sizeof loop, 0,    0, 0,
        0,    0x41, 0x0e, 16, 0x86, 2, 0x44, 0x0e, 56, 0x4f, 0x0e, 16, 0x41, 0x0e, 8,    0};
    const uint64_t front[3] = {sizeof frames + 20, 20, sizeof frames + 20};
    const struct record r = {4, (uint32_t)(sizeof r + sizeof front + front[0]), now()};
    put(&r, sizeof r);
    put(front, sizeof front);
    put(frames, sizeof frames);
    put(frames, 20);
}

static void load(unsigned at, uint64_t number, const char *name, const char *file) {
    uint8_t code[CODE_SIZE];
    const uint64_t address = (uint64_t)(uintptr_t)memory + at;
    memset(code, 0x90, sizeof code);
    memcpy(code, loop, sizeof loop);
    memcpy(memory + at, code, sizeof code);
    put_line_record(address, file);
    put_unwinding_record();
    const struct {
        struct record head;
        uint32_t pid, tid;
        uint64_t mapped, address, size, number;
    } r = {{0, (uint32_t)(sizeof r + strlen(name) + 1 + sizeof code), now()},
           (uint32_t)getpid(),
           (uint32_t)gettid(),
           address,
           address,
           sizeof code,
           number};
    put(&r, sizeof r);
    put(name, strlen(name) + 1);
    put(code, sizeof code);
}

static void move(unsigned from, unsigned to, uint64_t number) {
    const uint64_t old = (uint64_t)(uintptr_t)memory + from, new = (uint64_t)(uintptr_t)memory + to;
    memcpy(memory + to, memory + from, CODE_SIZE);
    const struct {
        struct record head;
        uint32_t pid, tid;
        uint64_t mapped, from, to, size, number;
    } r = {{1, sizeof r, now()}, (uint32_t)getpid(), (uint32_t)gettid(), new, old, new, CODE_SIZE, number};
    put(&r, sizeof r);
}

__attribute__((noinline)) static void run(unsigned at, const char *name) {
    void (*code)(void) = (void (*)(void))(uintptr_t)(memory + at);
    const uint64_t begin = now();
    while (now() - begin < step_ns)
        code();
    printf("%llu %llu %llx %x %s\n", (unsigned long long)begin, (unsigned long long)now(),
           (unsigned long long)(uintptr_t)code, CODE_SIZE, name);
}

static void protect(int how) {
    if (mprotect(memory, MEMORY, how) != 0)
        exit(5);
}

int main(int argc, char **argv) {
    step_ns = argc > 1 ? (uint64_t)(atof(argv[1]) * 1e9) : 100000000u;
    memory = mmap(NULL, MEMORY, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 2;
    begin_dump();
    load(0, 1, "first", "/src/first.js");
    protect(PROT_READ | PROT_EXEC);
    run(0, "first");
    protect(PROT_READ | PROT_WRITE);
    move(0, 4096, 1);
    protect(PROT_READ | PROT_EXEC);
    run(4096, "first");
    protect(PROT_READ | PROT_WRITE);
    load(0, 2, "second", "/src/second.js");
    load(8192, 3, "third", "/src/third.js");
    protect(PROT_READ | PROT_EXEC);
    run(0, "second");
    run(8192, "third");
    protect(PROT_READ | PROT_WRITE);
    load(4096, 4, "fourth", "/src/fourth.js");
    move(8192, 16384, 3);
    move(0, 8192, 2);
    protect(PROT_READ | PROT_EXEC);
    run(4096, "fourth");
    run(16384, "third");
    run(8192, "second");
    const struct record end = {3, sizeof end, now()};
    put(&end, sizeof end);
    return 0;
}
