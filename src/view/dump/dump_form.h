/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_FORM_H
#define PFR_VIEW_DUMP_FORM_H
/*
 * Shared by the files of the dump: the state of a dump, and the callbacks that make up an output form.
 *
 *     dump_run.c      the public function: selects and orders records, reports holes
 *     dump_filter.c   --only, ranges
 *     dump_record.c   passes one record to a form: fields, sample_id, bytes that no table describes
 *     dump_begin.c    header, attrs, ids and features as pseudo records
 *     dump_decode.c   decodes bytes into structs by the tables of layouts
 *     dump_walk.c     passes structs to a form by their descriptors; has no code for individual records
 *     dump_text.c, dump_json.c   the forms for text and JSON lines
 *     dump_perf.c, dump_perf_*.c   lines as perf prints them: one function per record, in one table (dump_perf.h)
 *     dump_aux.c      writes AUX area data to files
 */
#include "base/text/public_output.h"
#include "file/xray/xray_clock.h"
#include "model/names/function_names.h"
#include "wire/layout.h"

#include <perfray/dump.h>

/* A field's name, prepared once in the spellings that the forms need. */
struct dump_key {
    const char *json; /* ,"name": */
    uint16_t json_length;
    const char *name;
};

/* The bytes that a value was read from. `at` is NULL for parts of other values (BITS). */
struct dump_spot {
    const uint8_t *at;
    uint64_t length;
};

/* The heading of a record or pseudo record. */
struct dump_head {
    const char *name;
    const pfr_record *rec; /* NULL for a pseudo record */
    uint64_t offset, size;
    const uint32_t *bit; /* number of the feature, or NULL */
};

struct dump;

struct dump_form {
    bool wraps_fields; /* the fields of a record are nested in a part of their own */
    void (*begin_record)(struct dump *d, const struct dump_head *head);
    void (*end_record)(struct dump *d);
    /* Begins a nested layout; key is NULL for an element of an array. */
    void (*begin_part)(struct dump *d, const struct dump_key *key);
    void (*end_part)(struct dump *d);
    void (*begin_array)(struct dump *d, const struct dump_key *key, uint64_t count);
    void (*end_array)(struct dump *d);
    void (*integer)(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value);
    void (*text)(struct dump *d, const struct dump_key *key, const void *at, size_t length);
    void (*bytes)(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length);
    void (*numbers)(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers);
};

/* Large enough for the struct of any layout. */
union dump_body {
#define LAYOUT(id, name, doc) struct pfr_rec_##name name##_;
#define F(...)
#define END
#include "wire/layouts.def"
};

#define DUMP_TYPES 128u /* layouts of lower record types are found by index in dump.of_type */
#define DUMP_ONLY_MOST 64u

struct dump_filter {
    bool any; /* no --only: show every record */
    bool layouts[LAYOUTS];
    uint64_t types[DUMP_ONLY_MOST]; /* record type numbers */
    unsigned nr_types;
    uint64_t offset_from, offset_to, time_from, time_to;
    bool timed;
};

/* perf's knowledge about the events at the time it prints a line. */
struct dump_events {
    uint32_t count;        /* number of events that perf has counted so far */
    uint32_t printed;      /* attrs of a stream printed so far; the reader may have read more */
    uint64_t sample_types; /* sample_type of all events, combined by OR */
    bool stamped;          /* the first event has sample_id_all */
};

struct dump {
    pfr_reader *reader;
    pfr_dump_options options;
    pfr_dump_counts counts;
    uint64_t reported; /* unusable ranges, records and sections reported so far */
    pfr_output *to;
    struct output *out;
    const struct dump_form *form;
    struct dump_filter filter;
    struct xray_clock clock; /* clock of an XRay trace; complete before the dump begins if the filter selects times */
    struct dump_key *keys;   /* one per field of each layout */
    size_t nr_keys;
    char *key_text;
    size_t key_text_size;
    const struct layout *layouts[LAYOUTS];
    const struct field *fields[LAYOUTS];
    uint16_t first_key[LAYOUTS];
    uint8_t of_type[DUMP_TYPES]; /* layout number by record type; for XRay traces, by type minus PFR_TRACE_TYPES */
    struct pfr_context context;  /* context of the current record */
    struct dump_events events;   /* for lines in perf's form */
    struct dump_spot spot;       /* bytes of the current value */
    const uint8_t *found;        /* result of a form that searches for a field */
    struct function_names functions;
    const struct function_name *function; /* the function, if the current integer is a function id; NULL: not a function
                                             id, no instrumentation map, or an error */
    pfr_status failed;                    /* error of the lookup of `function`; `why` has the details */
    pfr_error why;
    unsigned depth;              /* nesting level, used by the forms */
    bool filled;                 /* used by the forms: the current container is not empty */
    bool is_script;              /* called by perfray script, which handles more record types */
    bool unsorted;               /* perfray script in file order, where perf does not handle FINISHED_ROUND */
    bool quiet;                  /* the problem of the current record was reported */
    union dump_body body, *part; /* body: the record's struct; part: one per nesting level */
};

extern const struct dump_form dump_text_form, dump_json_form;

/* Keys of everything that is not a field. */
extern const struct dump_key dump_key_fields, dump_key_id, dump_key_ids, dump_key_bytes, dump_key_trailing,
    dump_key_damaged, dump_key_event;

#define DUMP_DEPTH 12u /* maximum nesting of layouts; the tables nest to 6 */

/* dump_record.c: a record or pseudo record to show in the current form. */
struct dump_shown {
    unsigned layout; /* 0: undecoded, shown as bytes */
    const void *body;
    struct cursor in;   /* `start` to `end` are the record's bytes; `at` follows the last known field */
    const char *damage; /* why the bytes do not fit the layout; NULL if they do */
};

#endif
