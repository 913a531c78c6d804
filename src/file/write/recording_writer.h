/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_RECORDING_WRITER_H
#define PFR_FILE_RECORDING_WRITER_H
/*
 * What a pfr_writer is made of. One file per concern:
 *
 *     writer.c            opening, names of files, flushing, the end
 *     writer_front.c      what stands before records and behind them: headers, attrs, ids, the table of features
 *     writer_features.c   payloads of features, as structs, bytes, or out of another recording
 *     writer_records.c    records, as structs, bytes, or out of another recording
 *     writer_folder.c     directories
 *     deflate.c           records to COMPRESSED records
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
    uint64_t ids_at;            /* in the file; NO_PLACE: not yet written */
    struct pfr_context context; /* of its records, in the writer's order */
};

struct written_feature {
    uint32_t bit;
    const uint8_t *bytes; /* in the arena */
    size_t length;
};

/* Records that wait to be compressed, and what compresses them. */
struct deflater {
    void *context; /* ZSTD_CCtx; NULL: nothing is compressed */
    uint8_t *waiting;
    size_t used, target;
    uint8_t *packed; /* a whole COMPRESSED record */
    uint64_t in, out;
};

/* One file: the recording, or `data` and each data.N of a directory. */
struct written_part {
    struct output out;
    struct deflater deflater;
    uint32_t number;
};

struct pfr_writer {
    struct memory memory;
    struct arena arena;
    struct pfr_context context; /* of records without an event: the byte order */
    pfr_container container;
    pfr_compression compression;
    int level;
    uint32_t attr_size_asked, attr_size; /* 0: not asked for; of the file */
    uint32_t spare_slots;                /* left free behind the table of features */
    bool started, filled, finished, in_place, named;
    pfr_error failure; /* status < 0: the first one */
    const char *name;  /* for messages */

    struct whole_file file; /* path NULL: in place, or somebody else's descriptor */
    int folder;             /* of a directory, else -1 */
    char *folder_path, *folder_new;
    bool folder_made;
    struct written_part *parts;
    uint32_t nr_parts, part, parts_made;
    uint32_t parts_room;

    struct written_event *events;
    size_t nr_events, events_room;
    uint64_t attrs_at, data_at, data_end;
    size_t attrs_written; /* events in front of the records */
    bool attrs_change;    /* those got more ids */

    struct written_feature *features; /* by bit */
    size_t nr_features, features_room;
    struct output build_ids; /* entries, to memory */
    struct output index;     /* of AUXTRACE records, to memory */
    uint64_t payload_left;
    uint8_t *scratch; /* RECORD_ROOM bytes: one record in the making */
};

#define RECORD_ROOM ((size_t)1 << 17)
#define FIRST_USER 64u
#define RING_SAID 0x81000u /* feature COMPRESSED: no COMPRESSED record becomes more */

static inline struct written_part *part_of(pfr_writer *w) {
    return &w->parts[w->part];
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

pfr_status writer_start(pfr_writer *w, pfr_error *err); /* what stands before the records, once */

/* All but the end of pfr_writer_finish: every byte is written, and nothing has its name. */
pfr_status writer_fill(pfr_writer *w, pfr_error *err);

/* The name until then; NULL: it has none, or cannot be read there. */
const char *writer_unfinished(const pfr_writer *w);

#endif
