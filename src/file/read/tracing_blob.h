/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_TRACING_BLOB_H
#define PFR_FILE_TRACING_BLOB_H
/*
 * Parser of the tracepoint formats of a recording (feature TRACING_DATA, or the data after record 66). The data is like
 * a small file with its own byte order. It does not fit the layout tables (NUL-terminated text, counts of 4 or 8 bytes
 * depending on the part), so it has a parser of its own.
 *
 *    blob_open(&b, bytes, length, offset, &err);
 *    struct tracing_format f;
 *    while (blob_next(&b, &f, &err) == PFR_OK)
 *        printf("%.*s:%.*s\n", (int)f.system.length, f.system.at, (int)f.name.length, f.name.at);
 *    blob_rest(&b, &rest, &err);
 *
 * The bytes belong to the caller and must outlive the parser and every view taken from it.
 */
#include "base/memory/cursor.h"
#include "base/memory/fail.h"

#include <perfray/views.h>

struct tracing_blob {
    pfr_text version;
    bool big_endian;
    uint8_t long_size;
    uint32_t page_size;
    pfr_bytes header_page, header_event;
    uint32_t nr_systems;
    /* state of blob_next */
    struct cursor in;
    uint32_t systems_left, formats_left;
    pfr_text system;
    struct cursor ftrace; /* state of blob_next_ftrace */
    uint32_t ftrace_left;
};

/* The sections after the formats. Any of them may be empty. */
struct tracing_rest {
    pfr_bytes kallsyms; /* lines of /proc/kallsyms */
    pfr_bytes printk;   /* lines `0xADDRESS : "format"` */
    pfr_bytes cmdlines; /* lines `PID COMM` */
};

struct tracing_format {
    pfr_text system, name; /* name comes from the format's text; empty if that has no name */
    uint64_t id;           /* UINT64_MAX: the text has no ID */
    pfr_text text;
};

/* PFR_OK, or PFR_ERR_DAMAGE with *err if the bytes are not tracing data or end before the formats. `offset` is for
   messages. */
pfr_status blob_open(struct tracing_blob *blob, const uint8_t *bytes, uint64_t length, uint64_t offset, pfr_error *err);
/* The next event format: PFR_OK, PFR_END, PFR_ERR_DAMAGE. */
pfr_status blob_next(struct tracing_blob *blob, struct tracing_format *format, pfr_error *err);
/* Like blob_next, for the formats of ftrace's own events, which precede the others; `system` is "ftrace". */
pfr_status blob_next_ftrace(struct tracing_blob *blob, struct tracing_format *format, pfr_error *err);
/* The sections after the formats; call it after blob_next has returned PFR_END. PFR_ERR_DAMAGE: the data is cut off;
   the sections before the cut are filled. */
pfr_status blob_rest(struct tracing_blob *blob, struct tracing_rest *rest, pfr_error *err);

#endif
