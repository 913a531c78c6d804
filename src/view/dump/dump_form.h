/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_FORM_H
#define PFR_VIEW_DUMP_FORM_H
/*
 * What the files of the dump share: the dump at hand, and the table of functions that an output form is made of.
 *
 *     dump_run.c      the public call: which records, in which order; holes
 *     dump_filter.c   --only, ranges
 *     dump_record.c   one record through a form: fields, sample_id, what no table explains
 *     dump_begin.c    header, attrs, ids, features as pseudo records
 *     dump_decode.c   bytes to structs by the tables
 *     dump_walk.c     structs to calls of a form, by the descriptors: no code for any record
 *     dump_text.c, dump_json.c   two forms
 *     dump_perf.c, dump_perf_*.c   perf's own lines: one function per record, in one table (dump_perf.h)
 *     dump_aux.c      AUX area data into files
 */
#include "base/text/public_output.h"
#include "file/xray/xray_clock.h"
#include "model/names/function_names.h"
#include "wire/layout.h"

#include <perfray/dump.h>

/* A field's name as the forms need it, made once. */
struct dump_key {
    const char *json; /* ,"name": */
    uint16_t json_length;
    const char *name;
};

/* The bytes a value was read from; at NULL: none of its own (BITS). */
struct dump_spot {
    const uint8_t *at;
    uint64_t length;
};

/* What stands before the fields of a record or pseudo record. */
struct dump_head {
    const char *name;
    const pfr_record *rec; /* NULL: pseudo record */
    uint64_t offset, size;
    const uint32_t *bit; /* of a feature, or NULL */
};

struct dump;

struct dump_form {
    bool wraps_fields; /* the fields of a record stand in a part of their own */
    void (*begin_record)(struct dump *d, const struct dump_head *head);
    void (*end_record)(struct dump *d);
    /* A layout in place, or (key NULL) one of an array. */
    void (*begin_part)(struct dump *d, const struct dump_key *key);
    void (*end_part)(struct dump *d);
    void (*begin_array)(struct dump *d, const struct dump_key *key, uint64_t count);
    void (*end_array)(struct dump *d);
    void (*integer)(struct dump *d, const struct dump_key *key, const struct field *f, uint64_t value);
    void (*text)(struct dump *d, const struct dump_key *key, const void *at, size_t length);
    void (*bytes)(struct dump *d, const struct dump_key *key, const uint8_t *at, uint64_t length);
    void (*numbers)(struct dump *d, const struct dump_key *key, const struct field *f, const pfr_u64s *numbers);
};

/* Room for any layout's struct. */
union dump_body {
#define LAYOUT(id, name, doc) struct pfr_rec_##name name##_;
#define F(...)
#define END
#include "wire/layouts.def"
};

#define DUMP_TYPES 128u /* records with lower types are found by index */
#define DUMP_ONLY_MOST 64u

struct dump_filter {
    bool any; /* no --only: everything is wanted */
    bool layouts[LAYOUTS];
    uint64_t types[DUMP_ONLY_MOST]; /* by number */
    unsigned nr_types;
    uint64_t offset_from, offset_to, time_from, time_to;
    bool timed;
};

/* What perf knows of all events when it prints a line. */
struct dump_events {
    uint32_t count;        /* of events when this was made */
    uint32_t told;         /* attrs of a stream that were printed; the reader may be ahead of them */
    uint64_t sample_types; /* of all events, or-ed */
    bool stamped;          /* the first event has sample_id_all */
};

struct dump {
    pfr_reader *reader;
    pfr_dump_options options;
    pfr_dump_counts counts;
    uint64_t told; /* stretches, records and sections that could not be used */
    pfr_output *to;
    struct output *out;
    const struct dump_form *form;
    struct dump_filter filter;
    struct trace_clock clock; /* of a trace; whole where the filter asks for times */
    struct dump_key *keys;    /* of every field of every layout */
    size_t nr_keys;
    char *key_text;
    size_t key_text_size;
    const struct layout *layouts[LAYOUTS];
    const struct field *fields[LAYOUTS];
    uint16_t first_key[LAYOUTS];
    uint8_t of_type[DUMP_TYPES]; /* layout number by record type, for traces above PFR_TRACE_TYPES */
    struct pfr_context context;  /* of the record at hand */
    struct dump_events events;   /* for perf's lines */
    struct dump_spot spot;       /* of the value at hand */
    const uint8_t *found;        /* by a form that looks for a field */
    struct function_names functions;
    const struct function_name *function; /* that the integer at hand is the number of; NULL: none */
    pfr_status failed;                    /* of looking for it */
    pfr_error why;
    unsigned depth;              /* of the form */
    bool filled;                 /* of the form: something stands in the current container */
    bool is_script;              /* between lines of the script, which has a use for more records */
    bool unsorted;               /* which has none for rounds, since it does not sort */
    bool quiet;                  /* what is wrong with the record at hand was said */
    union dump_body body, *part; /* the record's struct; one per level of nesting */
};

extern const struct dump_form dump_text_form, dump_json_form;

/* Keys of what stands beside the fields. */
extern const struct dump_key dump_key_fields, dump_key_id, dump_key_ids, dump_key_bytes, dump_key_trailing,
    dump_key_damaged, dump_key_event;

#define DUMP_DEPTH 12u /* layouts inside each other: the tables nest to 6 */

/* dump_record.c: a record, or pseudo record, in the form at hand */
struct dump_shown {
    unsigned layout; /* 0: only bytes */
    const void *body;
    struct cursor in;   /* `start` to `end` are the bytes, `at` is behind the last known field */
    const char *damage; /* not NULL: why the bytes do not fit the layout */
};

#endif
