/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the valid attempt of each upload. An attempt is valid if it has the smallest number of all attempts of the
   upload, on all shards, that are complete and not dropped. */
#include "store/clickhouse/click_parts.h"

#include <stdlib.h>
#include <string.h>

#define ATTEMPTS_FIRST 64u

struct finding {
    struct store_handle *handle;
    struct click_attempts *attempts;
};

static const struct native_column columns[] = {{"upload", NATIVE_UINT64},
                                               {"attempt", NATIVE_UINT64},
                                               {"rows", NATIVE_UINT64},
                                               {"sums", NATIVE_UINT64},
                                               {"revision", NATIVE_UINT64}};
#define COLUMNS (sizeof columns / sizeof *columns)

pfr_status click_attempts_add(struct store_handle *handle, struct click_attempts *attempts,
                              const struct click_attempt *attempt, pfr_error *err) {
    struct click_attempt *grown =
        mem_grow(handle->memory, attempts->at, attempts->count, &attempts->room, ATTEMPTS_FIRST, sizeof *grown);
    if (!grown)
        return mem_fail(handle->memory, err, "store");
    attempts->at = grown;
    grown[attempts->count++] = *attempt;
    return PFR_OK;
}

static pfr_status take_attempts(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    struct finding *finding = context;
    for (size_t row = 0; row < block->rows; row++) {
        const struct click_attempt one = {native_u64(block, 0, row), native_u64(block, 1, row),
                                          native_u64(block, 2, row), native_u64(block, 3, row),
                                          native_u64(block, 4, row), server};
        PFR_TRY(click_attempts_add(finding->handle, finding->attempts, &one, err));
    }
    return PFR_OK;
}

static int compare(const void *a, const void *b) {
    const struct click_attempt *one = a, *other = b;
    if (one->upload != other->upload)
        return one->upload < other->upload ? -1 : 1;
    return (one->attempt > other->attempt) - (one->attempt < other->attempt);
}

void click_attempts_keep_least(struct click_attempts *attempts) {
    size_t kept = 0;
    if (attempts->count)
        qsort(attempts->at, attempts->count, sizeof *attempts->at, compare);
    for (size_t i = 0; i < attempts->count; i++)
        if (!kept || attempts->at[kept - 1].upload != attempts->at[i].upload)
            attempts->at[kept++] = attempts->at[i];
    attempts->count = kept;
}

pfr_status click_attempts_find(struct store_handle *handle, const uint64_t *ids, size_t count,
                               struct click_attempts *attempts, pfr_error *err) {
    struct finding finding = {handle, attempts};
    struct http_table table;
    struct output query, bytes;
    *attempts = (struct click_attempts){0};
    if (ids && !count)
        return PFR_OK;
    if (ids)
        PFR_TRY(click_table_of_ids(handle, ids, count, &bytes, &table, err));
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT upload, attempt, `rows`, sums, revision FROM $" CLICK_ALL "upload FINAL WHERE dropped = 0",
              ids ? " AND upload IN (SELECT id FROM ids)" : "", NULL);
    const pfr_status st =
        click_ask(handle, &query, ids ? &table : NULL, columns, COLUMNS, take_attempts, &finding, err);
    if (ids)
        out_close(&bytes, NULL);
    click_attempts_keep_least(attempts);
    return st;
}

pfr_status click_attempts_select(struct store_handle *handle, const char *from, const struct http_table *ids,
                                 struct click_attempts *attempts, pfr_error *err) {
    struct finding finding = {handle, attempts};
    struct output query;
    *attempts = (struct click_attempts){0};
    click_begin_query(handle, &query);
    click_add(handle, &query,
              "SELECT upload, attempt, toUInt64(0) AS `rows`, toUInt64(0) AS sums, toUInt64(0) AS revision ", from,
              NULL);
    return click_ask(handle, &query, ids, columns, COLUMNS, take_attempts, &finding, err);
}

void click_attempts_free(struct store_handle *handle, struct click_attempts *attempts) {
    mem_free(handle->memory, attempts->at, attempts->room, sizeof *attempts->at);
    *attempts = (struct click_attempts){0};
}

const struct click_attempt *click_attempts_of(const struct click_attempts *attempts, uint64_t upload) {
    size_t low = 0, high = attempts->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (attempts->at[middle].upload < upload)
            low = middle + 1;
        else
            high = middle;
    }
    return low < attempts->count && attempts->at[low].upload == upload ? &attempts->at[low] : NULL;
}
