/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_TRACING_BLOB_H
#define PFR_FILE_TRACING_BLOB_H
/*
 * The tracepoint formats of a recording (feature TRACING_DATA, or behind record 66): a little file with a byte order
 * of its own. It does not fit the tables (text ended by NUL, counts of 4 and 8 bytes by part), so it is read by hand.
 *
 *     blob_open(&b, bytes, length, offset, &err);
 *     struct tracing_format f;
 *     while (blob_next(&b, &f, &err) == PFR_OK)
 *         printf("%.*s:%.*s\n", (int)f.system.length, f.system.at, (int)f.name.length, f.name.at);
 *     blob_rest(&b, &rest, &err);
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
    /* for blob_next */
    struct cursor in;
    uint32_t systems_left, formats_left;
    pfr_text system;
    struct cursor ftrace; /* for blob_next_ftrace */
    uint32_t ftrace_left;
};

/* What stands behind the formats. Any of them may be empty. */
struct tracing_rest {
    pfr_bytes kallsyms; /* lines of /proc/kallsyms */
    pfr_bytes printk;   /* lines `0xADDRESS : "format"` */
    pfr_bytes cmdlines; /* lines `PID COMM` */
};

struct tracing_format {
    pfr_text system, name; /* name: from the format's text; empty where it has none */
    uint64_t id;           /* UINT64_MAX where the text has none */
    pfr_text text;
};

/* PFR_OK, or PFR_ERR_DAMAGE with *err: not such a file, or cut before the formats. `offset` is for messages. */
pfr_status blob_open(struct tracing_blob *blob, const uint8_t *bytes, uint64_t length, uint64_t offset, pfr_error *err);
/* The next event format: PFR_OK, PFR_END, PFR_ERR_DAMAGE. */
pfr_status blob_next(struct tracing_blob *blob, struct tracing_format *format, pfr_error *err);
/* The formats of ftrace's own events, which stand before the others: as blob_next, system "ftrace". */
pfr_status blob_next_ftrace(struct tracing_blob *blob, struct tracing_format *format, pfr_error *err);
/* What stands behind, once blob_next gave PFR_END. PFR_ERR_DAMAGE: cut; what came before the cut is filled. */
pfr_status blob_rest(struct tracing_blob *blob, struct tracing_rest *rest, pfr_error *err);

#endif
