/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_FORMATS_H
#define PFR_MODEL_TRACEPOINT_FORMATS_H
/*
 * Fields of a tracepoint's raw data, from the text of its format file (/sys/kernel/tracing/events/SYSTEM/NAME/format,
 * or the copy inside a perf.data file). As with symbols, callers use a table of functions and never parse, so that
 * parsing can be moved to a separate process.
 */
#include <stdbool.h>
#include "base/memory/arena.h"

struct format_field {
    const char *name, *type; /* "filename", "char[16]"; a type includes the brackets of its array, without blanks */
    uint32_t offset, size;   /* in the raw data; for a data_loc or rel_loc, those of its 32-bit word */
    uint32_t elements;       /* number in the brackets of an array; 0: no number, or not an array */
    bool is_signed, is_array, is_pointer;
    bool is_string; /* an array of char, in place or referenced by a data_loc */
    bool data_loc;  /* the word is length << 16 | offset from the start of the raw data */
    bool rel_loc;   /* as data_loc, with the offset counted from the end of the word */
    bool is_common; /* one of the fields that every event has */
};

struct event_format {
    const char *system, *name;
    const char *print_fmt; /* after "print fmt: "; "" if missing */
    const struct format_field *fields;
    size_t field_count;
    uint32_t id;
};

#define FORMAT_FIELDS_MOST 4096u
#define FORMAT_BYTES_MOST ((size_t)1 << 20)

struct format_source {
    const char *name;

    /* Reads a format. All that *format points to is allocated in the arena. PFR_OK, PFR_ERR_DAMAGE (error.offset counts
       from the start of the text), PFR_ERR_LIMIT, PFR_ERR_MEMORY. */
    pfr_status (*read)(const char *text, size_t length, const char *system, struct arena *arena,
                       struct event_format *format, pfr_error *err);
};

extern const struct format_source text_format_source;

/* The field with this name; NULL: there is no such field. */
const struct format_field *find_format_field(const struct event_format *format, const char *name);

#endif
