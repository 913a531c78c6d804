/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_RECORD_H
#define PERFRAY_RECORD_H
/*
 * One record of a recording, and access to its fields.
 *
 * pfr_next() (reader.h) fills a pfr_record of the caller. There are two ways to read its fields:
 *
 *     pfr_decode()   decodes the complete record into its struct pfr_rec_<name>. Fast and typed; for programs that know
 *                    which record types they want. The structs are in record_structs.h.
 *     pfr_get()      returns one field by its name. Slower, since it decodes the record for each call; for generic
 *                    tools.
 *
 * Both return integers in the byte order of this machine, whatever the byte order of the file. Fields that a record
 * does not have are 0.
 *
 * Layouts of the records: linux/perf_event.h, perf's tools/perf/Documentation/perf.data-file-format.txt, and LLVM's
 * compiler-rt for XRay. docs/perf-data-format.md and docs/xray-format.md list every field.
 *
 * Lifetime: the bytes of a record, and all views made from it, belong to the reader and are valid until the next call
 * on that reader that reads. To keep a record, copy the fields that are needed.
 *
 * Threads: a record may be used only by the thread that uses its reader.
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

/* pfr_record.event of a record that belongs to no event, or whose event is not known. */
#define PFR_NO_EVENT (-1)

/* The caller provides the struct, pfr_next() fills it. It needs no initialisation and no release. */
typedef struct pfr_record {
    /* Offset of the record in its file (in the decompressed bytes of a compressed file). A record from inside a
       COMPRESSED record has the offset of that COMPRESSED record. */
    uint64_t offset;
    /* Offset in the decompressed output of all COMPRESSED records of the file, if `inside`; else 0. */
    uint64_t inner;
    /* The file of a directory recording: 0 is `data`, N + 1 is `data.N`. 0 for single files and streams. */
    uint32_t part;
    /* Record type: PFR_RECORD_* (constants.h) for perf.data, pfr_trace_type (trace.h) for XRay. May be a number that
       this library does not know. */
    uint32_t type;
    /* Bytes of the record including its header, not including `payload`. */
    uint32_t size;
    /* `misc` of the record header: the CPU mode and flags whose meaning depends on the type. 0 for XRay. */
    uint16_t misc;
    /* Bytes of the sample_id trailer at the end of the record; 0 without one. See pfr_decode_id(). */
    uint16_t tail;
    /* The record was inside a COMPRESSED record. */
    bool inside;
    /* Index for pfr_get_event() of the event that the record belongs to, or PFR_NO_EVENT. */
    int32_t event;
    /* Bytes that follow the record in the file without being part of it: AUX area data of AUXTRACE, tracepoint formats
       of HEADER_TRACING_DATA. Read them with pfr_payload(). */
    uint64_t payload;
    /*
     * The record as it is in the file, `size` bytes in the byte order of the file. perf.data records begin with their
     * header of 8 bytes. NULL after PFR_HOLE, if the hole is not one complete record.
     */
    const uint8_t *bytes;
    /* Byte order and event attributes that decide which fields the record has; used by the functions below. */
    const struct pfr_context *context;
} pfr_record;

/*
 * pfr_record_name - the name of the record's layout: "sample", "mmap2", "fdr_function", ...
 *
 * The struct of the layout is pfr_rec_<name>. Returns NULL if the record type is not known. A static string.
 */
const char *pfr_record_name(const pfr_record *rec);

/*
 * pfr_layout_name - the name of a layout by its number in pfr_items.of or pfr_value.layout.
 *
 * Returns NULL for 0 and for unknown numbers. The numbers are valid in one version of the library only; do not store
 * them. A static string.
 */
const char *pfr_layout_name(uint64_t layout);

/*
 * pfr_decode - decode a complete record into its struct pfr_rec_<name>.
 *
 * `body` points to the struct of the record's type and `size` is its sizeof. Integers are copied; strings and arrays
 * become views into the record. Absent fields are set to 0.
 *
 * Returns PFR_OK, or:
 * - PFR_ERR_USAGE if the type is not known, or `size` is not the size of its struct
 * - PFR_ERR_DAMAGE if the bytes do not fit the layout (err->where names the field), or the id of a sample belongs to
 *   no event, so that its fields are not known
 * - PFR_ERR_LIMIT if a string is longer than pfr_limits.string
 *
 * After an error the content of the struct is undefined. The reader remains usable.
 */
pfr_status pfr_decode(const pfr_record *rec, void *body, size_t size, pfr_error *err);

/*
 * pfr_decode_id - decode the sample_id trailer of a record that is not a sample: pid, tid, time, event id, CPU.
 *
 * Kernel records have the trailer if their event has attr.flags.sample_id_all. Which of its fields are present depends
 * on attr.sample_type. A SAMPLE has the same data in its own fields.
 *
 * Returns PFR_OK; PFR_END if the record has no trailer, and then *id is unchanged; PFR_ERR_DAMAGE if the trailer does
 * not fit into the record.
 */
pfr_status pfr_decode_id(const pfr_record *rec, struct pfr_rec_sample_id *id, pfr_error *err);

/* Iterator over a pfr_items. Initialise it with pfr_items_begin(); its members are private. It needs no release. */
typedef struct pfr_items_iter {
    pfr_items items;
    /* Bytes already decoded. */
    uint64_t taken;
    /* Elements not yet decoded. */
    uint64_t left;
} pfr_items_iter;

/*
 * pfr_items_begin - start an iteration over the elements of an array: branch entries, namespaces, ...
 *
 *     pfr_items_iter it = pfr_items_begin(&sample.branch.entries);
 *     struct pfr_rec_branch_entry e;
 *     while (pfr_items_next(&it, &e, sizeof e, &err) == PFR_OK)
 *         use(&e);
 */
pfr_items_iter pfr_items_begin(const pfr_items *items);

/*
 * pfr_items_next - decode the next element into `part`, the struct pfr_rec_<name> that pfr_layout_name(items->of)
 * names.
 *
 * Returns PFR_OK, or:
 * - PFR_END after the last element
 * - PFR_ERR_USAGE if the layout is not known or `size` is not the size of its struct
 * - PFR_ERR_DAMAGE if the element does not fit the remaining bytes
 */
pfr_status pfr_items_next(pfr_items_iter *it, void *part, size_t size, pfr_error *err);

/* Which member of pfr_value.as has the value. */
typedef enum pfr_value_kind {
    /* The record type has the field, but this record does not contain it. No member is set. */
    PFR_VALUE_ABSENT,
    /* as.u: integers and bit fields */
    PFR_VALUE_UNSIGNED,
    /* as.i: integers that can be negative, such as process ids and CPU numbers, which can be -1 */
    PFR_VALUE_SIGNED,
    /* as.d */
    PFR_VALUE_DOUBLE,
    /* as.text */
    PFR_VALUE_TEXT,
    /* as.bytes */
    PFR_VALUE_BYTES,
    /* as.u64s */
    PFR_VALUE_U64S,
    /* as.items: an array of structures */
    PFR_VALUE_ITEMS,
    /* A structure in place. pfr_get() never returns it: ask for one of its fields, as in "regs_user.abi". */
    PFR_VALUE_PART
} pfr_value_kind;

/* The value of one field. Views in it have the lifetime of the record's bytes. */
typedef struct pfr_value {
    pfr_value_kind kind;
    /* Name of the field. A static string. */
    const char *name;
    /* Number of the layout, if kind is PFR_VALUE_PART. */
    uint64_t layout;
    union {
        uint64_t u;
        int64_t i;
        double d;
        pfr_text text;
        pfr_bytes bytes;
        pfr_u64s u64s;
        pfr_items items;
        const void *part;
    } as;
} pfr_value;

/*
 * pfr_get - one field of a record by its name.
 *
 * Names are those of the members of struct pfr_rec_<name>. A dot reaches into structures in place: "ip",
 * "regs_user.abi". The prefix "id." reaches into the sample_id trailer: "id.time".
 *
 *     pfr_value value;
 *     if (pfr_get(&rec, "time", &value, &err) == PFR_OK && value.kind == PFR_VALUE_UNSIGNED)
 *         printf("%" PRIu64 "\n", value.as.u);
 *
 * Returns PFR_OK, also if the field is absent (kind is PFR_VALUE_ABSENT), or:
 * - PFR_ERR_USAGE if the record type is not known, it has no such field, or the field is a structure
 * - PFR_ERR_DAMAGE and PFR_ERR_LIMIT as pfr_decode()
 */
pfr_status pfr_get(const pfr_record *rec, const char *field, pfr_value *value, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
