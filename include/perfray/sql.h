/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SQL_H
#define PERFRAY_SQL_H
/*
 * SQL over recordings: an SQLite database in memory whose tables read the attached recordings. docs/sql.md lists the
 * tables and their columns. Their names and meanings do not change in later versions; columns are only added at the
 * end.
 *
 * The database is read-only: SELECT, WITH, VALUES, EXPLAIN and PRAGMAs that describe tables are allowed, everything
 * else is refused. A query cannot open a file, attach a database or load an extension.
 *
 * This header is installed only if the library was built with SQLite.
 *
 * Example, the ten threads with the greatest weight as CSV:
 *
 *     pfr_sql *sql = pfr_sql_open(NULL, &err);
 *     if (sql && pfr_sql_attach(sql, "perf.data", NULL, &err) >= 0)
 *         pfr_sql_print(sql, "SELECT tid, sum(weight) FROM sample_text GROUP BY tid ORDER BY 2 DESC LIMIT 10",
 *                       PFR_SQL_CSV, out, &err);
 *     pfr_sql_close(sql);
 *
 * A handle belongs to one thread at a time, except in pfr_sql_interrupt().
 */
#include <perfray/model.h>
#include <perfray/out.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_sql pfr_sql;

/* Maximum number of recordings of one handle (one less than the number of databases that SQLite can attach). */
#define PFR_SQL_RECORDINGS_MOST 9u

/* `(pfr_sql_options){.size = sizeof(pfr_sql_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_sql_options {
    size_t size;              /* sizeof(pfr_sql_options) */
    const pfr_alloc *alloc;   /* allocator of readers and models; SQLite has its own. NULL: malloc */
    const pfr_limits *limits; /* limits of each reader. NULL: defaults */
    /* Bytes that SQLite may allocate; a query that needs more fails. The limit applies to all SQLite handles in the
       process together, and remains when this handle is closed. 0: no limit is set. */
    uint64_t sqlite_memory;
    /* Options for pfr_model_open(). NULL: its defaults. Texts in them must outlive the handle. */
    const pfr_model_options *model;
} pfr_sql_options;

/* Returns NULL with PFR_ERR_MEMORY if there is no memory. */
pfr_sql *pfr_sql_open(const pfr_sql_options *options, pfr_error *err);
/* Closes the handle. NULL is allowed. */
void pfr_sql_close(pfr_sql *sql);

/*
 * Attaches the recording at `path` ("-": standard input) as a schema. Its tables are `schema.sample` and so on; a table
 * name without a schema is a table of the first recording. `schema` NULL: the schema name is made from the file name
 * without directories, up to its first dot. Characters other than letters, digits and `_` become `_`, a `_` is put in
 * front of a leading digit, and `_2`, `_3`, ... is appended if the name is taken. A stream is copied to an unlinked
 * temporary file. The recording is not read before a query needs it. Errors: as pfr_open(); PFR_ERR_USAGE if the name
 * is taken or is "main" or "temp"; PFR_ERR_LIMIT if there are too many recordings.
 */
pfr_status pfr_sql_attach(pfr_sql *sql, const char *path, const char *schema, pfr_error *err);
/* As pfr_sql_attach(), for a model, which must outlive the handle. The tables of records are empty. */
pfr_status pfr_sql_attach_model(pfr_sql *sql, const pfr_model *model, const char *schema, pfr_error *err);
/* As pfr_sql_attach(), for the recording at `path` and the model that was made from it; the model must outlive the
   handle. The recording is not loaded again, and the tables of records contain its records. `model` NULL: as
   pfr_sql_attach(). */
pfr_status pfr_sql_attach_opened(pfr_sql *sql, const char *path, const pfr_model *model, const char *schema,
                                 pfr_error *err);
/* The name of schema `index`, from 0; NULL after the last one. */
const char *pfr_sql_schema(const pfr_sql *sql, unsigned index);
/* The reader of recording `index`, for example to get the quality and the damage of the recording. It was read to the
   end: rewind it before use. The reader belongs to the handle. Returns NULL after the last recording, for a model, and
   on failure. */
pfr_reader *pfr_sql_reader(pfr_sql *sql, unsigned index, pfr_error *err);

/* Sets the value of a parameter (`:name`, `@name` or `$name` in queries). A value in the form of an integer or a real
   number becomes a number; any other value is text. Errors: PFR_ERR_MEMORY. */
pfr_status pfr_sql_bind(pfr_sql *sql, const char *name, const char *value, pfr_error *err);

typedef enum pfr_sql_format {
    PFR_SQL_TABLE,      /* aligned columns, for people */
    PFR_SQL_BOX,        /* aligned columns with lines between them */
    PFR_SQL_CSV,        /* RFC 4180 with a header row; texts are quoted; NULL is an empty field without quotes */
    PFR_SQL_JSON,       /* an array of objects; blobs are hexadecimal digits */
    PFR_SQL_JSON_LINES, /* one object per line */
    PFR_SQL_MARKDOWN
} pfr_sql_format;

/*
 * Runs every statement of `text` and prints the rows of each. Returns PFR_OK; PFR_END if pfr_sql_interrupt() ended the
 * run; PFR_ERR_USAGE if a statement is invalid or refused, or a parameter has no value; PFR_ERR_IO if printing failed;
 * PFR_ERR_MEMORY; PFR_ERR_LIMIT for sqlite_memory or a limit of a reader; otherwise an error of pfr_next() or
 * pfr_model_open(). Damage of the recordings is not a failure: see the table `quality` and pfr_sql_reader().
 */
pfr_status pfr_sql_print(pfr_sql *sql, const char *text, pfr_sql_format format, pfr_output *out, pfr_error *err);

/* Called for each row. `values[i]` is NUL-terminated text, or NULL for an SQL NULL; valid during the call. Returns
   false to end the query. */
typedef bool pfr_sql_row(void *context, unsigned count, const char *const *names, const char *const *values);
/* As pfr_sql_print(), but calls `row` for each row. Returns PFR_OK also if `row` returned false. */
pfr_status pfr_sql_each(pfr_sql *sql, const char *text, pfr_sql_row *row, void *context, pfr_error *err);

/* Whether the text ends with a semicolon that ends a statement. For shells that read line by line. */
bool pfr_sql_is_complete(const char *text);

/* A query for a common question, as printed in docs/sql.md. */
typedef struct pfr_sql_recipe {
    unsigned number;        /* from 1 */
    const char *title;      /* the question that the query answers */
    const char *query;      /* without a semicolon at the end */
    const char *parameters; /* names of the query's parameters, comma-separated; NULL: no parameters */
} pfr_sql_recipe;
/* Recipe `index`, from 0; NULL after the last one. Static. */
const pfr_sql_recipe *pfr_sql_get_recipe(unsigned index);

/* Ends the running query soon; later queries are not affected. May be called by any thread and by signal handlers. */
void pfr_sql_interrupt(pfr_sql *sql);

/*
 * Writes the tables of the first recording to an SQLite database at `path`: first to a temporary name, then renamed. An
 * existing file is replaced only if pfr_sql_save() wrote it; otherwise the result is PFR_ERR_USAGE. Other errors:
 * PFR_ERR_IO, PFR_ERR_PERMISSION, PFR_ERR_LIMIT, PFR_ERR_MEMORY. SQLite sorts indexes in unnamed temporary files.
 */
pfr_status pfr_sql_save(pfr_sql *sql, const char *path, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
