/* SPDX-License-Identifier: Apache-2.0 */
/* Contents of Parquet pages: see parquet_pages.h. */
#include "export/binary/parquet_pages.h"

#include "base/text/proto.h"

#include <endian.h>

enum { MINI = 32, MINIS = 4, BLOCK = MINI * MINIS, GROUP = 8 };

static void store_le64(uint8_t *to, uint64_t number) {
    number = htole64(number);
    memcpy(to, &number, sizeof number);
}

static void put_u32(struct output *to, uint32_t number) {
    number = htole32(number);
    out_write(to, &number, sizeof number);
}

static void put_zigzag(struct output *to, uint64_t number) {
    proto_varint(to, number << 1 ^ (0 - (number >> 63)));
}

static unsigned width_of(uint64_t most) {
    return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}

/* Packs `count` numbers, each of `width` bits, from the lowest bits on; `count` is a multiple of 8. `to` has room for 8
   bytes more than the result. */
static size_t pack(uint8_t *to, const uint64_t *numbers, unsigned count, unsigned width) {
    uint64_t waiting = 0;
    unsigned used = 0;
    uint8_t *at = to;
    if (!width)
        return 0;
    for (unsigned i = 0; i < count; i++) {
        waiting |= numbers[i] << used;
        used += width;
        if (used >= 64) {
            store_le64(at, waiting);
            at += 8;
            used -= 64;
            waiting = used ? numbers[i] >> (width - used) : 0;
        }
    }
    store_le64(at, waiting);
    return (size_t)(at - to) + used / 8;
}

/* --- Levels and dictionaries: a run is a varint whose lowest bit is 1, followed by groups of 8 packed numbers. */

void parquet_put_levels(struct output *to, const uint8_t *present, uint32_t rows) {
    const uint64_t groups = (rows + 7u) / 8;
    put_u32(to, (uint32_t)(proto_length(groups << 1 | 1) + groups));
    proto_varint(to, groups << 1 | 1);
    for (uint32_t i = 0; i < rows; i += 8) {
        unsigned bits = 0;
        for (uint32_t j = 0; j < 8 && i + j < rows; j++)
            bits |= (unsigned)present[i + j] << j;
        out_char(to, (char)bits);
    }
}

/* Writes a run of `count` zeros: a varint whose lowest bit is 0, then the number that is repeated. */
static void put_repeated(struct output *to, uint32_t count) {
    proto_varint(to, (uint64_t)count << 1);
    out_char(to, 0);
}

void parquet_put_indexes(struct output *to, const uint64_t *indexes, uint32_t count, uint32_t entries) {
    const unsigned width = entries > 1 ? width_of(entries - 1) : 1;
    uint8_t packed[GROUP * sizeof *indexes + 8];
    out_char(to, (char)width);
    if (entries <= 1) {
        put_repeated(to, count);
        return;
    }
    proto_varint(to, (uint64_t)((count + GROUP - 1) / GROUP) << 1 | 1);
    for (uint32_t i = 0; i < count; i += GROUP) {
        uint64_t group[GROUP] = {0};
        memcpy(group, indexes + i, (count - i < GROUP ? count - i : GROUP) * sizeof *group);
        out_write(to, packed, pack(packed, group, GROUP, width));
    }
}

void parquet_put_texts(struct output *to, const struct intern_table *texts) {
    for (uint32_t i = 0; i < texts->count; i++) {
        const struct intern_text text = intern_get(texts, i);
        put_u32(to, text.length);
        out_write(to, text.bytes, text.length);
    }
}

/* --- Deltas: blocks of 128 numbers. A block has its smallest delta, and 4 parts of 32 numbers; each part has its own
 * width. */

/* The number of bits of the largest number. */
static unsigned width_of_part(const uint64_t *numbers) {
    uint64_t bits = 0;
    for (unsigned i = 0; i < MINI; i++)
        bits |= numbers[i];
    return width_of(bits);
}

/* Parts without numbers have the width 0 and no bytes. */
static void put_parts(struct output *to, const uint64_t *deltas) {
    uint8_t bytes[MINIS + BLOCK * sizeof *deltas + 8];
    size_t used = MINIS;
    for (unsigned i = 0; i < MINIS; i++) {
        const unsigned width = width_of_part(deltas + i * MINI);
        bytes[i] = (uint8_t)width;
        used += pack(bytes + used, deltas + i * MINI, MINI, width);
    }
    out_write(to, bytes, used);
}

static void put_block(struct output *to, const uint64_t *numbers, unsigned count) {
    uint64_t deltas[BLOCK]; /* differences may wrap around, because readers add them with wrap-around */
    int64_t least = INT64_MAX;
    for (unsigned i = 0; i < count; i++) {
        deltas[i] = numbers[i + 1] - numbers[i];
        least = (int64_t)deltas[i] < least ? (int64_t)deltas[i] : least;
    }
    for (unsigned i = 0; i < count; i++)
        deltas[i] -= (uint64_t)least;
    if (count < BLOCK)
        memset(deltas + count, 0, (BLOCK - count) * sizeof *deltas);
    put_zigzag(to, (uint64_t)least);
    put_parts(to, deltas);
}

void parquet_put_deltas(struct output *to, const uint64_t *numbers, uint32_t count) {
    if (!count)
        return;
    proto_varint(to, BLOCK);
    proto_varint(to, MINIS);
    proto_varint(to, count);
    put_zigzag(to, numbers[0]);
    for (uint32_t i = 0; i + 1 < count; i += BLOCK)
        put_block(to, numbers + i, count - 1 - i < BLOCK ? count - 1 - i : BLOCK);
}
