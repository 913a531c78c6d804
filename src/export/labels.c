/* SPDX-License-Identifier: Apache-2.0 */
/* Labels and their ranks: see labels.h. */
#include "export/labels.h"

#include <stdlib.h>
#include <string.h>

void labels_init(struct labels *labels, struct memory *memory) {
    *labels = (struct labels){.memory = memory};
    intern_init(&labels->texts, memory);
}

void labels_free(struct labels *labels) {
    mem_free(labels->memory, labels->source, labels->room, sizeof *labels->source);
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

pfr_status labels_sort(struct labels *labels, pfr_error *err) {
    const uint32_t count = labels->texts.count;
    labels->rank = mem_alloc(labels->memory, count, sizeof *labels->rank);
    labels->order = mem_alloc(labels->memory, count, sizeof *labels->order);
    labels->sorted = count;
    if (!labels->rank || !labels->order)
        return mem_fail(labels->memory, err, "names");
    for (uint32_t i = 0; i < count; i++)
        labels->order[i] = i;
    qsort_r(labels->order, count, sizeof *labels->order, by_bytes, &labels->texts);
    for (uint32_t i = 0; i < count; i++)
        labels->rank[labels->order[i]] = i;
    return PFR_OK;
}
