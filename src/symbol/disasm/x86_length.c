/* SPDX-License-Identifier: Apache-2.0 */
/* See x86_length.h. Tables are from the architecture's manual, volume 2, chapter 2 and appendix A. */
#include "symbol/disasm/x86_length.h"

enum opcode_map { MAP_0F = 1, MAP_0F38, MAP_0F3A };
enum { TWO_BYTES = 0x0f, VEX3 = 0xc4, VEX2 = 0xc5, EVEX = 0x62, UD1 = 0xb9, VZERO = 0x77, SIB = 4, NO_BASE = 5 };

struct opcode {
    size_t at; /* offset of the opcode; ModRM follows it */
    unsigned map;
};

/* Whether the byte is a segment override or the address-size prefix. */
static bool may_precede(uint8_t byte) {
    return byte == 0x26 || byte == 0x2e || byte == 0x36 || byte == 0x3e || byte == 0x64 || byte == 0x65 || byte == 0x67;
}

static bool find_opcode(const uint8_t *code, size_t left, struct opcode *o) {
    size_t at = 0;
    while (at < left && at < 4 && may_precede(code[at]))
        at++;
    if (left - at < 3)
        return false;
    switch (code[at]) {
    case TWO_BYTES:
        *o = (struct opcode){at + 1, MAP_0F};
        return code[at + 1] == UD1;
    case VEX2:
        *o = (struct opcode){at + 2, MAP_0F};
        return true;
    case VEX3:
        *o = (struct opcode){at + 3, code[at + 1] & 0x1f};
        return true;
    case EVEX:
        *o = (struct opcode){at + 4, code[at + 1] & 7};
        return true;
    default:
        return false;
    }
}

static bool has_immediate(const struct opcode *o, uint8_t opcode) {
    if (o->map != MAP_0F)
        return o->map == MAP_0F3A;
    return (opcode >= 0x70 && opcode <= 0x73) || opcode == 0xc2 || (opcode >= 0xc4 && opcode <= 0xc6);
}

/* Size of ModRM, SIB and displacement; 0: incomplete. */
static size_t operand_size(const uint8_t *modrm, size_t left) {
    const unsigned mod = left ? modrm[0] >> 6 : 3, rm = left ? modrm[0] & 7 : 0;
    if (!left || mod == 3)
        return left ? 1 : 0;
    if (rm == SIB && left < 2)
        return 0;
    const unsigned base = rm == SIB ? modrm[1] & 7 : rm;
    const size_t displacement = mod == 1 ? 1 : mod == 2 || base == NO_BASE ? 4 : 0;
    return 1 + (size_t)(rm == SIB) + displacement;
}

bool x86_length_of(const uint8_t *code, size_t left, struct x86_length *length) {
    struct opcode o;
    if (!find_opcode(code, left, &o) || o.at >= left)
        return false;
    const uint8_t opcode = code[o.at];
    if (opcode == VZERO && o.map == MAP_0F) {
        *length = (struct x86_length){.size = (uint8_t)(o.at + 1)};
        return true;
    }
    const size_t operands = operand_size(code + o.at + 1, left - o.at - 1);
    const bool immediate = has_immediate(&o, opcode);
    const size_t size = o.at + 1 + operands + immediate;
    *length = (struct x86_length){.size = (uint8_t)size, .has_immediate = immediate};
    return operands && size <= left;
}
