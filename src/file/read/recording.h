/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_H
#define PFR_FILE_RECORDING_H
/*
 * What a pfr_reader is made of. One file per concern:
 *
 *     open.c            what kind of recording is this; header, attrs; recording_folder.c: data.N
 *     repair_header.c            numbers of the header that cannot be right
 *     next.c            records in file order, payloads behind records
 *     plausible_record.c         whether bytes are a record, by themselves
 *     resync.c          what to do where they are none: the next place that believable records start from
 *     header_walk.c            the same for those who only count
 *     inflate.c         COMPRESSED records to the records inside
 *     events.c          attrs, ids, names: who owns a record
 *     event_name.c      the name perf gives an event that has none
 *     features.c        the bitmap, the table of sections, payloads
 *     metadata_records.c          records that say something about the recording itself (a table of functions by type)
 *     event_names.c     names that were recorded: EVENT_DESC, event_types, tracepoint formats
 *     tracing_blob.c    the tracepoint formats
 *     slice.c           readers of slices, for several threads
 *     parallel_reader.c           several threads read for one walk over records
 *     xray.h            what more there is of a trace, and the files that read one
 *     record.c          pfr_decode, pfr_get: what is in a record
 *
 * The functions of each file are declared in the header of its name; what several share is here.
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "base/io/input.h"
#include "wire/fast_sample.h"
#include "wire/layout_length.h"

#include <perfray/reader.h>

#define RECORD_HEADER 8u
#define RECORD_MOST 65535u
#define ATTR_MOST 4096u /* bytes of an attr; the kernel takes none above a page (perf_copy_attr) */
#define FEATURES 256u
#define FINDINGS_MOST 16u
#define PATIENCE_FIRST (4 * RECORD_MOST)

/* zstd contexts are made when the first COMPRESSED record comes. */
struct inflater {
    void *stream;    /* ZSTD_DStream */
    uint8_t *buffer; /* decompressed, not yet handed out from `at` on */
    size_t at, length, capacity;
    size_t hint;    /* bytes that zstd wants next: up to the end of a block; 0: a frame begins */
    uint64_t start; /* place of buffer[0] in the whole output */
    bool broken;    /* the stream cannot go on: later COMPRESSED records are holes until a new frame begins */
};

/* One file of records: the file itself, or `data` and each `data.N` of a directory. */
struct part {
    struct input in;
    struct inflater inflater;
    uint64_t begin, end; /* of the records; end UINT64_MAX: when the input ends */
    uint32_t number;     /* 0 or N + 1 */
    bool end_doubtful;   /* nothing stands behind `end` that should */
    bool open;
};

struct event {
    pfr_event public;
    struct pfr_context context;
    uint64_t told_at;          /* in a stream: where reading was when its attr came */
    uint32_t tail;             /* bytes of its sample_id */
    struct length_rule length; /* of its samples */
    uint32_t time_at,
        time_back;   /* where the time stands: in a sample from its start, in others from their end; 0: nowhere */
    uint32_t ip_at;  /* where ip stands in a sample, from its start; pid and tid are behind it; 0: nowhere */
    bool open_ended; /* its samples may have fields that no table knows, behind the known ones */
};

/* What is known of the records of one type before one was seen. */
struct type_rule {
    uint16_t layout;           /* 0: unknown type */
    uint32_t least;            /* bytes of the body, without a sample_id */
    struct length_rule length; /* of the body */
};
#define TYPE_RULES 128u

struct trace;
struct stored_source;
struct sample_waits;

/* Functions of recordings that are not perf.data; open.c, which knows all kinds, sets them. */
struct reader_kind {
    pfr_status (*next)(pfr_reader *r, pfr_record *rec, pfr_error *err);
    void (*rewind)(pfr_reader *r);                                               /* to the first record */
    pfr_status (*share)(pfr_reader *r, const pfr_reader *whole, pfr_error *err); /* r: a copy of `whole` */
    void (*close)(pfr_reader *r);
};

struct pfr_reader {
    const struct reader_kind *kind; /* NULL: perf.data */
    struct trace *trace;            /* NULL: a perf.data recording; in the arena */
    struct stored_source *stored;   /* NULL: it has records (stored.h); closed with the reader */
    struct sample_waits *waits;     /* NULL: its samples count; see model/profile/result/sample_waits.h */
    struct memory memory;
    struct arena arena; /* lives as long as the reader: attrs, ids, names, features */
    pfr_limits limits;
    bool keep_aux, spool;
    const pfr_reader *whole; /* of a reader of slices (slice.c): whose events and features it uses; NULL */
    pfr_header header;
    struct pfr_context context; /* of records without an event: byte order and NRCPUS */

    struct part *parts;
    uint32_t nr_parts, part;            /* current */
    uint64_t at;                        /* next record in the current part */
    uint64_t payload_size;              /* of the last record, not yet stepped over */
    uint64_t payload_from, payload_end; /* of the last one that was stepped over */
    uint64_t doubtful;                  /* the last record, where its size is only what it says; else UINT64_MAX */
    pfr_bytes compressed;               /* given as a record, not yet decompressed */
    uint64_t packed, unpacked;          /* bytes of COMPRESSED records of this pass, and what they became */
    uint64_t outer;                     /* offset of the COMPRESSED record at hand */
    bool ended;                         /* the current part has nothing more that can be read */
    bool part_told;                     /* who reads tells the part: texts of errors leave it out */

    struct event *events;
    size_t nr_events, events_room;
    uint64_t last_told_at; /* the greatest told_at of the events */
    uint64_t attrs_at;     /* of a file: offset of its attr entries, as mended */
    uint64_t ids_taken;    /* bytes of ids of all events so far; at most the size of the file */
    struct u64_map ids;
    uint64_t last_id;
    int32_t last_event;
    struct type_rule rules[TYPE_RULES];
    uint32_t id_at,
        id_back; /* where the id stands: in a sample from its start, in other records from their end; 0: nowhere */

    pfr_feature *features;
    uint32_t nr_features, features_room;
    struct u64_map feature_of; /* bit -> index in features */
    pfr_error unread;          /* of the first payload, or word to mend by, that could not be read; PFR_OK: none */
    struct pfr_context old_build_ids; /* entries without pid */
    struct pfr_context domains;       /* schedstat_version of CPU_DOMAIN_INFO */
    bool names_stale;                 /* events or tracepoint formats came that events_name has not seen */
    size_t nr_named;                  /* events that have their names */
    uint32_t
        *renamed; /* events whose names changed after they had one, as that came: who shows names keeps its place */
    size_t nr_renamed, renamed_room;
    bool has_tracepoints, formats_read;
    struct u64_map formats; /* id -> "system:name" in the arena */
    pfr_error broken;       /* status PFR_HOLE: what was unpacked ended by damage; told once before the end */
    bool broken_told;
    pfr_error findings[FINDINGS_MOST]; /* what is no hole in the records: of the header, or said by notice(); each is
                                          given once */
    uint32_t nr_findings, findings_told, nr_found_at_open;

    uint64_t patience; /* bytes of bodies that the search for records may still look through */
    uint64_t unsure; /* records of this pass that were given because nothing was found inside them (PLAUSIBILITY_ODD) */
    size_t attrs_seen; /* HEADER_ATTR records of this pass: a second pass over a stream brings no new events */
    pfr_quality quality, found_at_open;
    uint64_t end_at_open; /* of the first part: a pass may find that records go on behind it */
};

/* The time of a record that pfr_next gave; NO_TIME: it has none. */
#define NO_TIME UINT64_MAX
static inline uint64_t time_of(const pfr_reader *r, const pfr_record *rec) {
    if (rec->event < 0)
        return NO_TIME;
    const struct event *e = &r->events[rec->event];
    if (rec->tail)
        return e->time_back && e->time_back <= rec->tail
                   ? load_u64(rec->bytes + rec->size - e->time_back, r->context.swap)
                   : NO_TIME;
    if (rec->type != PFR_RECORD_SAMPLE || e->time_at == 0 || rec->size < e->time_at + 8u)
        return NO_TIME;
    return load_u64(rec->bytes + e->time_at, r->context.swap);
}

/* Whether pfr_next has something to do before it looks at the window. */
static inline bool reader_has_pending(const pfr_reader *r) {
    const struct inflater *z = &r->parts[r->part].inflater;
    return r->compressed.length || r->payload_size || r->names_stale || r->ended || z->length > z->at ||
           r->findings_told < r->nr_findings;
}

/* One more hole of a kind, which is a member of r->quality. */
static inline void count_hole(pfr_reader *r, uint64_t *kind, uint64_t length) {
    r->quality.holes++;
    r->quality.hole_bytes += length;
    ++*kind;
}

/* open.c: pfr_open of what may have another form, too. Where a file or a stream begins as that does, *found: the reader
   holds its input alone, seekable (parts[0].in), and what it broke off with (broken). */
struct other_form {
    bool (*is_it)(const uint8_t *bytes, size_t have);
    bool found;
};
pfr_reader *reader_open_or(const char *path, struct other_form *other, const pfr_open_options *options, pfr_error *err);
/* open.c: on an open descriptor, which is the reader's, also on failure. `name` is for messages. */
pfr_reader *reader_open_fd(int fd, const char *name, const pfr_open_options *options, pfr_error *err);

/* findings.c: something wrong that is no hole in the records. The next pfr_next gives it as one. */
__attribute__((format(printf, 5, 6))) void found(pfr_reader *r, uint64_t offset, uint64_t length, const char *where,
                                                 const char *text, ...);

/* What decides the fields of this very record, whose layout has this number. */
struct pfr_context record_context(const pfr_record *rec, unsigned layout);

#endif
