/* SPDX-License-Identifier: Apache-2.0 */
/* MD5 as RFC 1321 section 3 defines it: blocks of 64 bytes, each processed in 64 steps of four kinds. */
#include "base/text/md5.h"

#include <string.h>

#define BLOCK 64u

/* The integer part of 2^32 * |sin(n)| for n from 1 to 64. */
static const uint32_t sines[64] = {
    0xd76aa478, 0xe8c7b756, 0x242070db, 0xc1bdceee, 0xf57c0faf, 0x4787c62a, 0xa8304613, 0xfd469501,
    0x698098d8, 0x8b44f7af, 0xffff5bb1, 0x895cd7be, 0x6b901122, 0xfd987193, 0xa679438e, 0x49b40821,
    0xf61e2562, 0xc040b340, 0x265e5a51, 0xe9b6c7aa, 0xd62f105d, 0x02441453, 0xd8a1e681, 0xe7d3fbc8,
    0x21e1cde6, 0xc33707d6, 0xf4d50d87, 0x455a14ed, 0xa9e3e905, 0xfcefa3f8, 0x676f02d9, 0x8d2a4c8a,
    0xfffa3942, 0x8771f681, 0x6d9d6122, 0xfde5380c, 0xa4beea44, 0x4bdecfa9, 0xf6bb4b60, 0xbebfbc70,
    0x289b7ec6, 0xeaa127fa, 0xd4ef3085, 0x04881d05, 0xd9d4d039, 0xe6db99e5, 0x1fa27cf8, 0xc4ac5665,
    0xf4292244, 0x432aff97, 0xab9423a7, 0xfc93a039, 0x655b59c3, 0x8f0ccc92, 0xffeff47d, 0x85845dd1,
    0x6fa87e4f, 0xfe2ce6e0, 0xa3014314, 0x4e0811a1, 0xf7537e82, 0xbd3af235, 0x2ad7d2bb, 0xeb86d391,
};

static uint32_t word_at(const uint8_t *at) {
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

/* Combines the second to fourth word as this step requires. *word is the index of the word of the block to add. */
static uint32_t mix(unsigned step, const uint32_t s[4], unsigned *word) {
    switch (step / 16) {
    case 0:
        *word = step;
        return (s[1] & s[2]) | (~s[1] & s[3]);
    case 1:
        *word = (5 * step + 1) % 16;
        return (s[1] & s[3]) | (s[2] & ~s[3]);
    case 2:
        *word = (3 * step + 5) % 16;
        return s[1] ^ s[2] ^ s[3];
    default:
        *word = 7 * step % 16;
        return s[2] ^ (s[1] | ~s[3]);
    }
}

static void add_block(uint32_t state[4], const uint8_t *block) {
    static const uint8_t turns[4][4] = {{7, 12, 17, 22}, {5, 9, 14, 20}, {4, 11, 16, 23}, {6, 10, 15, 21}};
    uint32_t s[4] = {state[0], state[1], state[2], state[3]};
    for (unsigned step = 0; step < 64; step++) {
        unsigned word;
        const uint32_t sum = s[0] + mix(step, s, &word) + sines[step] + word_at(block + 4 * (size_t)word);
        const unsigned turn = turns[step / 16][step % 4];
        const uint32_t next = s[1] + (sum << turn | sum >> (32 - turn));
        s[0] = s[3];
        s[3] = s[2];
        s[2] = s[1];
        s[1] = next;
    }
    for (unsigned i = 0; i < 4; i++)
        state[i] += s[i];
}

void md5(const void *bytes, size_t length, uint8_t digest[16]) {
    uint32_t state[4] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476};
    uint8_t last[2 * BLOCK] = {0};
    const size_t whole = length / BLOCK * BLOCK, rest = length - whole;
    const size_t end = rest + 9 > BLOCK ? 2 * BLOCK : BLOCK;
    for (size_t at = 0; at < whole; at += BLOCK)
        add_block(state, (const uint8_t *)bytes + at);
    if (rest)
        memcpy(last, (const uint8_t *)bytes + whole, rest);
    last[rest] = 0x80;
    for (unsigned i = 0; i < 8; i++)
        last[end - 8 + i] = (uint8_t)((uint64_t)length * 8 >> 8 * i);
    for (size_t at = 0; at < end; at += BLOCK)
        add_block(state, last + at);
    for (unsigned i = 0; i < 16; i++)
        digest[i] = (uint8_t)(state[i / 4] >> i % 4 * 8);
}

uint64_t md5_prefix(const void *bytes, size_t length) {
    uint8_t digest[16];
    uint64_t prefix = 0;
    md5(bytes, length, digest);
    for (unsigned i = 0; i < 8; i++)
        prefix = prefix << 8 | digest[i];
    return prefix;
}
