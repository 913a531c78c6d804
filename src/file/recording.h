/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_H
#define PFR_FILE_RECORDING_H
/*
 * What a pfr_reader is made of. One file per concern:
 *
 *     open.c            what kind of recording is this; header, attrs, parts
 *     next.c            records in file order, payloads behind records
 *     walk.c            the same for those who only count
 *     inflate.c         COMPRESSED records to the records inside
 *     events.c          attrs, ids, names: who owns a record
 *     event_name.c      the name perf gives an event that has none
 *     features.c        the bitmap, the table of sections, payloads
 *     notice.c          records that say something about the recording itself (a table of functions by type)
 *     event_names.c     names that were recorded: EVENT_DESC, event_types, tracepoint formats
 *     tracing_blob.c    the tracepoint formats
 *     record.c          pfr_decode, pfr_get: what is in a record
 */
#include "base/arena.h"
#include "base/hashmap.h"
#include "base/input.h"
#include "wire/layout.h"

#include <perfray/reader.h>

#define RECORD_HEADER 8u
#define RECORD_MOST 65535u
#define FEATURES 256u

/* zstd contexts are made when the first COMPRESSED record comes. */
struct inflater {
    void *stream;      /* ZSTD_DStream */
    uint8_t *buffer;   /* decompressed, not yet handed out from `at` on */
    size_t at, length, capacity;
    uint64_t start;    /* place of buffer[0] in the whole output */
    bool broken;       /* the stream cannot go on: later COMPRESSED records are holes until a new frame begins */
};

/* One file of records: the file itself, or `data` and each `data.N` of a directory. */
struct part {
    struct input in;
    struct inflater inflater;
    uint64_t begin, end; /* of the records; end UINT64_MAX: when the input ends */
    uint32_t number;     /* 0 or N + 1 */
    bool open;
};

struct event {
    pfr_event public;
    struct pfr_context context;
    uint32_t tail; /* bytes of its sample_id */
};

struct pfr_reader {
    struct memory memory;
    struct arena arena; /* lives as long as the reader: attrs, ids, names, features */
    pfr_limits limits;
    bool keep_aux, spool;
    pfr_header header;
    struct pfr_context context; /* of records without an event: byte order and NRCPUS */

    struct part *parts;
    uint32_t nr_parts, part; /* current */
    uint64_t at;             /* next record in the current part */
    uint64_t payload_at, payload_size;
    pfr_bytes compressed;    /* given as a record, not yet decompressed */
    uint64_t outer;          /* offset of the COMPRESSED record at hand */
    bool ended;              /* the current part has nothing more that can be read */

    struct event *events;
    size_t nr_events, events_room;
    struct u64_map ids;
    uint64_t last_id;
    int32_t last_event;
    uint32_t least[32];        /* least bytes of a kernel record's body, by type */
    uint32_t id_at, id_back;   /* where the id stands: in a sample from its start, in other records from their end; 0: nowhere */

    pfr_feature *features;
    uint32_t nr_features, features_room;
    pfr_error unread;                 /* of the first payload that could not be read; status PFR_OK: none */
    struct pfr_context old_build_ids; /* entries without pid */
    struct pfr_context domains;       /* schedstat_version of CPU_DOMAIN_INFO */
    bool names_stale; /* names have to be made anew */
    pfr_error broken; /* status PFR_HOLE: what was unpacked ended by damage; told once before the end */
    bool broken_told;

    size_t attrs_seen; /* HEADER_ATTR records of this pass: a second pass over a stream brings no new events */
    pfr_quality quality, found_at_open;
};

/* events.c */
pfr_status events_add(pfr_reader *r, const uint8_t *attr, size_t room, const pfr_u64s *ids, pfr_error *err);
pfr_status events_name(pfr_reader *r, pfr_error *err);
int32_t events_owner(pfr_reader *r, uint32_t type, const uint8_t *record, uint32_t size, uint16_t *tail);
uint64_t *copy_ids(pfr_reader *r, const pfr_u64s *ids, pfr_error *err);

/* event_name.c: the name, in the arena; NULL: out of memory */
const char *event_name_make(pfr_reader *r, const struct pfr_rec_attr *attr);

/* features.c */
pfr_status features_open(pfr_reader *r, pfr_error *err);
pfr_status features_add(pfr_reader *r, uint32_t bit, uint64_t offset, const uint8_t *bytes, size_t length,
                        pfr_error *err);

/* Who asks for a feature and goes on without it asks this at the end: < 0 when the feature was there but could not be
   read (memory, input). */
pfr_status features_unread(const pfr_reader *r, pfr_error *err);

/* inflate.c */
void inflater_close(struct inflater *z, struct memory *memory);
void inflater_rewind(struct inflater *z);
/* Decompresses one record's bytes behind what is left over. HOLE: broken, *err says where. (zlib owns the short name.) */
pfr_status inflate_record(pfr_reader *r, struct inflater *z, pfr_bytes from, uint64_t offset, pfr_error *err);

/* notice.c: looks at a record that was just read; < 0 only for memory and limits. May move the record's bytes. */
pfr_status notice(pfr_reader *r, pfr_record *rec, pfr_error *err);

#endif
