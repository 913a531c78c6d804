/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_RECORD_H
#define PERFRAY_RECORD_H
/*
 * One record, and what is in it.
 *
 * A pfr_record is a small struct of the caller; the reader refills it. Its bytes, and every view made from it, belong
 * to the reader and die at the next call on that reader.
 *
 * Two ways to look inside:
 *     pfr_decode     the whole body into its struct pfr_rec_<name> (record_structs.h): fast, typed
 *     pfr_get        one field by its name: for tools that do not know the type beforehand
 *
 * Example:
 *
 *     struct pfr_rec_sample s;
 *     if (rec.type == PFR_RECORD_SAMPLE && pfr_decode(&rec, &s, sizeof s, &err) == PFR_OK)
 *         printf("%u %#" PRIx64 "\n", s.pid, s.ip);
 */
#include <perfray/error.h>
#include <perfray/constants.h>
#include <perfray/record_structs.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* pfr_record.event of a record that no event owns, or of which that is not known */
#define PFR_NO_EVENT (-1)

typedef struct pfr_record {
    uint64_t offset;      /* of the record in its file; for decompressed records that of the record it came out of */
    uint64_t inner;       /* decompressed records: place in the output of the file's zstd stream; else 0 */
    uint32_t part;        /* 0: the file or `data`; N + 1: `data.N` of a directory */
    uint32_t type;        /* as in the record header; of a trace a pfr_trace_type (trace.h) */
    uint32_t size;        /* of the record with its header */
    uint16_t misc;        /* as in the record header; 0 in a trace */
    uint16_t tail;        /* bytes of sample_id at the end of the record */
    bool inside;          /* came out of a COMPRESSED record */
    int32_t event;        /* index of the event it belongs to, PFR_NO_EVENT when that is not known */
    uint64_t payload;     /* bytes that follow the record without being part of it (AUXTRACE, HEADER_TRACING_DATA) */
    const uint8_t *bytes; /* size bytes, the header of 8 first (traces have none), in the file's byte order */
    const struct pfr_context *context; /* what decides its fields; for the calls below */
} pfr_record;

/* "sample", "mmap2", ...: the name of its layout, NULL when the type is not known. */
const char *pfr_record_name(const pfr_record *rec);

/* "sample" for a number as found in pfr_items.of; NULL for 0. Static storage. */
const char *pfr_layout_name(uint64_t layout);

/*
 * Fills the struct pfr_rec_<name> of the record's type. PFR_ERR_USAGE: type not known, or `size` is not that struct's;
 * PFR_ERR_DAMAGE: the bytes do not fit the layout, error.where names the field.
 */
pfr_status pfr_decode(const pfr_record *rec, void *body, size_t size, pfr_error *err);

/* The sample_id at the end of the record; PFR_END when the record has none (a SAMPLE, a user record). */
pfr_status pfr_decode_id(const pfr_record *rec, struct pfr_rec_sample_id *id, pfr_error *err);

/*
 * Steps through parts (branch entries, namespaces, ...). `part` must be the struct pfr_rec_<name> that items->of names.
 *
 *     pfr_items_iter it = pfr_items_begin(&stack.entries);
 *     struct pfr_rec_branch_entry e;
 *     while (pfr_items_next(&it, &e, sizeof e, &err) == PFR_OK)
 *         use(&e);
 */
typedef struct pfr_items_iter {
    pfr_items items;
    uint64_t taken; /* bytes */
    uint64_t left;  /* parts */
} pfr_items_iter;

pfr_items_iter pfr_items_begin(const pfr_items *items);
pfr_status pfr_items_next(pfr_items_iter *it, void *part, size_t size, pfr_error *err);

typedef enum pfr_value_kind {
    PFR_VALUE_ABSENT, /* the layout has the field, this record does not */
    PFR_VALUE_UNSIGNED,
    PFR_VALUE_SIGNED,
    PFR_VALUE_DOUBLE,
    PFR_VALUE_TEXT,
    PFR_VALUE_BYTES,
    PFR_VALUE_U64S,
    PFR_VALUE_ITEMS,
    PFR_VALUE_PART /* a layout in place; pfr_get gives its fields, never itself */
} pfr_value_kind;

typedef struct pfr_value {
    pfr_value_kind kind;
    const char *name; /* of the field, static */
    uint64_t layout;  /* PART: number of its layout */
    union {
        uint64_t u;
        int64_t i;
        double d;
        pfr_text text;
        pfr_bytes bytes;
        pfr_u64s u64s;
        pfr_items items;
        const void *part; /* inside the caller's struct */
    } as;
} pfr_value;

/*
 * One field by name; a path with dots reaches into parts: "ip", "regs_user.abi", "id.time" (the sample_id).
 * PFR_OK, also for an absent field; PFR_ERR_USAGE: no such field; PFR_ERR_DAMAGE as pfr_decode. Views in the value live
 * as long as the record's bytes.
 */
pfr_status pfr_get(const pfr_record *rec, const char *field, pfr_value *value, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
