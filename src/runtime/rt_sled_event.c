/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Patches the body of an event sled. clang emits the complete body:
 *
 *  jmp over the rest; push %rdi; push %rsi; mov A, %rdi; mov B, %rsi; call __xray_CustomEvent; pop %rsi; pop %rdi
 *
 * with nops in place of instructions that are not needed, and a third register if the event has a type. The call is
 * redirected to the recorder's hook. clang emits the moves one after the other, and an earlier move may overwrite the
 * source of a later one; the moves are then reordered. If no order is correct, the event stays off.
 */
#include "runtime/rt_sleds.h"

#if defined __x86_64__

#define MOVES 3u
#define MOVE_SIZE 3u
#define CALL 0xe8
#define CALL_SIZE 5

struct body {
    uint8_t *moves[MOVES];
    unsigned nr_moves;
    uint8_t *call;
};

/* Length of a nop or push; 0: another instruction. */
RT_PLAIN static unsigned length_of_rest(const uint8_t *at) {
    if (at[0] == 0x90 || (at[0] >= 0x50 && at[0] <= 0x57)) /* nop, push */
        return 1;
    if ((at[0] == 0x66 && at[1] == 0x90) || (at[0] == 0x41 && at[1] >= 0x50 && at[1] <= 0x57))
        return 2;
    if (at[0] == 0x0f && at[1] == 0x1f) /* longer nops, by their addressing */
        return at[2] == 0x00 ? 3 : at[2] == 0x40 ? 4 : at[2] == 0x44 ? 5 : 0;
    return 0;
}

/* Whether this is a mov of one 64-bit register to another. */
RT_PLAIN static bool is_move(const uint8_t *at) {
    return (at[0] & 0xfa) == 0x48 && at[1] == 0x89 && at[2] >= 0xc0;
}

RT_PLAIN static unsigned from_of(const uint8_t *move) {
    return (move[2] >> 3 & 7u) | (move[0] & 4u) << 1;
}

RT_PLAIN static unsigned to_of(const uint8_t *move) {
    return (move[2] & 7u) | (move[0] & 1u) << 3;
}

RT_PLAIN static bool read_body(struct body *b, uint8_t *at, uint8_t *end) {
    *b = (struct body){.nr_moves = 0};
    while (end - at >= CALL_SIZE) {
        if (*at == CALL) {
            b->call = at;
            return true;
        }
        if (is_move(at) && b->nr_moves < MOVES) {
            b->moves[b->nr_moves++] = at;
            at += MOVE_SIZE;
        } else {
            const unsigned length = length_of_rest(at);
            if (length == 0)
                return false;
            at += length;
        }
    }
    return false;
}

RT_PLAIN static bool fits_here(const uint8_t (*moves)[MOVE_SIZE], unsigned count, const unsigned *order) {
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = i + 1; k < count; k++)
            if (to_of(moves[order[i]]) == from_of(moves[order[k]]))
                return false;
    return true;
}

/* Tries all orders of up to three moves; the first is the one in the code. */
RT_PLAIN static bool order_moves(const struct body *b) {
    static const unsigned orders[6][MOVES] = {{0, 1, 2}, {1, 0, 2}, {0, 2, 1}, {2, 1, 0}, {1, 2, 0}, {2, 0, 1}};
    uint8_t moves[MOVES][MOVE_SIZE];
    for (unsigned i = 0; i < b->nr_moves; i++)
        rt_copy(moves[i], b->moves[i], MOVE_SIZE);
    const unsigned nr_orders = b->nr_moves == 3 ? 6 : b->nr_moves == 2 ? 2 : 1;
    for (unsigned i = 0; i < nr_orders; i++) {
        if (!fits_here((const uint8_t(*)[MOVE_SIZE])moves, b->nr_moves, orders[i]))
            continue;
        for (unsigned k = 0; i > 0 && k < b->nr_moves; k++)
            rt_copy(b->moves[k], moves[orders[i][k]], MOVE_SIZE);
        return true;
    }
    return false;
}

RT_RARE bool rt_event_prepare(uint8_t *sled, unsigned body, uint64_t target) {
    struct body b;
    if (!read_body(&b, sled + 2, sled + 2 + body) || !order_moves(&b))
        return false;
    const uint32_t away = (uint32_t)(target - (uint64_t)(uintptr_t)(b.call + CALL_SIZE));
    if (*(const rt_u32 *)(b.call + 1) != away)
        *(rt_u32 *)(b.call + 1) = away;
    return true;
}

#endif
