/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_WRITER_H
#define PERFRAY_WRITER_H
/*
 * Writing a perf.data recording: file, stream (pipe form) or directory, in either byte order, compressed or not.
 *
 *     open, events, features      in any order
 *     records                     the first one writes what stands before records
 *     features                    once more, as they become known
 *     finish, close
 *
 * In a file the header goes out first and says that the records go on to the end of the file, so that what a killed
 * writer leaves can be read; finish puts sizes and features in. In a stream events and the features known so far come
 * first, those added later where they are added.
 *
 * The first failure sticks: later calls return it and write nothing, and finish tells it again. Its text names the file
 * and the byte.
 *
 * A file gets its name when finish succeeds (until then it is NAME.PID.new, mode 0600, made anew; a symbolic link is
 * never followed), or, `in_place`, has it from the first byte.
 *
 * Example, one sample of one event:
 *
 *     pfr_writer *w = pfr_writer_open("out.data", NULL, &err);
 *     struct pfr_rec_attr attr = {.type = 1, .sample_type = 0x107, .sample_period = 1};
 *     pfr_writer_event(w, &attr, NULL, 0, &err);
 *     struct pfr_rec_sample sample = {.ip = 0x1000, .pid = 7, .tid = 7, .time = 1, .period = 1};
 *     pfr_writer_put(w, 0, 9, 2, &sample, sizeof sample, NULL, &err);
 *     pfr_writer_finish(w, &err);
 *     pfr_writer_close(w);
 *
 * examples/write_profile.c is a whole program.
 */
#include <perfray/alloc.h>
#include <perfray/reader.h>
#include <perfray/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_writer pfr_writer;

typedef enum pfr_order { PFR_ORDER_HOST, PFR_ORDER_LITTLE, PFR_ORDER_BIG } pfr_order;

typedef enum pfr_compression {
    PFR_PLAIN,
    PFR_ZSTD_FRAMES, /* each COMPRESSED record is a zstd frame of whole records with a checksum: damage costs one */
    PFR_ZSTD_STREAM  /* one zstd stream through all COMPRESSED records, as perf record -z */
} pfr_compression;

typedef struct pfr_write_options {
    size_t size;             /* sizeof(pfr_write_options) */
    const pfr_alloc *alloc;  /* NULL: malloc */
    pfr_container container; /* "-" is always a stream */
    pfr_order order;
    pfr_compression compression; /* of kernel records (types below 64); all else stays as it is */
    int level;                   /* of zstd; 0: 1 */
    uint32_t attr_size;          /* of every attr; 0: of the largest one that is added before the first record */
    bool in_place;               /* under its name from the first byte, which may be that of an existing file */
} pfr_write_options;

/* `path` "-" is standard output. NULL on failure, with *err: USAGE, IO, PERMISSION, MEMORY. options NULL: a file. */
pfr_writer *pfr_writer_open(const char *path, const pfr_write_options *options, pfr_error *err);
/* On an open descriptor, closed by pfr_writer_close when `owned`, also on failure. A file must be empty and seekable;
   no directory. `name` is for messages. */
pfr_writer *pfr_writer_open_fd(int fd, bool owned, const char *name, const pfr_write_options *options, pfr_error *err);

/* One more event; they are numbered as they come. Its attr and ids are copied. attr.size 0 means 64; more than 4096
   bytes, which no kernel takes, is PFR_ERR_USAGE, and the writer can go on. In a file an event may come after records,
   too; it is then written behind them. */
pfr_status pfr_writer_event(pfr_writer *writer, const struct pfr_rec_attr *attr, const uint64_t *ids, size_t nr_ids,
                            pfr_error *err);

/* More ids of an event, also behind records: in a file they are written at the end, with all attrs. A stream that has
   begun has no place for them: PFR_ERR_USAGE. */
pfr_status pfr_writer_ids(pfr_writer *writer, uint32_t event, const uint64_t *ids, size_t nr_ids, pfr_error *err);

/* A header feature, which takes the place of one with the same bit: the payload as it stands in the file, in the
   writer's byte order. Flags have no bytes. */
pfr_status pfr_writer_feature(pfr_writer *writer, uint32_t bit, const void *bytes, size_t length, pfr_error *err);
/* The same out of its struct pfr_rec_feature_<name>. */
pfr_status pfr_writer_put_feature(pfr_writer *writer, uint32_t bit, const void *body, size_t size, pfr_error *err);
/* The same as a reader has it, in whatever byte order. PFR_HOLE: it cannot be said in the writer's byte order, or is
   not whole; nothing was written. */
pfr_status pfr_writer_copy_feature(pfr_writer *writer, const pfr_reader *from, const pfr_feature *feature,
                                   pfr_error *err);
/* One entry more of feature BUILD_ID (in a stream a record). misc: cpumode, and bit 15 where `length` counts; type and
   entry_size are filled in. */
pfr_status pfr_writer_build_id(pfr_writer *writer, const struct pfr_rec_build_id_entry *entry, pfr_error *err);

/*
 * A record out of its struct pfr_rec_<name>. `event` (0 where there are several and it does not matter) decides which
 * fields a sample has. `id`, for kernel records other than samples, is written where the event's attr has
 * sample_id_all; NULL: zeros.
 */
pfr_status pfr_writer_put(pfr_writer *writer, uint32_t event, uint32_t type, uint16_t misc, const void *body,
                          size_t size, const struct pfr_rec_sample_id *id, pfr_error *err);
/* A record that a reader gave, in whatever byte order; its event must be known to the writer under the reader's number
   only in so far as perf wants to find it. PFR_HOLE: it cannot be said in the writer's byte order; nothing was written.
   What follows an AUXTRACE or HEADER_TRACING_DATA record goes through pfr_writer_payload. */
pfr_status pfr_writer_copy(pfr_writer *writer, const pfr_record *record, pfr_error *err);
/* Whole kernel records, one behind the other, in the writer's byte order: what a ring buffer holds. `rest` is where the
   ring goes on at its start (NULL, 0: it does not); a record may lie in both. */
pfr_status pfr_writer_raw(pfr_writer *writer, const void *bytes, size_t length, const void *rest, size_t rest_length,
                          pfr_error *err);
/* Bytes behind the record written last, as many in all as it says. */
pfr_status pfr_writer_payload(pfr_writer *writer, const void *bytes, size_t length, pfr_error *err);

/* Directory: the records that follow go to data.N, N = number - 1; 0: to `data`. */
pfr_status pfr_writer_part(pfr_writer *writer, uint32_t number, pfr_error *err);

/* Everything written so far reaches the system. */
pfr_status pfr_writer_flush(pfr_writer *writer, pfr_error *err);
/* Bytes of the file so far, with what waits to be compressed at its full size. */
uint64_t pfr_writer_size(const pfr_writer *writer);

/* The rest: features, sizes, the name. Nothing may be written after it. */
pfr_status pfr_writer_finish(pfr_writer *writer, pfr_error *err);
/* Frees. What was not finished is removed, or, in place, left as it is: readable up to where it goes. NULL is fine. */
void pfr_writer_close(pfr_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
