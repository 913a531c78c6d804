/* SPDX-License-Identifier: Apache-2.0 */
/* Delta-encoded numbers and dictionary indexes, read back by a reader that reads bit by bit, are equal. */
#include "../test.h"

#include "export/binary/parquet_pages.h"

enum { MOST = 1000, ROUNDS = 200, BLOCK = 128, MINI = 32 };

static uint64_t random_state = 7;

static uint64_t pick(uint64_t below) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (random_state >> 33) % below;
}

struct bits {
    const uint8_t *bytes;
    size_t at; /* bit */
};

static uint64_t take(struct bits *from, unsigned width) {
    uint64_t number = 0;
    for (unsigned i = 0; i < width; i++, from->at++)
        number |= (uint64_t)(from->bytes[from->at / 8] >> (from->at % 8) & 1) << i;
    return number;
}

static uint64_t take_varint(struct bits *from) {
    uint64_t number = 0, part;
    unsigned shift = 0;
    do {
        part = take(from, 8);
        number |= (part & 127) << shift;
        shift += 7;
    } while (part & 128);
    return number;
}

static uint64_t take_zigzag(struct bits *from) {
    const uint64_t number = take_varint(from);
    return number >> 1 ^ (0 - (number & 1));
}

static void read_deltas(struct bits *from, uint64_t *to, uint32_t count) {
    assert_int_equal(take_varint(from), BLOCK);
    assert_int_equal(take_varint(from), BLOCK / MINI);
    assert_int_equal(take_varint(from), count);
    to[0] = take_zigzag(from);
    for (uint32_t i = 1; i < count;) {
        const uint64_t least = take_zigzag(from), widths = take(from, 32);
        for (unsigned mini = 0; mini < BLOCK / MINI && i < count; mini++)
            for (unsigned j = 0; j < MINI; j++, i++) {
                const uint64_t delta = take(from, (unsigned)(widths >> (8 * mini) & 255)) + least;
                if (i < count)
                    to[i] = to[i - 1] + delta;
            }
    }
}

static void fill(uint64_t *numbers, uint32_t count) {
    static const uint64_t large[] = {0, INT64_MAX, (uint64_t)INT64_MIN, UINT64_MAX, 1};
    const uint64_t spread = (uint64_t)1 << pick(31);
    for (uint32_t i = 0; i < count; i++)
        numbers[i] = pick(50) ? (i ? numbers[i - 1] : 0) + pick(spread) : large[pick(5)];
}

TEST(numbers_as_differences_are_read_back) {
    struct memory memory;
    uint64_t numbers[MOST], found[MOST];
    memory_init(&memory, NULL, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t count = 1 + (uint32_t)pick(MOST);
        struct output out;
        out_open_memory(&out, &memory);
        fill(numbers, count);
        parquet_put_deltas(&out, numbers, count);
        struct bits from = {(const uint8_t *)out.buffer, 0};
        read_deltas(&from, found, count);
        assert_int_equal(from.at, out.used * 8);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(found[i], numbers[i]);
        out_close(&out, NULL);
    }
}

TEST(indexes_of_a_dictionary_are_read_back) {
    struct memory memory;
    uint64_t indexes[MOST];
    memory_init(&memory, NULL, 0);
    for (unsigned round = 0; round < ROUNDS; round++) {
        const uint32_t count = 1 + (uint32_t)pick(MOST), entries = 2 + (uint32_t)pick((uint64_t)1 << pick(17));
        struct output out;
        out_open_memory(&out, &memory);
        for (uint32_t i = 0; i < count; i++)
            indexes[i] = pick(entries);
        parquet_put_indexes(&out, indexes, count, entries);
        struct bits from = {(const uint8_t *)out.buffer, 0};
        const unsigned width = (unsigned)take(&from, 8);
        assert_int_equal(take_varint(&from), (uint64_t)((count + 7) / 8) << 1 | 1);
        for (uint32_t i = 0; i < count; i++)
            assert_int_equal(take(&from, width), indexes[i]);
        assert_int_equal((from.at + width * ((8 - count % 8) % 8) + 7) / 8, out.used);
        out_close(&out, NULL);
    }
}

TEST(levels_are_a_bit_for_each_row) {
    struct memory memory;
    struct output out;
    memory_init(&memory, NULL, 0);
    out_open_memory(&out, &memory);
    const uint8_t present[] = {1, 0, 1, 1, 0, 0, 0, 1, 0, 1};
    parquet_put_levels(&out, present, sizeof present);
    const uint8_t wanted[] = {3, 0, 0, 0, 5, 0x8d, 0x02};
    assert_int_equal(out.used, sizeof wanted);
    assert_memory_equal(out.buffer, wanted, sizeof wanted);
    out_close(&out, NULL);
}
