/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_LAYOUT_H
#define PFR_WIRE_LAYOUT_H
/*
 * The table engine: each layout is listed once, in the .def files, and all code that reads, writes, sizes, prints,
 * checks or generates records walks the descriptors declared here.
 *
 * A .def file is a list of
 *
 *    LAYOUT(id, name, doc)
 *    F(kind, name, when, extra, show, doc)        one field a line, in file order
 *    END
 *
 *  id      the id in the file: PERF_RECORD(9), PERF_FEATURE(3), PICK(table, value); NO_ID for parts of others
 *  kind    how the field is stored (the list below)
 *  when    ALWAYS, or presence decided by one word of the context or by an earlier member
 *  extra   the kind's parameter: a count, a size, a layout
 *  show    how the value is printed: HEX, DEC, ... or a set of names from names.def; NONE: reserved, always 0;
 *          IMPLIED: the name of the layout implies the value
 *
 * Kinds, `extra` in brackets:
 *    U8 U16 U32 U64    integers                [SCOPE: the value is the size of this layout, counted from its start]
 *    W8 W32 W64        words made of BITS      [MIRRORED or PLAIN]
 *    BITS              part of the last word   [PACK(first bit, width)]
 *    TEXT              characters              [TO_END, TO_NUL, or a fixed size]
 *    STR32             u32 length, characters
 *    RAW               bytes of fixed size     [size]
 *    BYTES             bytes                   [COUNT(member) or COUNT_WORD(word)]
 *    A64               64-bit numbers          [COUNT(member), BITS_IN(member), POPCOUNT(word), or TO_END]
 *    SUB               one layout in place     [layout]
 *    ARRAY             a layout, repeated      [OF(layout, member), OF_WORD(layout, word), or TO_ZERO(layout): up
 *                      to an all-zero one, which is not counted; the layout must have a fixed size]
 *    WHILE             a layout, repeated while bytes remain   [layout]
 *    CHOICE            the layout that a member selects, to the end   [FROM(table, member)]
 *    REST              all remaining bytes
 *    PAD               zero bytes up to a multiple of [size] from the start of the layout
 */
#include "base/memory/cursor.h"
#include "base/memory/fail.h"

#include <perfray/views.h>

enum field_kind {
    K_U8,
    K_U16,
    K_U32,
    K_U64,
    K_W8,
    K_W32,
    K_W64,
    K_BITS,
    K_TEXT,
    K_STR32,
    K_RAW,
    K_BYTES,
    K_A64,
    K_SUB,
    K_ARRAY,
    K_WHILE,
    K_CHOICE,
    K_REST,
    K_PAD,
    K_KINDS
};

/* The words that decide presence and counts. A context belongs to an event (its attr) and a file (its byte order). */
enum context_word {
    WORD_SAMPLE,    /* attr.sample_type */
    WORD_READ,      /* attr.read_format */
    WORD_BRANCH,    /* attr.branch_sample_type */
    WORD_REGS_USER, /* attr.sample_regs_user */
    WORD_REGS_INTR, /* attr.sample_regs_intr */
    WORD_MISC,      /* header.misc of the record */
    WORD_CPUS,      /* CPUs available, from feature NRCPUS */
    WORD_VARIANT,   /* set by a probe if the content decides (variant.h) */
    WORD_VERSION,   /* version of the format, if it has one */
    WORDS
};

struct pfr_context {
    uint64_t word[WORDS];
    bool swap;                      /* the input's byte order differs from this machine's */
    uint64_t string_most;           /* bytes of a text with a stored length (limit string); 0: no limit */
    bool mirrored;                  /* bit-fields are allocated from the most significant end: a big-endian writer */
    bool trace;                     /* record types are those of XRay traces, which have no header before them */
    const struct pfr_context *home; /* if this context exists only during one call: the context that views keep; else
                                       NULL */
};

enum presence_test {
    TEST_ALWAYS,
    TEST_BITS,
    TEST_ROOM,
    TEST_ROOM_WORD,
    TEST_AT_LEAST,
    TEST_BELOW,
    TEST_WORD_AT_LEAST,
    TEST_WORD_IN
};

struct presence {
    uint8_t test, word;
    uint64_t set, clear; /* BITS: bits that must be set, bits that must be clear; ROOM: `set` bytes must remain, in
                            ROOM_WORD times the word; AT_LEAST, BELOW: the member at offset `clear` is compared with
                            `set`; WORD_IN: the word must be from `set` to `clear` */
};

struct field {
    const char *name, *doc;
    uint16_t at;    /* offset of the member in the struct */
    uint16_t extra; /* parameter of the kind: see above */
    uint16_t of;    /* layout or table of SUB, ARRAY, WHILE, CHOICE */
    uint8_t kind, show;
    struct presence when;
};

struct layout {
    uint32_t id; /* table << 24 | value */
    const char *name, *doc;
    const struct field *(*fields)(void); /* a list that ends with an unnamed field */
    size_t size;                         /* size of the struct */
};

enum layout_table {
    TABLE_PART,
    TABLE_PERF_RECORD,
    TABLE_PERF_FEATURE,
    TABLE_EVENT_UPDATE,
    TABLE_CPU_MAP,
    TABLE_CPU_MASK,
    TABLE_SCHEDSTAT,
    TABLE_TRACE_RECORD,
    TABLES
};

/* L_name: the number of a layout; 0: no layout. */
enum layout_number {
    L_NONE,
#define LAYOUT(id, name, doc) L_##name,
#define F(...)
#define END
#include "wire/layouts.def"
    LAYOUTS
};

/* How a value is shown; the sets of names follow (names.h). */
enum show_kind {
    SHOW_DEC,
    SHOW_SDEC,
    SHOW_HEX,
    SHOW_NS,
    SHOW_TEXT,
    SHOW_BYTES,
    SHOW_PART,
    SHOW_DOUBLE,
    SHOW_NONE,
    SHOW_IMPLIED,
    SHOW_FUNCTION, /* number of a traced function */
    SHOW_SETS,
    SHOW_BEFORE_SETS = SHOW_SETS - 1,
#define SET(set, mode, doc) SHOW_##set,
#define NAME(...)
#define END_SET
#include "wire/names.def"
    SHOW_KINDS
};

/* `extra` of A64, BYTES and ARRAY: below COUNT_FROM_WORD it is the offset of a member, else it names a context word. */
#define COUNT_FROM_WORD 0x8000u
#define COUNT_IN_BITS 0x4000u /* count: the set bits of a word, or the 64-bit words for a member's number of bits */
#define COUNT_TO_END 0xffffu
#define COUNT_TO_ZERO 0xfffdu /* ARRAY: up to an all-zero part */
#define EXTRA_SCOPE 1u
#define EXTRA_MIRRORED 1u
#define EXTRA_TO_NUL 0xfffeu

#define LAYOUT_ID(table, value) ((uint32_t)(table) << 24 | (uint32_t)(value))
#define LAYOUT_VALUE(id) ((id)&0xffffffu)

/* The layout with a number; NULL for 0 and unknown numbers. */
const struct layout *layout_at(uint64_t number);
/* The number of the layout with this id; 0 if the table has no such layout. */
unsigned layout_find(enum layout_table table, uint64_t value);
/* The number of the layout of records of this type in files of this context, 0 if the type is unknown. */
unsigned layout_of_type(const struct pfr_context *c, uint32_t type);
/* Bytes of the record header (type, size) before the body; XRay records have no header. */
static inline unsigned layout_head(const struct pfr_context *c) {
    return c->trace ? 0 : 8;
}
/* The number of the layout with this name, 0 if there is no such layout. */
unsigned layout_named(const char *name);
/* The descriptor of a field, NULL if the layout has no field of this name. */
const struct field *field_named(const struct layout *l, const char *name);

/*
 * Reads one layout from `in`, whose end limits the layout, into the struct `rec` (l->size bytes). Absent members are 0.
 * On failure: PFR_ERR_DAMAGE, *err names the field and the byte, `in` is undefined.
 */
pfr_status layout_read(const struct layout *l, const struct pfr_context *c, struct cursor *in, void *rec,
                       pfr_error *err);

/* Whether a field is present, given the bytes left in the layout's scope and the members read so far. */
bool field_present(const struct field *f, const struct pfr_context *c, const void *rec, uint64_t left);

/* Whether the context alone decides presence: field_present then needs no struct. */
bool field_by_context(const struct field *f);

/* field_width returns the width in bytes of a single integer field, 0 for other kinds. field_is_word returns whether a
   field is a word made of BITS. */
unsigned field_width(const struct field *f);
static inline bool field_is_word(const struct field *f) {
    return f->kind == K_W8 || f->kind == K_W32 || f->kind == K_W64;
}

/* The bytes of a field whose size depends on neither content nor room; false for other fields. */
bool field_fixed_size(const struct field *f, const struct pfr_context *c, uint64_t *size);

/* The bytes of a layout whose size does not depend on its content; 0 for other layouts. */
uint64_t layout_fixed_size(const struct layout *l, const struct pfr_context *c);
/* The minimum bytes of a layout under this context. */
uint64_t layout_least_size(const struct layout *l, const struct pfr_context *c);

/* Iterates over an items view. items_next returns PFR_OK and fills `rec` with the next part, or PFR_END, or < 0. */
struct items_walk {
    struct cursor in;
    uint64_t left;
};
struct items_walk items_start(const pfr_items *items);
pfr_status items_next(const pfr_items *items, struct items_walk *walk, void *rec, pfr_error *err);

/* field_integer loads an integer member of any width; field_set_integer stores it. */
uint64_t field_integer(const struct field *f, const void *rec);
void field_set_integer(const struct field *f, void *rec, uint64_t v);

/* The count of a BYTES, A64 or ARRAY field, as its `extra` determines it; not for COUNT_TO_END. */
uint64_t field_count(const struct field *f, const struct pfr_context *c, const void *rec);

/* bits_of extracts the bits of a word that `pack` (PACK) describes; bits_into returns the word with these bits set to
   `v`. `width` is the width of the word. */
uint64_t bits_of(uint64_t word, unsigned width, unsigned pack, bool mirrored);
uint64_t bits_into(uint64_t word, unsigned width, unsigned pack, bool mirrored, uint64_t v);

#endif
