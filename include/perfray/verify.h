/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VERIFY_H
#define PERFRAY_VERIFY_H
/*
 * pfr_verify - check a recording against the rules of its format and report every violation, with the rule, its
 * severity, and the bytes concerned.
 *
 * Use it to test a recorder, or to find out whether a file can be trusted. pfr_recover() (edit.h) writes a clean copy
 * of a damaged recording. perf.data recordings and XRay traces are checked by the same table of rules.
 *
 * Errors and warnings are rules that every intact recording satisfies. Notes are about unusual or newer data and are
 * reported only on request.
 *
 * Findings are reported while the recording is read and are not stored: first those of the file header and of the
 * records in file order, then those of the features and of the file as a whole.
 *
 * Memory: indexes are allocated from the reader's memory limit and released before the function returns.
 *
 * Threads: uses the calling thread only, which also calls the callback.
 *
 * Example:
 *
 *     static void show(void *context, const pfr_finding *f) {
 *         (void)context;
 *         printf("%" PRIu64 " %s: %s\n", f->offset, f->rule->name, f->text);
 *     }
 *
 *     pfr_verify_options options = {.size = sizeof options, .found = show};
 *     if (pfr_verify(reader, &options, &err) == PFR_HOLE)
 *         puts("the recording is damaged");
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How bad a violation is. Values ascend with the severity, so they can be compared. */
typedef enum pfr_severity {
    /* Readers are not affected, or the data is newer than this library. */
    PFR_NOTE,
    /* Some readers may show wrong or incomplete results. */
    PFR_WARNING,
    /* The format is violated: data cannot be read, or is read wrongly. */
    PFR_ERROR
} pfr_severity;

/* pfr_severity_name - "note", "warning" or "error". `severity` must be one of the three. A static string. */
const char *pfr_severity_name(pfr_severity severity);

/* One rule. The table is static and never changes while the program runs. */
typedef struct pfr_rule {
    /* A name such as "record-body". It never changes, so scripts may compare it. */
    const char *name;
    /* The same for all findings of the rule. */
    pfr_severity severity;
    /* A description of the violation in one line, for people. The wording may change between versions. */
    const char *about;
} pfr_rule;

/* pfr_get_rule - the rules, for `index` from 0, always in the same order; NULL after the last one. */
const pfr_rule *pfr_get_rule(uint32_t index);

/* One violation. The struct and its text are valid during the callback. */
typedef struct pfr_finding {
    const pfr_rule *rule;
    /*
     * The bytes concerned, in the file `part`. For a record inside a COMPRESSED record, the bytes of the COMPRESSED
     * record. A finding about a directory as a whole, such as a missing `data.N`, has offset 0.
     */
    uint64_t offset, length;
    /* Offset in the decompressed bytes, if `inside`. */
    uint64_t inner;
    /* The record was inside a COMPRESSED record. */
    bool inside;
    /* File of a directory recording, as pfr_record.part. */
    uint32_t part;
    /* One sentence without newline. */
    const char *text;
} pfr_finding;

/* Options of pfr_verify(). */
typedef struct pfr_verify_options {
    /* sizeof(pfr_verify_options) */
    size_t size;
    /* Report notes as well. */
    bool notes;
    /* Called for each finding. It must not use the reader. NULL: only the result counts. */
    void (*found)(void *context, const pfr_finding *finding);
    /* First argument of `found`. */
    void *context;
} pfr_verify_options;

/*
 * pfr_verify - check the recording, from its first record to its end. The reader must be new or just rewound. `options`
 * may be NULL.
 *
 * Returns PFR_OK if no rule is violated; PFR_HOLE if one is; an error of pfr_next() if the recording could not be read
 * to its end.
 */
pfr_status pfr_verify(pfr_reader *reader, const pfr_verify_options *options, pfr_error *err);

/* Formats of pfr_verify_print() and pfr_verify_print_rules(). */
typedef enum pfr_verify_format {
    /* One line per finding, then a summary. */
    PFR_VERIFY_TEXT,
    /* One document; docs/json/verify.schema.json describes it. */
    PFR_VERIFY_JSON
} pfr_verify_format;

/* Options of pfr_verify_print(). */
typedef struct pfr_verify_print_options {
    /* sizeof(pfr_verify_print_options) */
    size_t size;
    pfr_verify_format format;
    /* Print notes as well. */
    bool notes;
    /* Print at most this many findings of each rule; all are counted. 0: no limit. */
    uint64_t most;
} pfr_verify_print_options;

/*
 * pfr_verify_print - as pfr_verify(), and print the findings to `out`. `options` NULL: as text, without notes.
 *
 * If the recording could not be read to its end, the findings until then are printed, and TEXT has no summary. Names
 * from the recording are escaped.
 *
 * Returns as pfr_verify(). Errors of `out` are returned by pfr_output_close().
 */
pfr_status pfr_verify_print(pfr_reader *reader, const pfr_verify_print_options *options, pfr_output *out,
                            pfr_error *err);

/* pfr_verify_print_rules - print the table of rules: name, severity and description of each. */
void pfr_verify_print_rules(pfr_verify_format format, pfr_output *out);

#ifdef __cplusplus
}
#endif
#endif
