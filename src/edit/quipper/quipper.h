/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_H
#define PFR_EDIT_QUIPPER_H
/*
 * Converts recordings to PerfDataProto, the protocol buffer of quipper, and back. The rows of wire/quipper.def map each
 * field of each message to a member of a layout. All files here use these rows:
 *
 *  quipper_schema.c         rows by message and number
 *  quipper_message.c        structs of layouts to messages
 *  quipper_struct.c         messages to structs of layouts
 *  quipper_event.c          messages to records
 *  quipper_print.c          messages to protobuf's text
 *  quipper_scan.c           outermost fields of an input, from bytes or text
 *  quipper_write.c          a recording to a PerfDataProto
 *  quipper_facts.c          the recording's attrs, counts and features
 *  quipper_merged_maps.c    the recording's mappings, merged as quipper merges them
 *  quipper_address_space.c  mapped addresses, by quipper's rules
 *  quipper_mapped.c         applies records to these mappings
 *  quipper_read.c           a PerfDataProto to a recording
 *  quipper_features.c       the features of a PerfDataProto
 *
 * Text is produced from the bytes of messages and parsed into such bytes, so only quipper_print.c and quipper_scan.c
 * handle text.
 *
 * Facts that quipper's messages cannot hold are stored in additional fields of our own (QUIPPER_OURS and up), which
 * quipper's readers skip. To lose nothing, each record is reconstructed from its message when it is written. If the
 * bytes differ, the original bytes are stored as well.
 */
#include "base/memory/arena.h"
#include "base/text/proto.h"
#include "file/read/recording.h"
#include "wire/any_layout.h"

#define QUIPPER_OURS 20100u
#define QUIPPER_OUR_RECORD 20100u /* in perf_data and in event: a record with its header */
#define QUIPPER_OUR_ATTR 20100u   /* in file_attr */
#define QUIPPER_OUR_FEATURE 20101u
#define QUIPPER_OUR_ORDER 20102u /* 1: the bytes in fields of our own are big-endian */
#define QUIPPER_DEPTH 6u         /* nesting of messages */

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
    M_TRUE, /* M_TRUE and M_BYTES are not messages: they give the kind of value of an OWN field */
    M_BYTES
};

struct quipper_row {
    uint32_t number;
    uint8_t kind, message; /* message: only for the kinds PART, SAME, TAIL and OWN */
    uint16_t extra;
    const char *name, *from;
};

/* --- quipper_schema.c */

const struct quipper_row *quipper_rows(unsigned message); /* ends with a row without a name */
const struct quipper_row *quipper_row_of(unsigned message, uint32_t number);
const struct quipper_row *quipper_row_named(unsigned message, const char *name, size_t length);
/* The row of `message` whose `from` names the layout, or NULL. */
const struct quipper_row *quipper_row_from(unsigned message, const char *layout);

/* Parses the comma-separated `list` (may be NULL) into bits by field number: `name` selects the field in every message
 * that has it, `field.name` only in the message that `field` contains. USAGE: there is no such field, or it cannot be
 * omitted. */
pfr_status quipper_leave_out(const char *list, uint64_t *without, pfr_error *err);

enum quipper_form { FORM_NUMBER, FORM_TRUTH, FORM_BYTES, FORM_MESSAGE };
enum quipper_form quipper_form_of(const struct quipper_row *row);

/* A name in a list of names separated by `|`. quipper_next_name takes the next name of `from`; false: no more names. */
struct quipper_name {
    const char *at;
    size_t length;
};
bool quipper_next_name(const char **from, struct quipper_name *name);

/* A member of a struct, found by its path. */
struct quipper_member {
    const struct field *field;
    size_t at;                   /* offset, in the outermost struct, of the struct that contains the member */
    bool there, part_there;      /* whether the context has the member; whether it has the struct with the member */
    const struct layout *layout; /* layout that has the field */
};
bool quipper_find(const struct layout *l, const struct pfr_context *c, const void *body,
                  const struct quipper_name *path, struct quipper_member *m);

/* --- quipper_message.c */

/* Source of the fields of a message. */
struct quipper_source {
    const struct layout *layout;
    const struct pfr_context *context;
    const void *body;
    const struct pfr_rec_sample_id *id; /* NULL if the record has no sample_id */
    uint64_t about;                     /* feature number */
    pfr_bytes payload;
    uint32_t size;
    uint16_t misc;
};

struct quipper_parts {
    struct output at[QUIPPER_DEPTH];
    uint64_t without[MESSAGES]; /* omitted fields by message: bits by field number */
};

/* Writes the fields of a message to `to`; nested messages are collected in `parts` from `depth` on. < 0: *err is
 * filled. If memory runs out, only the status of the outputs shows it. */
pfr_status quipper_put(struct quipper_parts *parts, unsigned depth, unsigned message, const struct quipper_source *s,
                       struct output *to, pfr_error *err);

/* --- quipper_struct.c */

/* Context for reading a struct. Views in the struct point into the arena and into the bytes of the message. */
struct quipper_taking {
    struct arena *arena;
    const struct pfr_context *context;
    struct pfr_rec_sample_id *id;
    bool has_id;
    pfr_bytes payload;
};

/* Fills `body`, a struct of layout `l` that is all zero on entry. DAMAGE: *err has the offset. */
pfr_status quipper_take(struct quipper_taking *t, unsigned message, const struct layout *l, struct cursor in,
                        void *body, pfr_error *err);

/* --- quipper_event.c */

/* The event to which a record belongs, found by the id in the record. */
struct quipper_owner {
    const struct pfr_context *context;
    int32_t event;
    bool has_tail;
};

struct quipper_maker {
    struct memory *memory;
    struct arena arena; /* memory for the views of one record */
    uint8_t *record;    /* bytes of one record */
    void (*owner_of)(const void *owners, uint64_t id, struct quipper_owner *owner);
    const void *owners;
    const struct pfr_context *base; /* context of records without an event */
};

pfr_status quipper_maker_open(struct quipper_maker *m, struct memory *memory, pfr_error *err);
void quipper_maker_close(struct quipper_maker *m);
/* Makes the record, with its payload, that an event message describes; both are valid until the next call. HOLE: the
 * message describes no record. rec->offset is the offset of the message. If `ours` is set, the original bytes are used
 * if the message has them. */
pfr_status quipper_make_record(struct quipper_maker *m, struct cursor event, bool ours, pfr_record *rec,
                               pfr_bytes *payload, pfr_error *err);

/* --- quipper_print.c */

/* Prints the fields of a message as text, from its bytes. */
void quipper_print(struct output *out, unsigned message, struct cursor in);

/* --- quipper_scan.c */

struct quipper_scan {
    struct input *in;
    bool is_text, open, ended;
    uint64_t at; /* position of the next byte */
    uint32_t line;
    struct output parts[QUIPPER_DEPTH]; /* nested messages under construction, from text */
};

/* Whether the first `have` bytes may be a PerfDataProto, and whether it is text. */
bool quipper_looks_like(const uint8_t *bytes, size_t have, bool *is_text);
/* Scans s->in, an open input that the caller keeps. FORMAT: not a PerfDataProto. Call quipper_scan_close in every
 * case. */
pfr_status quipper_scan_open(struct quipper_scan *s, struct memory *memory, pfr_error *err);
void quipper_scan_restart(struct quipper_scan *s);
void quipper_scan_close(struct quipper_scan *s);
/* Returns the next outermost field and a cursor on its bytes, valid until the next call. HOLE: *err is filled; call
 * again. END: there are no more fields. */
pfr_status quipper_scan_next(struct quipper_scan *s, struct proto_field *f, struct cursor *content, pfr_error *err);

#endif
