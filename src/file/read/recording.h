/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_H
#define PFR_FILE_RECORDING_H
/*
 * struct pfr_reader and the structs that the files of the reader share. One file per concern:
 *
 *    open.c                recognises the kind of recording; reads header and attrs
 *    recording_folder.c    data and data.N of a directory
 *    repair_header.c       corrects impossible numbers of the header
 *    repair_events.c       restores lost attrs and ids of events
 *    next.c                records in file order; skips payloads that follow records
 *    plausible_record.c    checks one record by its own bytes
 *    resync.c              after damage: finds the next plausible chain of records
 *    header_walk.c         counts records by their headers, without decoding
 *    inflate.c             decompresses COMPRESSED records
 *    events.c              attrs and ids: the event that a record belongs to
 *    event_name.c          builds the name of an event without a recorded one, as perf does
 *    features.c            feature bitmap, section table, payloads
 *    metadata_records.c    records that describe the recording itself (a table of functions by type)
 *    event_names.c         recorded names: EVENT_DESC, event_types, tracepoint formats
 *    tracing_blob.c        parser of the tracepoint formats
 *    slice.c               readers of slices, for several threads
 *    parallel_reader.c     several threads read the file for one walk over its records
 *    xray.h                state of an XRay trace, and the files that read it
 *    record.c              pfr_decode, pfr_get: the content of a record
 *
 * The functions of each file are declared in the header of its name; this header has what several files share.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "base/io/input.h"
#include "wire/fast_sample.h"
#include "wire/layout_length.h"

#include <perfray/reader.h>

#define RECORD_HEADER 8u
#define RECORD_MOST 65535u
#define ATTR_MOST 4096u /* bytes of an attr; the kernel refuses more than a page (perf_copy_attr) */
#define FEATURES 256u
#define FINDINGS_MOST 16u
#define PATIENCE_FIRST (4 * RECORD_MOST)

/* Decompressor of a part. Its zstd context is made at the first COMPRESSED record. */
struct inflater {
    void *stream;    /* ZSTD_DStream */
    uint8_t *buffer; /* decompressed bytes; those from `at` on have not been returned yet */
    size_t at, length, capacity;
    size_t hint;    /* bytes that zstd expects next: up to the end of a block; 0: a new frame begins */
    uint64_t start; /* offset of buffer[0] in the whole output */
    bool broken;    /* the stream cannot continue: later COMPRESSED records are holes until a new frame begins */
};

/* One file of records: the file itself, or `data` and each `data.N` of a directory. */
struct part {
    struct input in;
    struct inflater inflater;
    uint64_t begin, end; /* offsets of the records; end UINT64_MAX: up to the end of the input */
    uint32_t number;     /* 0: `data` or the file itself; else N + 1 */
    bool end_doubtful;   /* no feature table was found: records may continue past `end` */
    bool open;
};

struct event {
    pfr_event public;
    struct pfr_context context;
    uint64_t added_at;           /* stream: read position at which its attr arrived */
    uint32_t tail;               /* bytes of its sample_id */
    struct length_rule length;   /* rule for the length of its samples */
    uint32_t time_at, time_back; /* offset of the time: time_at from the start of a sample, time_back from the end of
                                    other records; 0: not at a fixed place */
    uint32_t ip_at;  /* offset of ip in a sample, from its start; pid and tid follow it; 0: not at a fixed place */
    bool open_ended; /* its samples may have unknown fields after the known ones */
};

/* Facts about the records of one type, computed before any is read. */
struct type_rule {
    uint16_t layout;           /* 0: unknown type */
    uint32_t least;            /* minimum bytes of the body, without a sample_id */
    struct length_rule length; /* rule for the length of the body */
};
#define TYPE_RULES 128u

struct xray_trace;
struct stored_source;
struct sample_waits;

/* Functions for recordings that are not perf.data. open.c sets them, because it knows all kinds. */
struct reader_kind {
    pfr_status (*next)(pfr_reader *r, pfr_record *rec, pfr_error *err);
    void (*rewind)(pfr_reader *r); /* moves to the first record */
    pfr_status (*share)(pfr_reader *r, const pfr_reader *whole,
                        pfr_error *err); /* completes r, which is a copy of `whole` */
    void (*close)(pfr_reader *r);
};

/* Where a pass over the records is. */
struct reader_cursor {
    uint32_t part;                      /* index of the current part */
    uint64_t at;                        /* offset of the next record in the current part */
    uint64_t payload_size;              /* size of the last record's payload, not yet skipped */
    uint64_t payload_from, payload_end; /* range of the last payload skipped */
    uint64_t doubtful;         /* offset of the last record if only its own header confirms its size; else UINT64_MAX */
    pfr_bytes compressed;      /* compressed bytes of a record that was already returned, not yet decompressed */
    uint64_t packed, unpacked; /* bytes in the COMPRESSED records of this pass, before and after decompression */
    uint64_t outer;            /* offset of the current COMPRESSED record */
    bool ended;                /* nothing more of the current part can be read */
    bool part_reported;        /* the caller names the part itself, so error texts leave it out */
    size_t attrs_seen;         /* HEADER_ATTR records of this pass: a second pass over a stream adds no events */
};

/* The ids of one event differ by CPU, so ids alternate even if only one event is sampled. */
struct id_memo {
    uint64_t id;
    uint32_t event;
    bool used;
};
#define ID_MEMOS 16u

/* The events, which grow during a pass over a stream, and data for finding the event of a record. */
struct reader_events {
    struct event *list;
    size_t count, room;
    uint64_t last_added_at; /* the greatest added_at of all events */
    uint64_t attrs_at;      /* offset of a file's attr entries, after repair */
    uint64_t ids_taken;     /* bytes of ids of all events so far; at most the size of the file */
    struct u64_map ids;
    struct id_memo memos[ID_MEMOS]; /* by id % ID_MEMOS: recent finds in `ids`; cleared when it changes */
    uint64_t last_id;
    int32_t last_event;
    struct type_rule rules[TYPE_RULES];
    uint32_t id_at, id_back; /* offset of the id: id_at from the start of a sample, id_back from the end of other
                                records; 0: not at a fixed place */
    bool names_stale;        /* events or tracepoint formats arrived since the last events_name */
    size_t nr_named;         /* events that have their names */
    uint32_t *renamed; /* events whose name changed, in the order of the changes; each consumer keeps its own position
                          in this list */
    size_t nr_renamed, renamed_room;
    bool has_tracepoints, formats_read;
    struct u64_map formats; /* id -> "system:name" in the arena */
};

struct reader_features {
    pfr_feature *list;
    uint32_t count, room;
    struct u64_map index_of; /* bit -> index in the list */
    pfr_error unread;        /* first failure to read a payload or a value needed for a repair; PFR_OK: no failure */
    struct pfr_context old_build_ids; /* context of build id entries without pid */
    struct pfr_context domains;       /* context of CPU_DOMAIN_INFO: schedstat_version */
};

/* Damage, and the search for intact records after it. */
struct reader_damage {
    pfr_error broken; /* status PFR_HOLE: damage ended the decompressed input; reported once, before the end */
    bool broken_reported;
    pfr_error findings[FINDINGS_MOST]; /* faults other than holes in the records: in the header, or found by notice();
                                          each is reported once */
    uint32_t nr_findings, findings_reported, nr_found_at_open;
    uint64_t patience; /* bytes of bodies that the search for records may still decode */
    uint64_t unsure;   /* records of this pass that were returned because no other record was found inside them
                          (PLAUSIBILITY_ODD) */
    pfr_quality quality, found_at_open;
    uint64_t end_at_open; /* end of the first part; a pass may find records that continue past it */
};

struct pfr_reader {
    const struct reader_kind *kind; /* NULL: perf.data */
    struct xray_trace *trace;       /* XRay trace, in the arena; NULL: a perf.data recording */
    struct stored_source *stored; /* data of a store (stored.h), closed with the reader; NULL: the reader has records */
    struct sample_waits *waits;   /* if set, only these samples count: see model/profile/result/sample_waits.h */
    struct memory memory;
    struct arena arena; /* lives as long as the reader: attrs, ids, names, features */
    pfr_limits limits;
    bool keep_aux, spool;
    const pfr_reader
        *whole; /* for a reader of slices (slice.c): the reader whose events and features it uses; else NULL */
    pfr_header header;
    struct pfr_context context; /* for records without an event: byte order and NRCPUS */
    struct part *parts;
    uint32_t nr_parts;
    struct reader_cursor cursor;
    struct reader_events events;
    struct reader_features features;
    struct reader_damage damage;
};

/* The time of a record that pfr_next returned; NO_TIME: it has no time. */
#define NO_TIME UINT64_MAX
static inline uint64_t time_of(const pfr_reader *r, const pfr_record *rec) {
    if (rec->event < 0)
        return NO_TIME;
    const struct event *e = &r->events.list[rec->event];
    if (rec->tail)
        return e->time_back && e->time_back <= rec->tail
                   ? load_u64(rec->bytes + rec->size - e->time_back, r->context.swap)
                   : NO_TIME;
    if (rec->type != PFR_RECORD_SAMPLE || e->time_at == 0 || rec->size < e->time_at + 8u)
        return NO_TIME;
    return load_u64(rec->bytes + e->time_at, r->context.swap);
}

/* Whether pfr_next has work to do before it looks at the read buffer. */
static inline bool reader_has_pending(const pfr_reader *r) {
    const struct inflater *z = &r->parts[r->cursor.part].inflater;
    return r->cursor.compressed.length || r->cursor.payload_size || r->events.names_stale || r->cursor.ended ||
           z->length > z->at || r->damage.findings_reported < r->damage.nr_findings;
}

/* Counts one more hole, also in `kind`, a member of r->quality. */
static inline void count_hole(pfr_reader *r, uint64_t *kind, uint64_t length) {
    r->damage.quality.holes++;
    r->damage.quality.hole_bytes += length;
    ++*kind;
}

/*
 * open.c: pfr_open for inputs that may have another format as well. If is_it recognises the first bytes of the input,
 * reader_open_or sets other->found. The reader then holds only its seekable input (parts[0].in) and the damage that
 * ended it (broken).
 */
struct other_form {
    bool (*is_it)(const uint8_t *bytes, size_t have);
    bool found;
};
pfr_reader *reader_open_or(const char *path, struct other_form *other, const pfr_open_options *options, pfr_error *err);
/* open.c: opens an open descriptor; the reader owns it, also on failure. `name` is used in messages. */
pfr_reader *reader_open_fd(int fd, const char *name, const pfr_open_options *options, pfr_error *err);

/* findings.c: notes a fault that is not a hole in the records. The next pfr_next returns it as PFR_HOLE. */
__attribute__((format(printf, 5, 6))) void found(pfr_reader *r, uint64_t offset, uint64_t length, const char *where,
                                                 const char *text, ...);

/* The context that decides which fields this record has; `layout` is the number of its layout. */
struct pfr_context record_context(const pfr_record *rec, unsigned layout);

#endif
