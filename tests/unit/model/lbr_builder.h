/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_TESTS_LBR_BUILDER_H
#define PFR_TESTS_LBR_BUILDER_H
/*
 * Builds recordings of a CPU that keeps the call stack in branch registers (LBR), in either byte order:
 *
 *     struct record_builder s;
 *     begin_lbr(&s, big, 4);                            number of registers; 0: not recorded
 *     add_lbr_sample(&s, 7, 10, 3, CALLS(4, 3, 2, 1));  tid, time, newest register, calls from the newest on
 *     end_lbr(&s);
 *
 * Call n is at 0x10 * n in the program, which add_program maps; its target is 8 bytes after the call.
 */
#include "state_builder.h"

enum { LBR_ATTR = 80, WITH_LBR = 1 << 5 | 1 << 11, LBR_CALL_STACK = 1 << 11, LBR_HW_INDEX = 1 << 17 };
enum { PROGRAM_AT = 0x1000, PROGRAM_SIZE = 0x100000, HOST_NAME_BIT = 3, CAPS_BIT = 28 };
#define USER_PART ((uint64_t)-512)
#define CALLS(...) (const uint32_t[]){__VA_ARGS__}, sizeof((const uint32_t[]){__VA_ARGS__}) / sizeof(uint32_t)

struct lbr_builder {
    struct record_builder s;
    unsigned registers;
};

static inline void begin_lbr(struct lbr_builder *l, bool big, unsigned registers) {
    *l = (struct lbr_builder){.s = {.form = TIMED, .b = {.big = big}}, .registers = registers};
    struct builder *b = &l->s.b;
    const uint64_t attrs = 104 + 8;
    b->data = attrs + LBR_ATTR + 16;
    put_bytes(b, magic_of(b), 8);
    put_number(b, 104, 8);
    put_number(b, LBR_ATTR + 16, 8);
    put_section(b, attrs, LBR_ATTR + 16);
    put_section(b, b->data, 0);
    put_section(b, 0, 0);
    put_number(b, 1u << HOST_NAME_BIT | (registers ? 1u << CAPS_BIT : 0), 8);
    put_room(b, 24);
    put_number(b, FIRST_ID, 8);
    uint8_t *attr = put_room(b, LBR_ATTR);
    set_number(b, attr, 1, 4);
    set_number(b, attr + 4, LBR_ATTR, 4);
    set_number(b, attr + 16, 4000, 8);
    set_number(b, attr + 24, SAMPLE_BITS | WITH_LBR, 8);
    set_number(b, attr + 40, big ? 1ull << (63 - ID_ALL_FLAG) : 1ull << ID_ALL_FLAG, 8);
    set_number(b, attr + 72, LBR_CALL_STACK | LBR_HW_INDEX, 8);
    put_section(b, 104, 8);
}

static inline void put_feature_text(struct builder *b, const char *text) {
    put_number(b, 64, 4);
    memcpy(put_room(b, 64), text, strlen(text));
}

static inline void end_lbr(struct lbr_builder *l) {
    struct builder *b = &l->s.b;
    char registers[16];
    end_file(b);
    const uint64_t features = b->length + (l->registers ? 32 : 16);
    put_section(b, features, 68);
    if (l->registers)
        put_section(b, features + 68, 4 + 2 * 68);
    put_feature_text(b, "here");
    if (!l->registers)
        return;
    snprintf(registers, sizeof registers, "%u", l->registers);
    put_number(b, 1, 4);
    put_feature_text(b, "branches");
    put_feature_text(b, registers);
}

static inline void add_program(struct record_builder *s, uint32_t tid, const char *path) {
    add_mmap(s, USER_MODE, tid, tid, PROGRAM_AT, PROGRAM_SIZE, path, 2);
}

static inline void add_lbr_sample(struct record_builder *s, uint32_t tid, uint64_t time, uint64_t newest,
                                  const uint32_t *calls, size_t count) {
    const uint64_t ip = PROGRAM_AT + (count ? 0x10 * calls[0] + 8 : 1);
    put_head(&s->b, 9, USER_MODE, 32 + 8 + 2 * 8 + 16 + 24 * count);
    put_number(&s->b, ip, 8);
    put_number(&s->b, tid, 4);
    put_number(&s->b, tid, 4);
    put_number(&s->b, time, 8);
    put_number(&s->b, 2, 8);
    put_number(&s->b, USER_PART, 8);
    put_number(&s->b, ip, 8);
    put_number(&s->b, count, 8);
    put_number(&s->b, newest, 8);
    for (size_t i = 0; i < count; i++) {
        put_number(&s->b, PROGRAM_AT + 0x10 * calls[i], 8);
        put_number(&s->b, PROGRAM_AT + 0x10 * calls[i] + 8, 8);
        put_number(&s->b, 0, 8);
    }
}

#endif
