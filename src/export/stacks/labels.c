/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and their ranks: see labels.h. */
#include "export/stacks/labels.h"

#include <stdlib.h>
#include <string.h>

#define WORD 8u /* bytes */

void labels_init(struct labels *labels, struct memory *memory) {
    *labels = (struct labels){.memory = memory};
    intern_init(&labels->texts, memory);
}

void labels_free(struct labels *labels) {
    mem_free(labels->memory, labels->source, labels->room, sizeof *labels->source);
    mem_free(labels->memory, labels->keys, labels->keys_room, sizeof *labels->keys);
    mem_free(labels->memory, labels->rank, labels->sorted, sizeof *labels->rank);
    mem_free(labels->memory, labels->order, labels->sorted, sizeof *labels->order);
    intern_free(&labels->texts);
}

pfr_status labels_put(struct labels *labels, const void *bytes, size_t length, uint32_t thing, uint32_t *number,
                      pfr_error *err) {
    void *more = mem_grow(labels->memory, labels->source, labels->texts.count, &labels->room, 256, sizeof(uint32_t));
    if (!more)
        return mem_fail(labels->memory, err, "names");
    labels->source = more;
    const uint32_t before = labels->texts.count;
    const pfr_status st = intern_put(&labels->texts, bytes, length, number, err);
    if (st >= 0 && *number == before)
        labels->source[before] = thing;
    return st;
}

static int by_bytes(const void *a, const void *b, void *table) {
    const struct intern_text x = intern_get(table, *(const uint32_t *)a), y = intern_get(table, *(const uint32_t *)b);
    const int order = memcmp(x.bytes, y.bytes, x.length < y.length ? x.length : y.length);
    return order ? order : (x.length > y.length) - (x.length < y.length);
}

/* The eight bytes from `from` on as a big-endian number, padded with zeros after the end. */
static uint64_t word_at(struct intern_text text, uint32_t from) {
    uint64_t word = 0;
    const uint32_t left = text.length > from ? text.length - from : 0;
    if (left)
        memcpy(&word, text.bytes + from, left < sizeof word ? left : sizeof word);
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? __builtin_bswap64(word) : word;
}

/* The first 16 bytes of a label. */
struct first_words {
    uint64_t word, next;
};

/* Radix sort by the first 16 bytes; only labels that agree in these bytes are compared as a whole. */
static void sort_texts(struct labels *labels, struct radix_item *items, struct first_words *of, uint32_t count) {
    struct radix_item *at = items, *const half = items + count;
    for (uint32_t i = 0; i < count; i++) {
        const struct intern_text text = labels->texts.texts[i];
        of[i] = (struct first_words){word_at(text, 0), word_at(text, WORD)};
        at[i] = (struct radix_item){of[i].next, i};
    }
    at = radix_sort(items, half, count);
    for (uint32_t i = 0; i < count; i++)
        at[i].key = of[at[i].value].word;
    at = radix_sort(at, at == items ? half : items, count);
    for (uint32_t i = 0; i < count; i++)
        labels->order[i] = at[i].value;
    for (uint32_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && at[end].key == at[i].key; end++)
            if (of[at[end].value].next != of[at[i].value].next)
                break;
        if (end - i > 1)
            qsort_r(labels->order + i, end - i, sizeof *labels->order, by_bytes, &labels->texts);
    }
}

static void rank_texts(struct labels *labels, struct radix_item *items, struct first_words *of) {
    const uint32_t count = labels->texts.count;
    sort_texts(labels, items, of, count);
    for (uint32_t i = 0; i < count; i++)
        labels->rank[labels->order[i]] = i;
    labels->count = count;
}

pfr_status labels_sort(struct labels *labels, pfr_error *err) {
    const uint32_t count = labels->keys ? labels->nr_keys : labels->texts.count, texts = labels->keys ? 0 : count;
    struct radix_item *items = mem_alloc(labels->memory, count, 2 * sizeof *items);
    struct first_words *of = mem_alloc(labels->memory, texts, sizeof *of);
    labels->rank = mem_alloc(labels->memory, count, sizeof *labels->rank);
    labels->order = mem_alloc(labels->memory, count, sizeof *labels->order);
    labels->sorted = count;
    const bool have_room = items && of && labels->rank && labels->order;
    if (have_room && labels->keys)
        labels_rank_keys(labels, items);
    else if (have_room)
        rank_texts(labels, items, of);
    const pfr_status st = have_room ? PFR_OK : mem_fail(labels->memory, err, "names");
    mem_free(labels->memory, items, items ? count : 0, 2 * sizeof *items);
    mem_free(labels->memory, of, of ? texts : 0, sizeof *of);
    return st;
}
