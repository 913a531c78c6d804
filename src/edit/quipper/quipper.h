/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_H
#define PFR_EDIT_QUIPPER_H
/*
 * Recordings as PerfDataProto, the protocol buffer of quipper, and back. wire/quipper.def says once which field of
 * which message is which member of which layout; everything here walks its rows:
 *
 *     quipper_schema.c     the rows, by message and number
 *     quipper_message.c    structs of layouts to messages
 *     quipper_struct.c     messages to structs of layouts
 *     quipper_event.c      messages to records
 *     quipper_print.c      messages to protobuf's text
 *     quipper_scan.c       the outermost fields of an input, out of bytes or text
 *     quipper_write.c      a recording to a PerfDataProto
 *     quipper_facts.c      what of it is no record
 *     quipper_merged_maps.c      its mappings as quipper tells them
 *     quipper_address_space.c     what is mapped where, by quipper's account
 *     quipper_mapped.c     records against that account
 *     quipper_read.c       a PerfDataProto to a recording
 *     quipper_features.c   its features
 *
 * Text is made of the bytes of a message, and read into them, so that all else knows bytes alone.
 *
 * What quipper's messages cannot say stands beside them in fields of our own (QUIPPER_OURS and up), which its readers
 * pass over. So that nothing is missing there, each record is made of its message again while it is written: where that
 * does not give the same bytes, they are added.
 */
#include "base/memory/arena.h"
#include "base/text/proto.h"
#include "file/read/recording.h"
#include "wire/any_layout.h"

#define QUIPPER_OURS 20100u
#define QUIPPER_OUR_RECORD 20100u /* in perf_data and in event: a record with its header */
#define QUIPPER_OUR_ATTR 20100u   /* in file_attr */
#define QUIPPER_OUR_FEATURE 20101u
#define QUIPPER_OUR_ORDER 20102u /* 1: their bytes are big-endian */
#define QUIPPER_DEPTH 6u         /* messages in messages */

enum quipper_kind {
    Q_NUMBER,
    Q_ABOUT,
    Q_TRUTH,
    Q_ROOMY,
    Q_ROOMY_TRUTH,
    Q_BITS,
    Q_BIT,
    Q_MISC_BIT,
    Q_TEXT,
    Q_TEXTS,
    Q_BYTES,
    Q_HEX,
    Q_NUMBERS,
    Q_MD5,
    Q_MD5S,
    Q_PART,
    Q_SAME,
    Q_TAIL,
    Q_ALWAYS_IS,
    Q_ALIAS,
    Q_BESIDE,
    Q_LACKS,
    Q_ROOT,
    Q_ROOT_MD5,
    Q_PAYLOAD,
    Q_OWN,
    Q_KINDS
};

enum quipper_message {
    M_0,
#define MESSAGE(name) M_##name,
#define P(...)
#define END
#include "wire/quipper.def"
    MESSAGES,
    M_TRUE, /* what a field that is made by hand is in text */
    M_BYTES
};

struct quipper_row {
    uint32_t number;
    uint8_t kind, message; /* of PART, SAME, TAIL, OWN */
    uint16_t extra;
    const char *name, *from;
};

/* --- quipper_schema.c */

const struct quipper_row *quipper_rows(unsigned message); /* a list that ends with a row without name */
const struct quipper_row *quipper_row_of(unsigned message, uint32_t number);
const struct quipper_row *quipper_row_named(unsigned message, const char *name, size_t length);
/* The row of `message` whose `from` names the layout; NULL: none. */
const struct quipper_row *quipper_row_from(unsigned message, const char *layout);

/* `list` (may be NULL), fields with commas between, as bits by their numbers: `name` in each message that has one, or
   `field.name` in the message that is in a field. USAGE: there is none, or it is made by hand. */
pfr_status quipper_leave_out(const char *list, uint64_t *without, pfr_error *err);

enum quipper_form { FORM_NUMBER, FORM_TRUTH, FORM_BYTES, FORM_MESSAGE };
enum quipper_form quipper_form_of(const struct quipper_row *row);

/* The next of the names in `from`, which `|` parts; false: there is none. */
struct quipper_name {
    const char *at;
    size_t length;
};
bool quipper_next_name(const char **from, struct quipper_name *name);

/* A member of a struct, found by its path. */
struct quipper_member {
    const struct field *field;
    size_t at;                   /* of the struct that holds it, in the outermost one */
    bool there, part_there;      /* by the context */
    const struct layout *layout; /* that has the field */
};
bool quipper_find(const struct layout *l, const struct pfr_context *c, const void *body,
                  const struct quipper_name *path, struct quipper_member *m);

/* --- quipper_message.c */

/* What messages are made of. */
struct quipper_source {
    const struct layout *layout;
    const struct pfr_context *context;
    const void *body;
    const struct pfr_rec_sample_id *id; /* NULL: none */
    uint64_t about;                     /* bit of the feature */
    pfr_bytes payload;
    uint32_t size;
    uint16_t misc;
};

struct quipper_parts {
    struct output at[QUIPPER_DEPTH];
    uint64_t without[MESSAGES]; /* fields left out, by message: bits by number */
};

/* The fields of a message, to `to`. Parts are collected in `parts` from `depth` on. < 0: *err; out of memory shows in
   the outputs only. */
pfr_status quipper_put(struct quipper_parts *parts, unsigned depth, unsigned message, const struct quipper_source *s,
                       struct output *to, pfr_error *err);

/* --- quipper_struct.c */

/* What a struct is made with. Views in it live in the arena and in the bytes of the message. */
struct quipper_taking {
    struct arena *arena;
    const struct pfr_context *context;
    struct pfr_rec_sample_id *id;
    bool has_id;
    pfr_bytes payload;
};

/* `body` (all zero) of the layout. DAMAGE: *err, with the offset. */
pfr_status quipper_take(struct quipper_taking *t, unsigned message, const struct layout *l, struct cursor in,
                        void *body, pfr_error *err);

/* --- quipper_event.c */

/* Whose record one is that tells this id. */
struct quipper_owner {
    const struct pfr_context *context;
    int32_t event;
    bool has_tail;
};

struct quipper_maker {
    struct memory *memory;
    struct arena arena; /* of one record */
    uint8_t *record;    /* room for one */
    void (*owner_of)(const void *owners, uint64_t id, struct quipper_owner *owner);
    const void *owners;
    const struct pfr_context *base; /* of records without an event */
};

pfr_status quipper_maker_open(struct quipper_maker *m, struct memory *memory, pfr_error *err);
void quipper_maker_close(struct quipper_maker *m);
/* The record that an event tells, with its payload; both live until the next. HOLE: it tells none. rec->offset is that
   of the message. `ours`: its own bytes count, where they are there. */
pfr_status quipper_make_record(struct quipper_maker *m, struct cursor event, bool ours, pfr_record *rec,
                               pfr_bytes *payload, pfr_error *err);

/* --- quipper_print.c */

/* A field of the outermost message: its bytes, as text. */
void quipper_print(struct output *out, unsigned message, struct cursor in);

/* --- quipper_scan.c */

struct quipper_scan {
    struct input *in;
    bool is_text, open, ended;
    uint64_t at; /* the next byte */
    uint32_t line;
    struct output parts[QUIPPER_DEPTH]; /* messages in the making, out of text */
};

/* Whether bytes may be a PerfDataProto, and if text. */
bool quipper_looks_like(const uint8_t *bytes, size_t have, bool *is_text);
/* On s->in, an open input, which stays the caller's; FORMAT: it is none. Closed in each case by quipper_scan_close. */
pfr_status quipper_scan_open(struct quipper_scan *s, struct memory *memory, pfr_error *err);
void quipper_scan_restart(struct quipper_scan *s);
void quipper_scan_close(struct quipper_scan *s);
/* The next outermost field, and a cursor on its bytes, which live until the next. HOLE: *err, call again; END. */
pfr_status quipper_scan_next(struct quipper_scan *s, struct proto_field *f, struct cursor *content, pfr_error *err);

#endif
