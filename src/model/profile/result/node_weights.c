/* SPDX-License-Identifier: Apache-2.0 */
#include "model/profile/result/node_weights.h"

#include <string.h>

void node_weights_free(struct node_weights *w, struct memory *memory) {
    mem_free(memory, w->at, w->at ? w->room : 0, sizeof *w->at);
    mem_free(memory, w->bits, w->bits ? w->words : 0, sizeof *w->bits);
    mem_free(memory, w->before, w->before ? w->words : 0, sizeof *w->before);
    *w = (struct node_weights){.at = NULL};
}

bool node_weights_begin_all(struct node_weights *w, struct memory *memory, size_t nodes) {
    const size_t room = nodes ? nodes : 1;
    *w = (struct node_weights){.at = mem_zeroed(memory, room, sizeof *w->at), .room = room};
    return w->at != NULL;
}

bool node_weights_begin_marks(struct node_weights *w, struct memory *memory, size_t nodes) {
    *w = (struct node_weights){.words = nodes / NODE_WEIGHTS_WORD + 1};
    w->bits = mem_zeroed(memory, w->words, sizeof *w->bits);
    return w->bits != NULL;
}

bool node_weights_end_marks(struct node_weights *w, struct memory *memory) {
    uint32_t count = 0;
    w->before = mem_alloc(memory, w->words, sizeof *w->before);
    if (!w->before)
        return false;
    for (size_t i = 0; i < w->words; i++) {
        w->before[i] = count;
        count += (uint32_t)__builtin_popcountll(w->bits[i]);
    }
    w->room = count ? count : 1;
    w->at = mem_zeroed(memory, w->room, sizeof *w->at);
    return w->at != NULL;
}

bool node_weights_distribution(struct node_weights *w, struct memory *memory, size_t nodes) {
    struct node_weights all;
    if (!w->bits)
        return true;
    if (!node_weights_begin_all(&all, memory, nodes))
        return false;
    size_t next = 0;
    for (size_t i = 0; i < w->words; i++)
        for (uint64_t bits = w->bits[i]; bits; bits &= bits - 1)
            all.at[i * NODE_WEIGHTS_WORD + (unsigned)__builtin_ctzll(bits)] = w->at[next++];
    node_weights_free(w, memory);
    *w = all;
    return true;
}

bool node_weights_copy(struct node_weights *to, const struct node_weights *from, struct memory *memory, size_t nodes) {
    const size_t count = from->bits ? from->room : nodes ? nodes : 1;
    *to = (struct node_weights){.room = count, .words = from->words};
    to->at = mem_alloc(memory, count, sizeof *to->at);
    if (from->bits) {
        to->bits = mem_alloc(memory, to->words, sizeof *to->bits);
        to->before = mem_alloc(memory, to->words, sizeof *to->before);
    }
    if (!to->at || (from->bits && (!to->bits || !to->before))) {
        node_weights_free(to, memory);
        return false;
    }
    memcpy(to->at, from->at, count * sizeof *to->at);
    if (from->bits) {
        memcpy(to->bits, from->bits, to->words * sizeof *to->bits);
        memcpy(to->before, from->before, to->words * sizeof *to->before);
    }
    return true;
}
