/* SPDX-License-Identifier: Apache-2.0 */
/* Lengths of instructions with VEX and EVEX prefixes, compared with those of an assembler. */
#include <stdlib.h>
#include <string.h>
#include "test.h"
#include "symbol/disasm/x86_length.h"

static const struct assembled {
    uint8_t bytes[16], size;
    bool has_immediate;
} known[] = {
    {{0x62, 0xe1, 0xfe, 0x28, 0x6f, 0x0f}, 6, false},                 /* vmovdqu64 (%rdi),%ymm17 */
    {{0x62, 0xf3, 0x75, 0x22, 0x3f, 0x0e, 0x00}, 7, true},            /* vpcmpeqb (%rsi),%ymm17,%k1{%k2} */
    {{0x62, 0xf2, 0x7d, 0x48, 0x7a, 0xc0}, 6, false},                 /* vpbroadcastb %eax,%zmm0 */
    {{0xc5, 0xfb, 0x93, 0xc9}, 4, false},                             /* kmovd %k1,%ecx */
    {{0xc5, 0xf8, 0x77}, 3, false},                                   /* vzeroupper */
    {{0xc5, 0xfd, 0x73, 0xd8, 0x08}, 5, true},                        /* vpsrldq $8,%ymm0,%ymm0 */
    {{0xc4, 0xe2, 0x7d, 0x78, 0x05, 1, 2, 3, 4}, 9, false},           /* vpbroadcastb 0x4030201(%rip),%ymm0 */
    {{0xc4, 0xe3, 0x7d, 0x39, 0x44, 0x24, 0x08, 0x01}, 8, true},      /* vextracti128 $1,%ymm0,8(%rsp) */
    {{0x64, 0xc5, 0xfa, 0x6f, 0x04, 0x25, 0x10, 0, 0, 0}, 10, false}, /* vmovdqu %fs:0x10,%xmm0 */
    {{0xc4, 0xc1, 0x7e, 0x6f, 0x84, 0xc5, 0, 1, 0, 0}, 10, false},    /* vmovdqu 0x100(%r13,%rax,8),%ymm0 */
    {{0x0f, 0xb9, 0x40, 0x02}, 4, false},                             /* ud1 2(%rax),%eax */
};

TEST(x86_length_known) {
    struct x86_length length;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        assert_true(x86_length_of(known[i].bytes, sizeof known[i].bytes, &length));
        assert_int_equal(length.size, known[i].size);
        assert_int_equal(length.has_immediate, known[i].has_immediate);
    }
}

/* In exact allocations, so that sanitizers detect reads beyond the end. */
TEST(x86_length_cut) {
    struct x86_length length;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        for (size_t left = 0; left <= known[i].size; left++) {
            uint8_t *part = malloc(left ? left : 1);
            assert_non_null(part);
            memcpy(part, known[i].bytes, left);
            assert_int_equal(x86_length_of(part, left, &length), left == known[i].size);
            free(part);
        }
}

TEST(x86_length_others) {
    static const uint8_t others[][4] = {{0x90}, {0x0f, 0x05}, {0x48, 0x89, 0xd8}, {0x66, 0x0f, 0xb9, 0xc0}};
    struct x86_length length;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(x86_length_of(others[i], sizeof others[i], &length));
}
