/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_H
#define PFR_FILE_RECORDING_H
/*
 * What a pfr_reader is made of. One file per concern:
 *
 *     open.c            what kind of recording is this; header, attrs, parts
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
    uint64_t attrs_at;  /* of a file: offset of its attr entries, as mended */
    uint64_t ids_taken; /* bytes of ids of all events so far; at most the size of the file */
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

/* findings.c: offsets in a file of a folder need its name: " (in data.3)" behind the text. 0: `data`, which needs none.
 */
void error_in_part(pfr_error *err, uint32_t part);

/* events.c */
pfr_status events_add(pfr_reader *r, const uint8_t *attr, size_t room, const pfr_u64s *ids, pfr_error *err);
pfr_status events_name(pfr_reader *r, pfr_error *err);
/* An event that had a name has another now. */
pfr_status events_note_name(pfr_reader *r, size_t index, pfr_error *err);
int32_t events_owner(pfr_reader *r, uint32_t type, const uint8_t *record, uint32_t size, uint16_t *tail);
uint64_t *copy_ids(pfr_reader *r, const pfr_u64s *ids, pfr_error *err);

/* event_name.c: the name, in the arena; NULL: out of memory */
const char *event_name_make(pfr_reader *r, const struct pfr_rec_attr *attr);

/* open.c: pfr_open of what may have another form, too. Where a file or a stream begins as that does, *found: the reader
   holds its input alone, seekable (parts[0].in), and what it broke off with (broken). */
struct other_form {
    bool (*is_it)(const uint8_t *bytes, size_t have);
    bool found;
};
pfr_reader *reader_open_or(const char *path, struct other_form *other, const pfr_open_options *options, pfr_error *err);
/* open.c: on an open descriptor, which is the reader's, also on failure. `name` is for messages. */
pfr_reader *reader_open_fd(int fd, const char *name, const pfr_open_options *options, pfr_error *err);

/* features.c */
pfr_status features_open(pfr_reader *r, pfr_error *err);
pfr_status features_add(pfr_reader *r, uint32_t bit, uint64_t offset, const uint8_t *bytes, size_t length,
                        pfr_error *err);

/* What decides the fields of a feature whose payload is there. */
struct pfr_context feature_context(const pfr_reader *r, const pfr_feature *f);

/* Who asks for a feature and goes on without it asks this at the end: < 0 when the feature was there but could not be
   read (memory, input). */
pfr_status features_unread(const pfr_reader *r, pfr_error *err);

/* The bitmap, also as big-endian writers get it wrong. */
void features_bitmap(pfr_reader *r, const uint8_t *bytes);

/* repair_header.c: what cannot be right in the header, made right where the rest of the file tells how; each change is
 * a finding. */
/* Whether what follows the header is in the other byte order than its magic says; *swap_header: of its numbers. */
bool mend_order(pfr_reader *r, const uint8_t *header, bool *swap_header);
pfr_status mend_header(pfr_reader *r, struct pfr_rec_file_header *h, pfr_error *err);
void mend_ids(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t entry, uint64_t *ids, uint64_t *length);
void mend_data_offset(pfr_reader *r, struct pfr_rec_file_header *h); /* once the events are known */
void mend_data_size(pfr_reader *r, struct pfr_rec_file_header *h);
pfr_status mend_events(pfr_reader *r, pfr_error *err); /* repair_events.c: once the features are known */
/* findings.c: something wrong that is no hole in the records. The next pfr_next gives it as one. */
__attribute__((format(printf, 5, 6))) void found(pfr_reader *r, uint64_t offset, uint64_t length, const char *where,
                                                 const char *text, ...);

/* inflate.c */
void inflater_close(struct inflater *z, struct memory *memory);
void inflater_rewind(struct inflater *z);
/* Decompresses one record's bytes behind what is left over. HOLE: broken, *err says where. (zlib owns the short name.)
 */
pfr_status inflate_record(pfr_reader *r, struct inflater *z, pfr_bytes from, uint64_t offset, pfr_error *err);

/* plausible_record.c: how far the bytes of a record (type to context are filled) look like one. */
enum plausibility {
    PLAUSIBILITY_NONE, /* they do not hold what their type says */
    PLAUSIBILITY_WEAK, /* nothing tells: unknown type, or a sample of no event */
    PLAUSIBILITY_ODD,  /* they hold it, and something behind */
    PLAUSIBILITY_FULL, /* they hold it, and nothing else */
    PLAUSIBILITY_FIRM  /* they are as long as they must be: garbage would hardly be */
};
void plausibility_learn(pfr_reader *r); /* at open, and when the first event is known */
enum plausibility plausibility_of(const pfr_reader *r, const pfr_record *rec);
/* false: only a look at the whole body tells. */
bool plausibility_at_once(const pfr_reader *r, const pfr_record *rec, enum plausibility *plausibility);
/* Why belief is NONE. */
void implausible_because(const pfr_record *rec, pfr_error *why);

/* next.c: the record at `bytes`, not yet counted. The header says its size, which is there. */
void frame(pfr_reader *r, pfr_record *rec, const uint8_t *bytes, uint64_t offset);
/* next.c: pfr_next as far as it needs nothing but the window, on a reader without a limit on records. PFR_END: call
   pfr_next. No record given by it leaves the reader with a view of the window: the window may then be freed. */
pfr_status next_at_hand(pfr_reader *r, pfr_record *rec, pfr_error *err);

/* resync.c: bytes to judge by, as far as they can be seen. */
struct visible_bytes {
    const uint8_t *bytes;
    uint64_t length;
    bool whole;  /* nothing follows them */
    bool pieces; /* how far they can be seen is chance: decompressed bytes, which come piece by piece */
};
/* 0: the record at the start of the sight, which is not fully believed, is to be given. Else the first place behind it
   where records go on, or s->length. */
uint64_t implausible_bytes(pfr_reader *r, const struct visible_bytes *s, const pfr_record *rec);
/* Whether a whole record stands there that is as long as it must be. */
bool is_record_at(pfr_reader *r, const struct visible_bytes *s, uint64_t at);
/* Whether records of this type hold compressed bytes, which may look like records and are none. */
bool holds_compressed(uint32_t type);
/* Whether data may lie behind records of this type. */
bool may_be_followed(uint32_t type);
/* Whether a record's size is only its own word: more bytes than it has would not show. Not where compressed bytes are.
 */
bool may_hide_records(const pfr_record *rec);
/* The first place from `at` on that records follow each other from: three in a row, or `least` that are whole up to the
   end (one less where the last of them ends there); s->length: nowhere. Places behind `until` are not tried. */
uint64_t chain_after(pfr_reader *r, const struct visible_bytes *s, uint64_t at, uint64_t until, unsigned least);
/* The same in the current part's input, from offset *at to `last`, UINT64_MAX: to the end. PFR_END: nowhere, and *at is
   the end of what was seen. */
pfr_status resync(pfr_reader *r, uint64_t *at, uint64_t last, unsigned least, pfr_error *err);
/* What can be seen of the current part from offset `at`. */
pfr_status sight_at(pfr_reader *r, uint64_t at, struct visible_bytes *s, pfr_error *err);

/* record.c: what decides the fields of this very record, whose layout has this number. */
struct pfr_context record_context(const pfr_record *rec, unsigned layout);

/* metadata_records.c: looks at a record that was just read; < 0 only for memory and limits. May move the record's
 * bytes. */
pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
