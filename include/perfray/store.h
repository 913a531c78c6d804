/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_STORE_H
#define PERFRAY_STORE_H
/*
 * A store keeps many recordings in a database: SQLite in one file, or a ClickHouse server. A recording that was pushed
 * is reduced to sums: per slot of time (10 s by default), event, thread name and call chain the number of samples and
 * their weight, with names of functions, not addresses; of traces also the distribution of latencies. docs/store.md
 * lists the tables.
 *
 * pfr_store_select returns a reader over all recordings that an expression selects, for pfr_report_print, pfr_flame,
 * pfr_latency_print and pfr_model_open (so pfr_view_write and pfr_diff_open). These print the same as over the files,
 * as far as a store has what they need; for the rest they return PFR_ERR_USAGE and say what is missing.
 *
 *     pfr_store *store = pfr_store_open("fleet.db", NULL, &err);
 *     pfr_reader *reader = pfr_store_select(store, "service=\"search\" and time > -1d", &err);
 *     pfr_report_print(reader, &options, out, &err);
 *     pfr_close(reader);
 *     pfr_store_close(store);
 *
 * URLs: a path or "sqlite:PATH"; "clickhouse://[USER@]HOST[:PORT][,HOST...]/DATABASE", and "clickhouses://" for TLS. An
 * engine is available if the library was built with its client library.
 *
 * Errors of all functions: PFR_ERR_IO (`where` is "store.away": the store cannot be reached now, or is locked),
 * PERMISSION, MEMORY, LIMIT, USAGE (no such store; a store of a newer version of perfray; a bad expression), FORMAT (a
 * file that is no store).
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
    const pfr_limits *limits; /* `memory`; NULL: the defaults */
    bool create;              /* make the store if it is missing, or bring it up to this version */
    bool read_only;
    uint64_t now;        /* ns since 1970, that "-1d" in expressions refers to; 0: the clock */
    uint32_t timeout_ms; /* for connections and locks; 0: 10 s */
} pfr_store_options;

/* options NULL: defaults. A store of an older version is brought up to date by `create` only. The caller closes the
 * handle; NULL on failure. */
pfr_store *pfr_store_open(const char *url, const pfr_store_options *options, pfr_error *err);
/* NULL is fine. */
void pfr_store_close(pfr_store *store);
/* The name of the engine, "sqlite" or "clickhouse". Static. */
const char *pfr_store_engine(const pfr_store *store);

/* What a push found. */
typedef enum pfr_pushed {
    PFR_PUSHED_NEW,       /* the recording is in the store now */
    PFR_PUSHED_ALREADY,   /* it was there, with the same labels: nothing changed */
    PFR_PUSHED_RELABELED, /* it was there with other labels, which were replaced */
    PFR_PUSHED_DIFFERS    /* it is there with other labels, and nothing changed (`relabel` replaces them) */
} pfr_pushed;

typedef struct pfr_push_options {
    size_t size; /* sizeof(pfr_push_options) */
    /* Labels. NULL: empty; of host the recorded hostname. At most 255 bytes each. */
    const char *service, *version, *host;
    uint64_t slot; /* length of a slot, ns, 1 ms to 1 day; 0: 10 s */
    /* When the recording ended, ns since 1970, for recordings without clock data (perf record -k) and traces. 0: not
       known; their times are then those of the recorded clock. */
    uint64_t ended;
    bool ended_is_given; /* `ended` is the user's, and precedes clock data; else it is that of the file */
    bool relabel;        /* replace the labels of a recording that is there */
    uint32_t max_stack;  /* entries of a call chain; 0: 1024, of a trace 256 */
    unsigned jobs;       /* as of pfr_report_options */
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
 * Pushes a recording, exactly once: it is visible when the function returned, as a whole, or not at all, whatever
 * happens to the process or the store meanwhile. Its id is made of its bytes, so a push that failed can be repeated.
 *
 * PFR_OK; PFR_HOLE: pushed, but parts of the recording could not be used, each passed to `hole`; USAGE (options; a
 * stream without spool; counts without samples); else as pfr_next and see above.
 */
pfr_status pfr_store_push(pfr_store *store, pfr_reader *reader, const pfr_push_options *options,
                          pfr_push_result *result, pfr_error *err);

/*
 * A reader over the uploads that `where` selects (NULL: all): see the top. The caller closes it with pfr_close; the
 * store may be closed before. Its limits are those of the store. NULL on failure. USAGE also: no upload matches;
 * samples and traces together; the expression (err->offset is the byte in it).
 *
 * Expressions: NAME OP VALUE with and, or, not, parentheses. Names service, version, host, upload, kind ("samples",
 * "calls"), event, comm: = != ~ (glob) !~; time: < <= > >= with -90m, -1d (before now), "2026-11-28 12:00" (UTC), now,
 * today, yesterday, @SECONDS. Values are words or in double or single quotes, with \ before quotes.
 */
pfr_reader *pfr_store_select(pfr_store *store, const char *where, pfr_error *err);

/*
 * The same for reports of functions without their callers and callees (pfr_report_options: children NO, call_graph
 * "none"), faster: where the store has sums by day and function, it reads these instead of samples. Weights and counts
 * are the same. Views that need call chains, times or latencies get PFR_ERR_USAGE (`where` is "store.sums").
 */
pfr_reader *pfr_store_select_functions(pfr_store *store, const char *where, pfr_error *err);

/* The number of uploads that `where` selects; none is USAGE, as are samples and traces together. */
pfr_status pfr_store_count(pfr_store *store, const char *where, uint64_t *count, pfr_error *err);

/*
 * As pfr_store_select of the uploads number `part`, part + parts, part + 2 * parts ... that `where` selects, in the
 * order of pfr_store_list: for those who tell recordings apart, as runs of a comparison. USAGE (`where` is
 * "store.empty"): none of their samples matches.
 */
pfr_reader *pfr_store_select_part(pfr_store *store, const char *where, uint64_t part, uint64_t parts, pfr_error *err);

typedef enum pfr_store_format { PFR_STORE_TEXT, PFR_STORE_CSV, PFR_STORE_JSON } pfr_store_format;

/* Prints uploads, oldest first: a line each. */
pfr_status pfr_store_list(pfr_store *store, const char *where, pfr_store_format format, pfr_output *out,
                          pfr_error *err);

/* Removes the uploads that `where` (not NULL) selects. Expressions with event or comm are USAGE: an upload is removed
   as a whole. Returns how many in *count, also with `pretend`, which removes nothing. */
pfr_status pfr_store_drop(pfr_store *store, const char *where, bool pretend, uint64_t *count, pfr_error *err);

/* Removes uploads that ended more than `age` ns ago; `pretend` and *count as for pfr_store_drop. */
pfr_status pfr_store_retain(pfr_store *store, uint64_t age, bool pretend, uint64_t *count, pfr_error *err);

/* Runs one query of the engine's SQL, which cannot change the store, and prints the answer. */
pfr_status pfr_store_sql(pfr_store *store, const char *query, pfr_store_format format, pfr_output *out, pfr_error *err);

/* Prints size and state, and checks that each upload has its rows and each row its names. PFR_HOLE: some do not. */
pfr_status pfr_store_check(pfr_store *store, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
