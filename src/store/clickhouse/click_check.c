/* SPDX-License-Identifier: Apache-2.0 */
/* Checks a store: versions, sizes, and whether every upload has as many rows as its row of `upload` says. */
#include "store/clickhouse/click_parts.h"
#include "store/clickhouse/quote.h"

#include <stdio.h>
#include <string.h>

#define SENTENCE_ROOM 256u

struct checking {
    struct store_handle *handle;
    void (*say)(void *context, const char *sentence);
    void *context;
    uint64_t bytes;
    const struct click_attempts *complete;
    bool *seen; /* for each complete upload: whether it has rows */
    uint64_t unfinished;
    bool has_fault;
};

static pfr_status take_sizes(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)err;
    struct checking *checking = context;
    char sentence[SENTENCE_ROOM];
    const struct native_text version = native_text(block, 2, 0);
    checking->bytes += native_u64(block, 0, 0);
    snprintf(sentence, sizeof sentence, "%s: ClickHouse %.*s, %llu bytes in %llu parts",
             http_host(checking->handle->http, server), (int)(version.length < 40 ? version.length : 40),
             (const char *)version.at, (unsigned long long)native_u64(block, 0, 0),
             (unsigned long long)native_u64(block, 1, 0));
    checking->say(checking->context, sentence);
    return PFR_OK;
}

static pfr_status check_sizes(struct checking *checking, pfr_error *err) {
    static const struct native_column columns[] = {
        {"bytes", NATIVE_UINT64}, {"parts", NATIVE_UINT64}, {"version", NATIVE_STRING}};
    struct output query;
    click_begin_query(checking->handle, &query);
    click_add(checking->handle, &query,
              "SELECT toUInt64(sum(bytes_on_disk)) AS bytes, toUInt64(count()) AS parts, version() AS version FROM "
              "system.parts WHERE active AND database = ",
              NULL);
    quote_text(&query, checking->handle->database, strlen(checking->handle->database));
    return click_ask(checking->handle, &query, NULL, columns, 3, take_sizes, checking, err);
}

static void say_rows(struct checking *checking, const struct click_attempt *of, uint64_t rows) {
    char sentence[SENTENCE_ROOM];
    snprintf(sentence, sizeof sentence, "upload %016llx has %llu rows of samples where %llu were pushed",
             (unsigned long long)of->upload, (unsigned long long)rows, (unsigned long long)of->rows);
    checking->say(checking->context, sentence);
    checking->has_fault = true;
}

static pfr_status take_rows(void *context, unsigned server, const struct native_block *block, pfr_error *err) {
    (void)err;
    struct checking *checking = context;
    for (size_t row = 0; row < block->rows; row++) {
        const struct click_attempt *of = click_attempts_of(checking->complete, native_u64(block, 0, row));
        if (!of || of->attempt != native_u64(block, 1, row) || of->server != server) {
            checking->unfinished++;
            continue;
        }
        checking->seen[of - checking->complete->at] = true;
        if (of->rows != native_u64(block, 2, row))
            say_rows(checking, of, native_u64(block, 2, row));
    }
    return PFR_OK;
}

static pfr_status check_rows(struct checking *checking, pfr_error *err) {
    static const struct native_column columns[] = {
        {"upload", NATIVE_UINT64}, {"attempt", NATIVE_UINT64}, {"number", NATIVE_UINT64}};
    struct output query;
    click_begin_query(checking->handle, &query);
    click_add(checking->handle, &query,
              "SELECT upload, attempt, toUInt64(count()) AS number FROM $" CLICK_ALL "sample GROUP BY upload, attempt",
              NULL);
    PFR_TRY(click_ask(checking->handle, &query, NULL, columns, 3, take_rows, checking, err));
    for (size_t i = 0; i < checking->complete->count; i++)
        if (!checking->seen[i] && checking->complete->at[i].rows)
            say_rows(checking, &checking->complete->at[i], 0);
    return PFR_OK;
}

static void say_unfinished(struct checking *checking) {
    char sentence[SENTENCE_ROOM];
    if (!checking->unfinished)
        return;
    snprintf(sentence, sizeof sentence,
             "%llu pushes have rows that no view reads: under way, not finished, or a second copy",
             (unsigned long long)checking->unfinished);
    checking->say(checking->context, sentence);
}

pfr_status click_check(struct store_handle *handle, uint64_t *bytes, void (*say)(void *context, const char *sentence),
                       void *context, pfr_error *err) {
    struct click_attempts complete;
    struct checking checking = {.handle = handle, .say = say, .context = context, .complete = &complete};
    PFR_TRY(check_sizes(&checking, err));
    *bytes = checking.bytes;
    pfr_status st = click_attempts_find(handle, NULL, 0, &complete, err);
    const size_t count = complete.count;
    checking.seen = st >= 0 ? mem_zeroed(handle->memory, count, sizeof *checking.seen) : NULL;
    if (st >= 0)
        st = checking.seen ? check_rows(&checking, err) : mem_fail(handle->memory, err, "store");
    say_unfinished(&checking);
    if (checking.seen)
        mem_free(handle->memory, checking.seen, count, sizeof *checking.seen);
    click_attempts_free(handle, &complete);
    return st < 0 ? st : checking.has_fault ? PFR_HOLE : PFR_OK;
}
