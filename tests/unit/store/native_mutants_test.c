/* SPDX-License-Identifier: Apache-2.0 */
/* Damaged answers: each is read, or rejected with an offset inside it, and memory use depends on its length. */
#include "../test.h"
#include "native_blocks.h"

#include <stdlib.h>

#define MUTANTS 3000u
#define MUTANTS_LONG 300000u
#define ANSWER_MOST 65536u

/* Reads every value of every block. */
static pfr_status read_all(struct native_answer *answer, pfr_error *err) {
    struct native_block block;
    uint64_t sum = 0;
    pfr_status st;
    while ((st = native_decode(&answer->in, native_block_columns, NATIVE_BLOCK_COLUMNS, &answer->arena, &block, err)) ==
           PFR_OK)
        for (size_t row = 0; row < block.rows; row++) {
            for (unsigned column = 0; column < 6; column++)
                sum += native_u64(&block, column, row);
            const struct native_text text = native_text(&block, 6, row);
            for (uint64_t i = 0; i < text.length; i++)
                sum += text.at[i];
            for (size_t i = 0; i < native_list_length(&block, 7, row); i++)
                sum += native_list_value(&block, 7, row, i);
        }
    /* The sum is used, so that the compiler cannot remove the reads. */
    return sum == UINT64_MAX && st == PFR_END ? PFR_OK : st;
}

/* Some bytes are changed, some removed, some duplicated. */
static size_t mutate(uint8_t *bytes, size_t length, uint64_t *state) {
    for (unsigned n = 1 + native_random(state) % 4; n > 0 && length > 1; n--) {
        const size_t at = native_random(state) % length;
        const size_t some = native_random(state) % 16 % (length - at);
        switch (native_random(state) % 5) {
        case 0:
            bytes[at] = (uint8_t)native_random(state);
            break;
        case 1:
            bytes[at] = 0xff;
            break;
        case 2:
            length = at + 1;
            break;
        case 3:
            memmove(bytes + at, bytes + at + some, length - at - some);
            length -= some;
            break;
        default:
            memmove(bytes + at + some, bytes + at, length - at - some);
            break;
        }
    }
    return length;
}

TEST(native_mutants_are_read_or_refused) {
    struct memory memory;
    struct output to;
    uint64_t state = 88172645463325252ull;
    size_t length;
    uint8_t *mutant = malloc(ANSWER_MOST);
    memory_init(&memory, NULL, 0);
    out_open_memory(&to, &memory);
    assert_int_equal(native_blocks_make(&to, &memory, 9, 2), PFR_OK);
    const char *bytes = out_bytes(&to, &length);
    assert_true(mutant && length <= ANSWER_MOST);
    unsigned refused = 0;
    for (unsigned n = getenv("PERFRAY_LONG") ? MUTANTS_LONG : MUTANTS; n > 0; n--) {
        struct native_answer answer;
        pfr_error err = {.offset = 0};
        memcpy(mutant, bytes, length);
        const size_t left = mutate(mutant, length, &state);
        native_answer_begin(&answer, mutant, left);
        const pfr_status st = read_all(&answer, &err);
        assert_true(st == PFR_END || st == PFR_ERR_DAMAGE || st == PFR_ERR_FORMAT);
        assert_true(err.offset <= left);
        assert_true(answer.memory.peak <= 64 * left + 8192);
        refused += st != PFR_END;
        native_answer_end(&answer);
    }
    assert_true(refused > MUTANTS / 4);
    free(mutant);
    out_close(&to, NULL);
}
