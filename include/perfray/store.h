/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_STORE_H
#define PERFRAY_STORE_H
/*
 * A store keeps many recordings in a database: SQLite in one file, or a ClickHouse server. A pushed recording is
 * reduced to sums: the number and weight of samples for each slot of time (10 s by default), event, thread name and
 * call chain. Call chains have names of functions, not addresses. For traces, the distribution of latencies is stored
 * as well. docs/store.md lists the tables.
 *
 * pfr_store_select() returns a reader over all recordings that an expression selects, for pfr_report_print(),
 * pfr_flame(), pfr_latency_print() and pfr_model_open() (and so for pfr_view_write() and pfr_diff_open()). These
 * functions give the same results as for the files. If an option needs data that a store does not have, they return
 * PFR_ERR_USAGE, and the error names the missing data.
 *
 *     pfr_store *store = pfr_store_open("fleet.db", NULL, &err);
 *     pfr_reader *reader = pfr_store_select(store, "service=\"search\" and time > -1d", &err);
 *     pfr_report_print(reader, &options, out, &err);
 *     pfr_close(reader);
 *     pfr_store_close(store);
 *
 * URLs: a path or "sqlite:PATH"; "clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE", and "clickhouses://" for TLS. An
 * engine is available only if the library was built with the client library of that database.
 *
 * Errors of all functions: PFR_ERR_IO (if err->where is "store.away", the store is locked or cannot be reached now);
 * PFR_ERR_USAGE if there is no such store, a newer version of perfray made it, or the expression is invalid;
 * PFR_ERR_FORMAT for a file that is not a store; PFR_ERR_PERMISSION, PFR_ERR_MEMORY, PFR_ERR_LIMIT.
 *
 * A handle belongs to one thread at a time.
 */
#include <perfray/alloc.h>
#include <perfray/limits.h>
#include <perfray/out.h>
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_store pfr_store;

typedef struct pfr_store_options {
    size_t size; /* sizeof(pfr_store_options) */
    const pfr_alloc *alloc;
    const pfr_limits *limits; /* limits of the store and of its readers; NULL: the defaults */
    bool create;              /* create the store if it does not exist; upgrade a store of an older version */
    bool read_only;
    uint64_t now;        /* time to which "-1d" in expressions refers, ns since 1970; 0: the current time */
    uint32_t timeout_ms; /* timeout of connections and locks; 0: 10 s */
} pfr_store_options;

/* Opens a store. `options` NULL: defaults. A store of an older version is upgraded only with `create`. Returns NULL on
   failure. The caller closes the handle. */
pfr_store *pfr_store_open(const char *url, const pfr_store_options *options, pfr_error *err);
/* Closes the handle. NULL is allowed. */
void pfr_store_close(pfr_store *store);
/* The name of the engine, "sqlite" or "clickhouse". Static. */
const char *pfr_store_engine(const pfr_store *store);

/* Result of a push. */
typedef enum pfr_pushed {
    PFR_PUSHED_NEW,       /* the recording was added to the store */
    PFR_PUSHED_ALREADY,   /* the store has the recording with the same labels; nothing changed */
    PFR_PUSHED_RELABELED, /* the store had the recording with other labels, which were replaced */
    PFR_PUSHED_DIFFERS    /* the store has the recording with other labels; nothing changed (see `relabel`) */
} pfr_pushed;

typedef struct pfr_push_options {
    size_t size; /* sizeof(pfr_push_options) */
    /* Labels of at most 255 bytes each. NULL: empty; for `host` the recorded hostname. */
    const char *service, *version, *host;
    uint64_t slot; /* length of a slot, ns, 1 ms to 1 day; 0: 10 s */
    /* Time when the recording ended, in ns since 1970, for traces and for recordings without clock data (perf record
       -k). 0: not known; the times in the store are then those of the recorded clock. */
    uint64_t ended;
    bool ended_is_given; /* true: the user gave `ended`, and it takes precedence over clock data; false: `ended` is the
                            modification time of the file */
    bool relabel;        /* replace the labels of a recording that is in the store already */
    uint32_t max_stack;  /* entries of a call chain to use; 0: 1024, for traces 256 */
    unsigned jobs;       /* as pfr_report_options.jobs */
    const pfr_symbol_options *naming;
    void (*hole)(void *context, const pfr_error *hole); /* may be NULL */
    void (*note)(void *context, const char *sentence);  /* may be NULL */
    void *context;
} pfr_push_options;

typedef struct pfr_push_result {
    pfr_pushed what;
    char upload[33]; /* id of the upload: XXH3-128 of the recording's bytes in hexadecimal */
    uint64_t samples, rows;
    char service[256], version[256], host[256]; /* labels that the store has now */
} pfr_push_result;

/*
 * Pushes a recording exactly once. When the function returned, the recording is visible completely or not at all,
 * whatever happens to the process or the store meanwhile. Its id is a hash of its bytes, so a push that failed can be
 * repeated.
 *
 * Returns PFR_OK; PFR_HOLE if the recording was pushed except for parts that could not be used, each passed to `hole`;
 * PFR_ERR_USAGE for invalid options, a stream without `spool`, or counts without samples; otherwise an error of
 * pfr_next() or one listed above.
 */
pfr_status pfr_store_push(pfr_store *store, pfr_reader *reader, const pfr_push_options *options,
                          pfr_push_result *result, pfr_error *err);

/*
 * A reader over the uploads that `where` selects (NULL: all), as described at the top. The caller closes it by
 * pfr_close(); the store may be closed earlier. Its limits are those of the store. Returns NULL on failure;
 * PFR_ERR_USAGE also if no upload matches, if samples and traces are selected together, or if the expression is invalid
 * (err->offset is the position in it).
 *
 * Expressions are NAME OP VALUE, combined by and, or, not and parentheses. The names service, version, host, upload,
 * kind ("samples", "calls"), event and comm are compared by =, !=, ~ (glob) and !~. The name time is compared by <, <=,
 * > and >= with -90m, -1d (before now), "2026-11-28 12:00" (UTC), now, today, yesterday or @SECONDS. Values are single
 * words, or text in double or single quotes, with \ before quotes.
 */
pfr_reader *pfr_store_select(pfr_store *store, const char *where, pfr_error *err);

/*
 * Like pfr_store_select(), but faster, for reports of functions without callers and callees (pfr_report_options:
 * children NO, call_graph "none"). Where the store has sums by day and function, the reader uses these instead of
 * samples; weights and counts are the same. Functions that need call chains, times or latencies return PFR_ERR_USAGE
 * (err->where is "store.sums").
 */
pfr_reader *pfr_store_select_functions(pfr_store *store, const char *where, pfr_error *err);

/*
 * Like pfr_store_select(), but uses less memory, for reports with callers and callees: samples with equal event, thread
 * name and call chain are summed over all times. Functions that need times or latencies return PFR_ERR_USAGE
 * (err->where is "store.sums").
 */
pfr_reader *pfr_store_select_stacks(pfr_store *store, const char *where, pfr_error *err);

/* Counts the uploads that `where` selects. PFR_ERR_USAGE if there are no such uploads, or if samples and traces are
   selected together. */
pfr_status pfr_store_count(pfr_store *store, const char *where, uint64_t *count, pfr_error *err);

/*
 * As pfr_store_select(), but only for every `parts`-th of the uploads that `where` selects, in the order of
 * pfr_store_list(), beginning with number `part`, from 0. For callers that need separate recordings, such as the runs
 * of a comparison. PFR_ERR_USAGE with err->where "store.empty": none of the samples matches.
 */
pfr_reader *pfr_store_select_part(pfr_store *store, const char *where, uint64_t part, uint64_t parts, pfr_error *err);

typedef enum pfr_store_format { PFR_STORE_TEXT, PFR_STORE_CSV, PFR_STORE_JSON } pfr_store_format;

/* Prints the uploads that `where` selects, one per line, oldest first. */
pfr_status pfr_store_list(pfr_store *store, const char *where, pfr_store_format format, pfr_output *out,
                          pfr_error *err);

/* Removes the uploads that `where` (not NULL) selects. Expressions with event or comm are PFR_ERR_USAGE, because an
   upload can only be removed as a whole. *count is set to the number of uploads, also with `pretend`, which removes
   nothing. */
pfr_status pfr_store_drop(pfr_store *store, const char *where, bool pretend, uint64_t *count, pfr_error *err);

/* Removes uploads that ended more than `age` ns ago; `pretend` and *count as for pfr_store_drop. */
pfr_status pfr_store_retain(pfr_store *store, uint64_t age, bool pretend, uint64_t *count, pfr_error *err);

/* Runs one read-only query in the SQL of the engine, and prints its result. */
pfr_status pfr_store_sql(pfr_store *store, const char *query, pfr_store_format format, pfr_output *out, pfr_error *err);

/* Prints the size and state of the store, and checks that each upload has its rows and each row its names. Returns
   PFR_HOLE if some are missing. */
pfr_status pfr_store_check(pfr_store *store, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
