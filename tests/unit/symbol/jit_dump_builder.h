/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_JIT_DUMP_BUILDER_H
#define PFR_TESTS_JIT_DUMP_BUILDER_H
/*
 * Builds jitdumps in memory in either byte order:
 *
 *  struct builder b = {.big = true};
 *  begin_dump(&b, 0);
 *  put_load(&b, 10, 0x1000, 16, 1, "first");         time, address, size, number, name
 *  put_move(&b, 20, 0x1000, 0x2000, 16, 1);
 */
#include "../file/recording_builder.h"

enum { DUMP_LOAD, DUMP_MOVE, DUMP_LINES, DUMP_CLOSE, DUMP_UNWINDING };
enum { DUMP_HEADER = 40 };

static inline void begin_dump(struct builder *b, uint64_t flags) {
    put_number(b, 0x4A695444, 4);
    put_number(b, 1, 4);
    put_number(b, DUMP_HEADER, 4);
    put_number(b, 62, 4);
    put_number(b, 0, 4);
    put_number(b, 7, 4);
    put_number(b, 1, 8);
    put_number(b, flags, 8);
}

static inline void put_record(struct builder *b, uint32_t type, size_t body, uint64_t time) {
    put_number(b, type, 4);
    put_number(b, 16 + body, 4);
    put_number(b, time, 8);
}

/* Returns the offset of the code. */
static inline size_t put_load(struct builder *b, uint64_t time, uint64_t address, uint64_t size, uint64_t number,
                              const char *name) {
    put_record(b, DUMP_LOAD, 40 + strlen(name) + 1 + size, time);
    put_number(b, 7, 4);
    put_number(b, 7, 4);
    put_number(b, address, 8);
    put_number(b, address, 8);
    put_number(b, size, 8);
    put_number(b, number, 8);
    put_bytes(b, name, strlen(name) + 1);
    put_room(b, size);
    return b->length - size;
}

static inline void put_move(struct builder *b, uint64_t time, uint64_t from, uint64_t to, uint64_t size,
                            uint64_t number) {
    put_record(b, DUMP_MOVE, 48, time);
    put_number(b, 7, 4);
    put_number(b, 7, 4);
    put_number(b, to, 8);
    put_number(b, from, 8);
    put_number(b, to, 8);
    put_number(b, size, 8);
    put_number(b, number, 8);
}

/* Must be followed by put_line for each line. */
static inline void put_lines(struct builder *b, uint64_t address, uint64_t count, size_t bytes) {
    put_record(b, DUMP_LINES, 16 + bytes, 1);
    put_number(b, address, 8);
    put_number(b, count, 8);
}

static inline void put_line(struct builder *b, uint64_t address, uint32_t line, const char *file) {
    put_number(b, address, 8);
    put_number(b, line, 4);
    put_number(b, 0, 4);
    put_bytes(b, file, strlen(file) + 1);
}

#define LINE_BYTES(file) (16 + sizeof(file))

static inline void put_unwinding(struct builder *b, const void *frames, size_t size, size_t header) {
    put_record(b, DUMP_UNWINDING, 24 + size + header, 1);
    put_number(b, size + header, 8);
    put_number(b, header, 8);
    put_number(b, size, 8);
    put_bytes(b, frames, size);
    put_room(b, header);
}

#endif
