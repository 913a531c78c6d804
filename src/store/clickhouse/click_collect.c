/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Removes rows to which nothing refers. While a push runs, its rows have no row of `upload` yet, and the push relies
 * on dictionary rows to which no sample refers yet; if such rows are old, the push writes them again with a new time in
 * `at`. So rows that are less than a day old are kept: no push takes that long.
 */
#include "store/clickhouse/click_remove.h"

#include <inttypes.h>
#include <stdio.h>

#define NUMBER_ROOM 24u

/* --- Attempts that are not valid. */

static bool is_old(uint64_t attempt, uint64_t now) {
    return (attempt >> CLICK_ATTEMPT_SHIFT) + CLICK_KEPT_SECONDS < now;
}

/* Keeps in the list only the attempts that may be removed: old ones that are not the valid attempt of their upload. */
static void keep_unused(struct click_attempts *found, const struct click_attempts *complete, uint64_t now) {
    size_t kept = 0;
    for (size_t i = 0; i < found->count; i++) {
        const struct click_attempt *winner = click_attempts_of(complete, found->at[i].upload);
        if (is_old(found->at[i].attempt, now) && (!winner || winner->attempt != found->at[i].attempt))
            found->at[kept++] = found->at[i];
    }
    found->count = kept;
}

static pfr_status collect_rows(struct store_handle *handle, enum store_table_number table,
                               const struct click_attempts *complete, uint64_t now, pfr_error *err) {
    struct click_attempts found;
    char from[80];
    snprintf(from, sizeof from, "FROM $" CLICK_ALL "%s GROUP BY upload, attempt", store_tables[table].name);
    pfr_status st = click_attempts_select(handle, from, NULL, &found, err);
    keep_unused(&found, complete, now);
    if (st >= 0)
        st = click_delete_rows(handle, table, &found, err);
    click_attempts_free(handle, &found);
    return st;
}

static pfr_status run_text(struct store_handle *handle, const char *statement, pfr_error *err) {
    struct output query;
    click_begin_query(handle, &query);
    click_add(handle, &query, statement, NULL);
    return click_run(handle, &query, NULL, err);
}

/* The row that marks an upload as dropped and the row before it are merged first. If they were deleted one after the
   other, queries could see an upload whose rows are gone. */
static pfr_status collect_dropped(struct store_handle *handle, uint64_t now, pfr_error *err) {
    char statement[160];
    snprintf(statement, sizeof statement,
             "ALTER TABLE $" CLICK_ALL "upload DELETE WHERE dropped = 1 AND attempt < toUInt64(%" PRIu64 ")",
             (now - CLICK_KEPT_SECONDS) << CLICK_ATTEMPT_SHIFT);
    PFR_TRY(run_text(handle, "OPTIMIZE TABLE $" CLICK_ALL "upload FINAL", err));
    return run_text(handle, statement, err);
}

static pfr_status collect_attempts(struct store_handle *handle, uint64_t now, pfr_error *err) {
    struct click_attempts complete;
    pfr_status st = click_attempts_find(handle, NULL, 0, &complete, err);
    for (unsigned table = 0; table < STORE_TABLES && st >= 0; table++)
        if (store_tables[table].partition == STORE_BY_DAY && table != STORE_TABLE_upload)
            st = collect_rows(handle, (enum store_table_number)table, &complete, now, err);
    click_attempts_free(handle, &complete);
    if (st >= 0)
        st = click_wait_for_mutations(handle, err);
    return st >= 0 ? collect_dropped(handle, now, err) : st;
}

/* --- Dictionaries. A table comes before the tables to which it refers. */

static const struct {
    enum store_table_number table;
    const char *unused;
} dictionaries[] = {
    {STORE_TABLE_stack, "stack NOT IN (SELECT stack FROM $" CLICK_ALL "sample)"},
    {STORE_TABLE_frame, "frame NOT IN (SELECT arrayJoin(frames) FROM $" CLICK_ALL "stack)"
                        " AND frame NOT IN (SELECT leaf FROM $" CLICK_ALL "stack)"
                        " AND frame NOT IN (SELECT function FROM $" CLICK_ALL "latency)"
                        " AND frame NOT IN (SELECT caller FROM $" CLICK_ALL "latency)"},
    {STORE_TABLE_object, "object NOT IN (SELECT object FROM $" CLICK_ALL "frame)"},
    {STORE_TABLE_comm, "comm NOT IN (SELECT comm FROM $" CLICK_ALL "sample)"},
    {STORE_TABLE_event, "event NOT IN (SELECT event FROM $" CLICK_ALL "sample)"},
};

pfr_status click_collect(struct store_handle *handle, pfr_error *err) {
    uint64_t now;
    char before[NUMBER_ROOM];
    PFR_TRY(click_now(handle, 0, handle->nr_servers, &now, err));
    snprintf(before, sizeof before, "%" PRIu64, now - CLICK_KEPT_SECONDS);
    PFR_TRY(collect_attempts(handle, now, err));
    PFR_TRY(click_wait_for_mutations(handle, err));
    for (size_t i = 0; i < sizeof dictionaries / sizeof *dictionaries; i++) {
        struct output query;
        click_begin_query(handle, &query);
        click_add(handle, &query, "ALTER TABLE $" CLICK_ALL, store_tables[dictionaries[i].table].name,
                  " DELETE WHERE at < toUInt32(", before, ") AND ", dictionaries[i].unused, NULL);
        PFR_TRY(click_run(handle, &query, NULL, err));
        PFR_TRY(click_wait_for_mutations(handle, err));
    }
    return PFR_OK;
}
