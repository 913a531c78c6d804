/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_FORMATS_H
#define PFR_MODEL_TRACEPOINT_FORMATS_H
/*
 * What the raw bytes of a tracepoint hold, from the text of its format file
 * (/sys/kernel/tracing/events/SYSTEM/NAME/format, or the copy of it inside a perf.data file). As with symbols, callers
 * go through a table of functions and never parse, so that parsing can move into a process of its own.
 */
#include <stdbool.h>
#include "base/memory/arena.h"

struct format_field {
    const char *name, *type; /* "filename", "char[16]"; a type keeps the brackets of its array, without blanks */
    uint32_t offset, size;   /* in the raw data; of a data_loc the place of its 32-bit word */
    uint32_t elements;       /* of an array with a number in its brackets; else 0 */
    bool is_signed, is_array, is_pointer;
    bool is_string; /* an array of char, in place or behind a data_loc */
    bool data_loc;  /* the word is length << 16 | offset from the start of the raw data */
    bool rel_loc;   /* the same, but the offset counts from the end of the word */
    bool is_common; /* one of the fields that every event has */
};

struct event_format {
    const char *system, *name;
    const char *print_fmt; /* behind "print fmt: "; "" if none */
    const struct format_field *fields;
    size_t field_count;
    uint32_t id;
};

#define FORMAT_FIELDS_MOST 4096u
#define FORMAT_BYTES_MOST ((size_t)1 << 20)

struct format_source {
    const char *name;

    /* Everything that *format points to is the arena's. OK, DAMAGE (error.offset counts from the start of the text),
       LIMIT, MEMORY. */
    pfr_status (*read)(const char *text, size_t length, const char *system, struct arena *arena,
                       struct event_format *format, pfr_error *err);
};

extern const struct format_source text_format_source;

/* NULL: no field of that name. */
const struct format_field *find_format_field(const struct event_format *format, const char *name);

#endif
