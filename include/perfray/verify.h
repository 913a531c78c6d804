/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_VERIFY_H
#define PERFRAY_VERIFY_H
/*
 * What is wrong with a recording: everything that breaks a rule of its format, each with the rule's name, how bad it
 * is, and the bytes concerned. Recordings of perf and XRay traces go through the same table of rules.
 *
 * A rule that holds for every sound recording is an error or a warning; notes are about what newer or careless writers
 * do, and are left out unless asked for. Nothing is kept: findings come as they are found, those of the file header
 * and of records in file order, then those of the file as a whole and of its features.
 *
 * Example:
 *
 *     static void show(void *context, const pfr_finding *f) {
 *         printf("%" PRIu64 " %s: %s\n", f->offset, f->rule->name, f->text);
 *     }
 *     pfr_verify_options options = {.size = sizeof options, .found = show};
 *     if (pfr_verify(reader, &options, &err) == PFR_HOLE)
 *         puts("not sound");
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_severity {
    PFR_NOTE,    /* sound readers do not mind, or it is newer than this library */
    PFR_WARNING, /* readers may go wrong, or show less */
    PFR_ERROR    /* the format is broken: something cannot be read, or is read wrong */
} pfr_severity;

/* "note", "warning", "error": a static name. */
const char *pfr_severity_name(pfr_severity severity);

typedef struct pfr_rule {
    const char *name; /* "record-body": stable, to be matched by scripts */
    pfr_severity severity;
    const char *about; /* what breaks it, one line */
} pfr_rule;

/* The rules by number from 0 on, always in the same order; NULL past the end. */
const pfr_rule *pfr_get_rule(uint32_t index);

typedef struct pfr_finding {
    const pfr_rule *rule;
    uint64_t offset, length; /* bytes of the file `part`; of decompressed records the record they came out of */
    uint64_t inner;          /* of a record that was compressed: its place in the decompressed bytes */
    bool inside;             /* inner counts */
    uint32_t part;           /* as pfr_record.part */
    const char *text;        /* one sentence, no newline; lives as long as the call */
} pfr_finding;

typedef struct pfr_verify_options {
    size_t size;                                              /* sizeof(pfr_verify_options) */
    bool notes;                                               /* tell notes, too */
    void (*found)(void *context, const pfr_finding *finding); /* may be NULL */
    void *context;
} pfr_verify_options;

/* Reads the recording to its end. The reader must be fresh, or just rewound. PFR_OK: nothing is wrong; PFR_HOLE:
   something is; < 0: it could not be read to the end, as pfr_next, or memory is short. options NULL: tell nobody. */
pfr_status pfr_verify(pfr_reader *reader, const pfr_verify_options *options, pfr_error *err);

typedef enum pfr_verify_format {
    PFR_VERIFY_TEXT, /* a line for each finding, then what was counted */
    PFR_VERIFY_JSON  /* docs/json/verify.schema.json */
} pfr_verify_format;

typedef struct pfr_verify_print_options {
    size_t size; /* sizeof(pfr_verify_print_options) */
    pfr_verify_format format;
    bool notes;
    uint64_t most; /* findings of one rule that are printed, all are counted; 0: no limit */
} pfr_verify_print_options;

/* The same, printed. options NULL: as text, without notes. < 0: what was found until then is printed, and no count. */
pfr_status pfr_verify_print(pfr_reader *reader, const pfr_verify_print_options *options, pfr_output *out,
                            pfr_error *err);

/* The table of rules, printed. */
void pfr_verify_print_rules(pfr_verify_format format, pfr_output *out);

#ifdef __cplusplus
}
#endif
#endif
