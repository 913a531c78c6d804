/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A jitdump of a just-in-time compiler (symbol/jit/jit_dump.h). A jitdump must be a file with its own name, not a link,
 * so it is written to the temporary directory and removed at once. All data must be inside the file. Reading it in two
 * pieces, like a growing dump, must give the same result. Its unwind information is compiled.
 */
#include "fuzz.h"

#include "symbol/jit/jit_dump.h"
#include "symbol/unwind/unwind_table.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int make_file(char path[256]) {
    const char *folder = getenv("TMPDIR");
    snprintf(path, 256, "%.200s/perfray-fuzz-%d.dump", folder ? folder : "/tmp", (int)getpid());
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    LAW(fd >= 0, "%s cannot be made", path);
    return fd;
}

static void put_bytes(int fd, const uint8_t *bytes, size_t length) {
    LAW(write(fd, bytes, length) == (ssize_t)length, "no room for %zu bytes", length);
}

static void check_code(const struct jit_dump *d, const struct jit_code *code, size_t length) {
    const struct intern_text name = intern_get(&d->names, code->name);
    LAW(code->offset <= length && code->size <= length - code->offset, "code at %zu", (size_t)code->offset);
    LAW(code->line + (size_t)code->nr_lines <= d->nr_lines, "%u lines of %zu", code->nr_lines, d->nr_lines);
    LAW(jit_dump_code(d, code->offset) == code && jit_dump_code(d, code->offset + code->size - 1) == code,
        "code is not found again");
    LAW(name.bytes[name.length] == 0, "a name without end");
    const struct jit_line *line = jit_dump_line(d, code->offset + code->size - 1);
    LAW(!line || intern_get(&d->names, line->file).bytes, "a line without file");
}

static uint64_t check(const struct jit_dump *d, size_t length) {
    uint64_t sum = d->damaged;
    for (size_t i = 0; i < d->nr_codes; i++)
        check_code(d, &d->codes[i], length);
    for (size_t i = 0; i < d->nr_changes; i++) {
        LAW(d->changes[i].code == JIT_GONE || d->changes[i].code < d->nr_codes, "change of code %u",
            d->changes[i].code);
        sum = fuzz_mix(sum, &d->changes[i].time, 3 * sizeof(uint64_t));
    }
    return sum + d->nr_lines;
}

static void unwind(const struct jit_dump *d, struct memory *memory) {
    struct unwind_table *table;
    if (unwind_table_of_dump(d, memory, &table) == SYMBOL_FOUND)
        for (size_t i = 0; i < d->nr_codes; i++)
            unwind_table_find(table, d->codes[i].offset);
    unwind_table_close(table);
}

static uint64_t read_dump(const uint8_t *bytes, size_t length, size_t first, bool *found) {
    struct memory memory;
    struct jit_dump *d;
    char path[256];
    const int fd = make_file(path);
    const struct symbol_object object = {.kind = SYMBOL_JIT, .path = path, .owner = (uint32_t)getuid()};
    uint64_t sum = 0;
    memory_init(&memory, NULL, fuzz_limits.memory);
    put_bytes(fd, bytes, first);
    *found = jit_dump_open(&object, &memory, memory.limit / 4, &d) == SYMBOL_FOUND;
    unlink(path);
    put_bytes(fd, bytes + first, length - first);
    if (*found) {
        jit_dump_read_on(d);
        sum = check(d, length);
        unwind(d, &memory);
    }
    jit_dump_close(d);
    close(fd);
    LAW(memory.used == 0, "%zu bytes are not given back", (size_t)memory.used);
    return sum;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    bool whole, in_two;
    const size_t first = length > 40 ? 40 + (length - 40) / 2 : length;
    const uint64_t sum = read_dump(bytes, length, length, &whole);
    const uint64_t other = read_dump(bytes, length, first, &in_two);
    LAW(whole == in_two && sum == other, "a dump that grows says something else");
    return 0;
}
