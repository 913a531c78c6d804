/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_WRITER_H
#define PFR_FILE_RECORDING_WRITER_H
/*
 * struct pfr_writer and the structs that the files of the writer share. One file per concern:
 *
 *    writer.c            opening, file names, flushing, finishing
 *    writer_part.c       the first failure, which all writers keep
 *    writer_part_open.c  opens one file of the recording
 *    writer_front.c      everything around the records: headers, attrs, ids, feature table
 *    writer_features.c   payloads of features: from structs, from bytes, from another recording
 *    writer_records.c    records: from structs, from bytes, from another recording
 *    writer_folder.c     directories
 *    deflate.c           compresses records into COMPRESSED records
 */
#include "base/memory/arena.h"
#include "base/io/output.h"
#include "base/io/whole_file.h"
#include "file/read/recording.h"
#include "wire/layout_write.h"
#include "wire/feature_bits.h"

#include <perfray/writer.h>

#define NO_PLACE UINT64_MAX

struct written_event {
    struct pfr_rec_attr attr;
    uint64_t *ids;
    size_t nr_ids;
    uint64_t ids_at;            /* offset in the file; NO_PLACE: not yet written */
    struct pfr_context context; /* context of its records, in the writer's byte order */
};

struct written_feature {
    uint32_t bit;
    const uint8_t *bytes; /* payload, in the arena */
    size_t length;
};

/* Records waiting for compression, and the compressor. */
struct deflater {
    void *context; /* ZSTD_CCtx; NULL: no compression */
    uint8_t *waiting;
    size_t used, target;
    uint8_t *packed; /* one whole COMPRESSED record fits here */
    uint64_t in, out;
};

/* One file: the recording, or `data` and each data.N of a directory. */
struct written_part {
    struct output out;
    struct deflater deflater;
    uint32_t number;
};

/* The parts of a recording that is a directory. */
struct writer_folder {
    int handle; /* descriptor of the folder, else -1 */
    char *path, *new_path;
    bool is_made;
    struct written_part *parts;
    uint32_t nr_parts, part, parts_made;
    uint32_t parts_room;
};

struct writer_events {
    struct written_event *list;
    size_t count, room;
    uint64_t attrs_at;
    uint32_t attr_size_asked, attr_size; /* requested size, 0: not requested; size in the file */
    size_t attrs_written;                /* number of events written before the records */
    bool attrs_change;                   /* some of these events got more ids later */
};

struct writer_features {
    struct written_feature *list; /* sorted by bit */
    size_t count, room;
    uint32_t spare_slots;    /* unused entries at the end of the feature table */
    struct output build_ids; /* entries of BUILD_ID, collected in memory */
};

struct pfr_writer {
    struct memory memory;
    struct arena arena;
    struct pfr_context context; /* context of records without an event: the byte order */
    pfr_container container;
    pfr_compression compression;
    int level;
    bool started, filled, finished, in_place, named;
    pfr_error failure; /* the first failure, if status < 0 */
    const char *name;  /* name of the output, for messages */

    struct whole_file file; /* path NULL: written in place, or to the caller's descriptor */
    struct writer_folder folder;
    struct writer_events events;
    struct writer_features features;
    uint64_t data_at, data_end;
    struct output index; /* index of AUXTRACE records, collected in memory */
    uint64_t payload_left;
    uint8_t *scratch; /* RECORD_ROOM bytes: the record being built */
};

#define RECORD_ROOM ((size_t)1 << 17)
#define FIRST_USER 64u
#define RING_SAID 0x81000u /* mmap_len of feature COMPRESSED: no COMPRESSED record becomes larger when decompressed */

static inline struct written_part *part_of(pfr_writer *w) {
    return &w->folder.parts[w->folder.part];
}

static inline bool writer_has_order(const pfr_writer *w, const struct pfr_context *c) {
    return w->context.swap == c->swap && w->context.mirrored == c->mirrored;
}

/* The same context in the writer's byte order. */
static inline struct pfr_context writer_context_like(const pfr_writer *w, const struct pfr_context *c) {
    struct pfr_context target = *c;
    target.swap = w->context.swap;
    target.mirrored = w->context.mirrored;
    return target;
}

static inline void put_u16(uint8_t *at, uint16_t v, bool swap) {
    v = swap ? __builtin_bswap16(v) : v;
    memcpy(at, &v, sizeof v);
}

static inline void put_u32(uint8_t *at, uint32_t v, bool swap) {
    v = swap ? __builtin_bswap32(v) : v;
    memcpy(at, &v, sizeof v);
}

static inline void put_u64(uint8_t *at, uint64_t v, bool swap) {
    v = swap ? __builtin_bswap64(v) : v;
    memcpy(at, &v, sizeof v);
}

pfr_status writer_start(pfr_writer *w,
                        pfr_error *err); /* writes everything that precedes the records, when called first */

/* Like pfr_writer_finish without its last step: all bytes are written, but the file does not have its final name. */
pfr_status writer_fill(pfr_writer *w, pfr_error *err);

/* The temporary name that the file has until pfr_writer_finish; NULL: it has no such name, or cannot be read. */
const char *writer_unfinished(const pfr_writer *w);

#endif
