/* SPDX-License-Identifier: Apache-2.0 */
/* The handle: a connection to a database in memory, its attached recordings, and parameters. */
#include "sql/sql_parts.h"
#include "sql/sql_stacks.h"
#include "sql/sql_samples.h"
#include "sql/sql_model.h"
#include "sql/sql_tracepoints.h"
#include "sql/sql_records.h"
#include "sql/sql_functions.h"
#include "sql/sql_schema.h"
#include "sql/sql_calls.h"
#include "sql/sql_source.h"
#include "sql/sql_guard.h"
#include "sql/sql_fail.h"

#include "base/memory/bounds.h"
#include "base/text/text.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define NAME_MOST 60u

static int register_all(pfr_sql *sql) {
    int code = sql_functions_register(sql->db);
    if (code == SQLITE_OK)
        code = sql_records_register(sql);
    if (code == SQLITE_OK)
        code = sql_tracepoints_register(sql);
    if (code == SQLITE_OK)
        code = sql_model_register(sql);
    if (code == SQLITE_OK)
        code = sql_samples_register(sql);
    if (code == SQLITE_OK)
        code = sql_calls_register(sql);
    if (code == SQLITE_OK)
        code = sql_stacks_register(sql);
    return code;
}

static void take_options(pfr_sql *sql, const pfr_sql_options *options) {
    pfr_sql_options own = {.size = sizeof own};
    if (options)
        memcpy(&own, options, options->size < sizeof own ? options->size : sizeof own);
    if (own.alloc)
        sql->alloc = *own.alloc;
    sql->limits = limits_resolve(own.limits);
    sql->opening = (pfr_open_options){
        .size = sizeof sql->opening, .alloc = own.alloc ? &sql->alloc : NULL, .limits = &sql->limits, .spool = true};
    sql->modelling = (pfr_model_options){.size = sizeof sql->modelling};
    if (own.model)
        memcpy(&sql->modelling, own.model,
               own.model->size < sizeof sql->modelling ? own.model->size : sizeof sql->modelling);
    sql->modelling.size = sizeof sql->modelling;
    if (own.sqlite_memory)
        sqlite3_hard_heap_limit64((sqlite3_int64)own.sqlite_memory);
}

pfr_sql *sql_open_on(sqlite3 *db, const pfr_sql_options *options, pfr_error *err) {
    struct memory memory;
    memory_init(&memory, options ? options->alloc : NULL,
                options && options->limits ? limits_resolve(options->limits).memory : 0);
    pfr_sql *sql = mem_zeroed(&memory, 1, sizeof *sql);
    if (!sql)
        return mem_fail(&memory, err, "sql"), NULL;
    sql->memory = memory;
    sql->db = db;
    sql->failure.status = PFR_OK;
    arena_init(&sql->arena, &sql->memory);
    take_options(sql, options);
    pfr_status st = layout_columns_make(&sql->layouts, &sql->arena, err);
    if (st >= 0 && register_all(sql) != SQLITE_OK)
        st = sql_fail(sql, sqlite3_errcode(db), err);
    if (st >= 0)
        return sql;
    sql->db = NULL; /* the connection belongs to the caller */
    pfr_sql_close(sql);
    return NULL;
}

pfr_sql *pfr_sql_open(const pfr_sql_options *options, pfr_error *err) {
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(":memory:", &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) != SQLITE_OK) {
        pfr_fail(err, PFR_ERR_MEMORY, PFR_NO_OFFSET, 0, "sql", "out of memory for SQLite");
        sqlite3_close(db);
        return NULL;
    }
    pfr_sql *sql = sql_open_on(db, options, err);
    if (!sql) {
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_exec(db, "PRAGMA temp_store=MEMORY", NULL, NULL, NULL);
    sql_guard(sql);
    return sql;
}

void pfr_sql_close(pfr_sql *sql) {
    if (!sql)
        return;
    if (sql->db && !sql->borrowed)
        sqlite3_close(sql->db);
    for (unsigned i = 0; i < sql->nr_sources; i++)
        source_close(sql->sources[i]);
    arena_free(&sql->arena);
    struct memory memory = sql->memory;
    mem_free(&memory, sql, 1, sizeof *sql);
}

void pfr_sql_interrupt(pfr_sql *sql) {
    sql->interrupted = 1;
}

bool pfr_sql_is_complete(const char *text) {
    return sqlite3_complete(text);
}

const char *pfr_sql_schema(const pfr_sql *sql, unsigned index) {
    return index < sql->nr_sources ? sql->sources[index]->schema : NULL;
}

pfr_status pfr_sql_bind(pfr_sql *sql, const char *name, const char *value, pfr_error *err) {
    struct sql_parameter *parameter = arena_zeroed(&sql->arena, 1, sizeof *parameter);
    char *own_name = arena_text(&sql->arena, name, strlen(name));
    char *own_value = arena_text(&sql->arena, value, strlen(value));
    if (!parameter || !own_name || !own_value)
        return mem_fail(&sql->memory, err, "parameter");
    *parameter = (struct sql_parameter){own_name, own_value, sql->parameters};
    sql->parameters = parameter; /* the new parameter hides an older one of the same name */
    return PFR_OK;
}

/* --- Names of schemas. */

static bool is_taken(const pfr_sql *sql, const char *name) {
    if (strcasecmp(name, "main") == 0 || strcasecmp(name, "temp") == 0)
        return true;
    for (unsigned i = 0; i < sql->nr_sources; i++)
        if (strcasecmp(sql->sources[i]->schema, name) == 0)
            return true;
    return false;
}

/* Makes the name of a schema from a path: "runs/new-1.perf.data" becomes "new_1". */
static void name_of_path(const char *path, char name[NAME_MOST]) {
    const char *slash = strrchr(path, '/');
    const char *base = slash && slash[1] ? slash + 1 : path;
    size_t length = 0;
    if (isdigit((unsigned char)*base))
        name[length++] = '_';
    for (; *base && *base != '.' && length < NAME_MOST - 1; base++)
        name[length++] = isalnum((unsigned char)*base) ? *base : '_';
    name[length] = '\0';
    if (strcmp(path, "-") == 0)
        strcpy(name, "stdin");
    else if (!length)
        strcpy(name, "recording");
}

static char *free_name(pfr_sql *sql, const char *path) {
    char name[NAME_MOST], numbered[NAME_MOST + 12];
    name_of_path(path, name);
    strcpy(numbered, name);
    for (unsigned i = 2; is_taken(sql, numbered); i++)
        snprintf(numbered, sizeof numbered, "%s_%u", name, i);
    return arena_text(&sql->arena, numbered, strlen(numbered));
}

/* --- Attaching. */

static pfr_status new_source(pfr_sql *sql, const char *path, const char *schema, struct sql_source **to,
                             pfr_error *err) {
    if (sql->nr_sources == PFR_SQL_RECORDINGS_MOST)
        return pfr_fail(err, PFR_ERR_LIMIT, PFR_NO_OFFSET, 0, "sql", "more than %u recordings at once",
                        PFR_SQL_RECORDINGS_MOST);
    if (schema && !sql->borrowed && (!*schema || is_taken(sql, schema)))
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "sql", "the name \"%.60s\" is taken", schema);
    struct sql_source *source = arena_zeroed(&sql->arena, 1, sizeof *source);
    if (!source)
        return mem_fail(&sql->memory, err, "recording");
    *source = (struct sql_source){.sql = sql, .index = sql->nr_sources, .spooled = -1};
    source->schema = schema ? arena_text(&sql->arena, schema, strlen(schema)) : free_name(sql, path);
    source->path = arena_text(&sql->arena, path, strlen(path));
    if (!source->schema || !source->path)
        return mem_fail(&sql->memory, err, "recording");
    *to = source;
    return PFR_OK;
}

/* Attaches the schema, which is a database of its own in memory. */
static pfr_status add_schema(struct sql_source *source, pfr_error *err) {
    pfr_sql *sql = source->sql;
    char *attach = sqlite3_mprintf("ATTACH ':memory:' AS \"%w\"", source->schema);
    const int code = attach ? sqlite3_exec(sql->db, attach, NULL, NULL, NULL) : SQLITE_NOMEM;
    sqlite3_free(attach);
    if (code != SQLITE_OK)
        return sql_fail(sql, code, err);
    return schema_create(source, err);
}

static pfr_status finish_source(struct sql_source *source, pfr_status st, pfr_error *err) {
    pfr_sql *sql = source->sql;
    if (st >= 0) {
        sql->sources[sql->nr_sources++] = source;
        sql->guarded = false;
        st = sql->borrowed ? schema_create(source, err) : add_schema(source, err);
        sql->guarded = !sql->borrowed;
    } else {
        source_close(source);
    }
    return st;
}

pfr_status pfr_sql_attach(pfr_sql *sql, const char *path, const char *schema, pfr_error *err) {
    return pfr_sql_attach_opened(sql, path, NULL, schema, err);
}

pfr_status pfr_sql_attach_model(pfr_sql *sql, const pfr_model *model, const char *schema, pfr_error *err) {
    struct sql_source *source;
    PFR_TRY(new_source(sql, "model", schema, &source, err));
    source->path = NULL;
    source->model = model;
    return finish_source(source, PFR_OK, err);
}

pfr_status pfr_sql_attach_opened(pfr_sql *sql, const char *path, const pfr_model *model, const char *schema,
                                 pfr_error *err) {
    struct sql_source *source;
    pfr_error own;
    PFR_TRY(new_source(sql, path, schema, &source, err));
    source->model = model;
    const pfr_status st = finish_source(source, source_open(source, &own), &own);
    if (st < 0 && err)
        *err = own;
    return st;
}
