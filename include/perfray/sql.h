/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_SQL_H
#define PERFRAY_SQL_H
/*
 * SQL over recordings: an SQLite database in memory whose tables read the recordings that were attached. The tables and
 * their columns are listed in docs/sql.md; their names and meanings do not change in later versions, columns are only
 * added at the end.
 *
 * Nothing can be changed: SELECT, WITH, VALUES, EXPLAIN and PRAGMAs that describe tables are run, everything else is
 * refused. A query cannot open a file, attach a database or load an extension.
 *
 * The header is installed where the library was built with SQLite.
 *
 * Example, the ten threads with the greatest weight as CSV:
 *
 *     pfr_sql *sql = pfr_sql_open(NULL, &err);
 *     if (sql && pfr_sql_attach(sql, "perf.data", NULL, &err) >= 0)
 *         pfr_sql_print(sql, "SELECT tid, sum(weight) FROM sample_text GROUP BY tid ORDER BY 2 DESC LIMIT 10",
 *                       PFR_SQL_CSV, out, &err);
 *     pfr_sql_close(sql);
 *
 * A handle belongs to one thread at a time, but for pfr_sql_interrupt.
 */
#include <perfray/model.h>
#include <perfray/out.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_sql pfr_sql;

/* Recordings that one handle can hold (one less than SQLite attaches databases). */
#define PFR_SQL_RECORDINGS_MOST 9u

/* `(pfr_sql_options){.size = sizeof(pfr_sql_options)}` is the default, and a NULL pointer is the same. */
typedef struct pfr_sql_options {
    size_t size;              /* sizeof(pfr_sql_options) */
    const pfr_alloc *alloc;   /* of readers and models; SQLite has its own. NULL: malloc */
    const pfr_limits *limits; /* of each reader. NULL: defaults */
    /* Bytes that SQLite may hold; a query that needs more fails. It counts all handles of SQLite in the process, and
       stays when this handle is closed. 0: no limit is set. */
    uint64_t sqlite_memory;
    /* How models are made: see pfr_model_open. NULL: its defaults. Texts in it must outlive the handle. */
    const pfr_model_options *model;
} pfr_sql_options;

/* NULL, with *err: MEMORY. */
pfr_sql *pfr_sql_open(const pfr_sql_options *options, pfr_error *err);
/* NULL is fine. */
void pfr_sql_close(pfr_sql *sql);

/*
 * Makes the recording at `path` ("-": standard input) a schema. Its tables are `schema.sample` and so on; without a
 * schema a table is that of the first recording. `schema` NULL: the name of the file without folders, up to its first
 * dot, with `_` for what is no letter, digit or `_`, and in front of a digit; `_2`, `_3`, ... is added where the name
 * is taken. A stream is kept in an unlinked temporary file. Nothing of the recording is read before a query needs it.
 * Errors: as pfr_open; USAGE: the name is taken or "main", "temp"; LIMIT: too many recordings.
 */
pfr_status pfr_sql_attach(pfr_sql *sql, const char *path, const char *schema, pfr_error *err);
/* The same for a model, which must outlive the handle. The tables of records are empty. */
pfr_status pfr_sql_attach_model(pfr_sql *sql, const pfr_model *model, const char *schema, pfr_error *err);
/* The same for the recording at `path` and the model that was opened of it, which must outlive the handle: the
   recording is not loaded again, and the tables of records have its records. model NULL: as pfr_sql_attach. */
pfr_status pfr_sql_attach_opened(pfr_sql *sql, const char *path, const pfr_model *model, const char *schema,
                                 pfr_error *err);
/* The name of schema `index`, from 0; NULL past the end. */
const char *pfr_sql_schema(const pfr_sql *sql, unsigned index);
/* The reader of recording `index`, read to the end and to be rewound before use: for its quality, and where its damage
   is. Belongs to the handle. NULL past the end, for a model, and on failure with *err. */
pfr_reader *pfr_sql_reader(pfr_sql *sql, unsigned index, pfr_error *err);

/* The value of a parameter (`:name`, `@name` or `$name` in queries): an integer or a real number where it is written as
   one, else text. Errors: MEMORY. */
pfr_status pfr_sql_bind(pfr_sql *sql, const char *name, const char *value, pfr_error *err);

typedef enum pfr_sql_format {
    PFR_SQL_TABLE,      /* aligned columns, for people */
    PFR_SQL_BOX,        /* the same with lines between */
    PFR_SQL_CSV,        /* RFC 4180, a header row, texts quoted; NULL is an empty field without quotes */
    PFR_SQL_JSON,       /* an array of objects; blobs are hexadecimal digits */
    PFR_SQL_JSON_LINES, /* an object a line */
    PFR_SQL_MARKDOWN
} pfr_sql_format;

/*
 * Runs every statement of `text` and prints the rows of each. PFR_OK; PFR_END: pfr_sql_interrupt ended it; USAGE: the
 * statement is wrong, is refused, or a parameter has no value; IO: printing failed; MEMORY; LIMIT: sqlite_memory, or a
 * limit of a reader; else as pfr_next and pfr_model_open. Damage of the recordings is no failure: see the table
 * `quality` and pfr_sql_reader.
 */
pfr_status pfr_sql_print(pfr_sql *sql, const char *text, pfr_sql_format format, pfr_output *out, pfr_error *err);

/* A row: `values[i]` is text, NUL-terminated, NULL for NULL; valid during the call. false: no more rows are wanted. */
typedef bool pfr_sql_row(void *context, unsigned count, const char *const *names, const char *const *values);
/* The same with a function for each row; `row` returning false is PFR_OK. */
pfr_status pfr_sql_each(pfr_sql *sql, const char *text, pfr_sql_row *row, void *context, pfr_error *err);

/* Whether the text ends with a semicolon that ends a statement: for shells that read line by line. */
bool pfr_sql_is_complete(const char *text);

/* A query for a common question, as printed in docs/sql.md. */
typedef struct pfr_sql_recipe {
    unsigned number;        /* from 1 */
    const char *title;      /* what it answers */
    const char *query;      /* without a semicolon at the end */
    const char *parameters; /* names of its parameters with commas between; NULL: it has none */
} pfr_sql_recipe;
/* Recipe `index` from 0, static; NULL past the end. */
const pfr_sql_recipe *pfr_sql_get_recipe(unsigned index);

/* Ends the query that runs, soon; the next one runs again. May be called by any thread and by a signal handler. */
void pfr_sql_interrupt(pfr_sql *sql);

/*
 * Writes the tables of the first recording into an SQLite database at `path`, by another name first. A file that is
 * there is replaced if pfr_sql_save wrote it, else PFR_ERR_USAGE. Errors else: IO, PERMISSION, LIMIT, MEMORY.
 */
pfr_status pfr_sql_save(pfr_sql *sql, const char *path, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
