/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tables and views of one schema. Every schema has the same tables, whatever its recording contains, so that a
 * query that works for one recording works for all. Only the tables of tracepoints depend on the recording.
 */
#include "sql/sql_schema.h"
#include "sql/sql_tables.h"
#include "sql/sql_fail.h"
#include "sql/sql_tracepoints.h"

/* The name of a layout's table. The table of the layout `sample` has another name, because `sample` is the table of the
   model's samples. */
static const char *table_name(unsigned layout) {
    return layout == L_sample ? "record_sample" : layout_at(layout)->name;
}

static bool is_record(unsigned layout) {
    const unsigned table = layout_at(layout)->id >> 24;
    return table == TABLE_PERF_RECORD || table == TABLE_TRACE_RECORD;
}

/* Runs a statement made by sqlite3_mprintf, and frees it. */
static pfr_status run(struct sql_source *source, char *statement, pfr_error *err) {
    const int code = statement ? sqlite3_exec(source->sql->db, statement, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(statement);
    return code == SQLITE_OK ? PFR_OK : sql_fail(source->sql, code, err);
}

static pfr_status create_table(struct sql_source *source, const char *table, const char *module, unsigned number,
                               pfr_error *err) {
    return run(source,
               sqlite3_mprintf("CREATE VIRTUAL TABLE \"%w\".\"%w\" USING %s(%u,%u)", source->schema, table, module,
                               source->index, number),
               err);
}

static pfr_status create_tables(struct sql_source *source, pfr_error *err) {
    for (unsigned i = 0; i < nr_model_tables; i++)
        PFR_TRY(create_table(source, model_tables[i].name, "perfray_rows", i, err));
    PFR_TRY(create_table(source, "sample", "perfray_samples", 0, err));
    PFR_TRY(create_table(source, "call", "perfray_calls", 0, err));
    PFR_TRY(create_table(source, "stack_symbol", "perfray_stack_symbol", 0, err));
    PFR_TRY(create_table(source, "record", "perfray_records", 0, err));
    for (unsigned n = L_NONE + 1; n < LAYOUTS; n++)
        if (is_record(n))
            PFR_TRY(create_table(source, table_name(n), "perfray_records", n, err));
    for (unsigned i = 0; i < source->nr_tracepoints; i++)
        PFR_TRY(create_table(source, tracepoint_name(source, i), "perfray_tracepoints", i, err));
    return PFR_OK;
}

#define SAMPLE_TEXT                                                                                                    \
    " AS SELECT s.id, s.ts, e.name AS event, s.comm, p.pid, t.tid, s.cpu, s.mode, s.weight, s.period, "                \
    "y.name AS symbol, o.name AS object, s.stack_id, s.thread_id, s.event_id, s.call_id FROM sample s "                \
    "LEFT JOIN event e ON e.id=s.event_id LEFT JOIN thread t ON t.id=s.thread_id "                                     \
    "LEFT JOIN process p ON p.id=t.process_id LEFT JOIN stack k ON k.id=s.stack_id "                                   \
    "LEFT JOIN symbol y ON y.id=k.symbol_id LEFT JOIN object o ON o.id=y.object_id"

pfr_status schema_create(struct sql_source *source, pfr_error *err) {
    PFR_TRY(create_tables(source, err));
    return run(source, sqlite3_mprintf("CREATE VIEW \"%w\".sample_text" SAMPLE_TEXT, source->schema), err);
}

const char *schema_view(void) {
    return SAMPLE_TEXT;
}
