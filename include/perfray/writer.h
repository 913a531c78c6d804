/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_WRITER_H
#define PERFRAY_WRITER_H
/*
 * pfr_writer - write a perf.data recording: a file, a stream or a directory, in either byte order, compressed or not.
 *
 * Use it to write recordings of your own, for example from another profiler. edit.h converts existing recordings,
 * sampling.h records from the kernel.
 *
 * Order of calls:
 *
 *     pfr_writer_open
 *     events and features, in any order
 *     records                        the first one writes the header and everything known so far
 *     more events and features, as they become known
 *     pfr_writer_finish              writes sizes, attrs and features, and names the file
 *     pfr_writer_close
 *
 * A file is readable even if the writer is killed: until it is finished its header says that the records extend to the
 * end of the file. In a stream, events and features that are added after the first record are written between records.
 *
 * Names: a new file is NAME.PID.new (mode 0600) until pfr_writer_finish() succeeds, then it replaces NAME. Symbolic
 * links are never followed. With `in_place` the file has its name from the first byte.
 *
 * Errors: failures of writing, and of memory, are sticky: all later calls return the first one and write nothing. The
 * text of that error names the file and the byte. PFR_ERR_USAGE, PFR_ERR_LIMIT for a record that is too long, and
 * PFR_HOLE of the copying functions are not sticky: nothing was written, and the writer can go on.
 *
 * Threads: a writer may be used by one thread at a time.
 *
 * Source of the layout: linux/perf_event.h and perf's own files, see docs/perf-data-format.md.
 *
 * Example, one sample of one event (examples/write_profile.c is a complete program):
 *
 *     pfr_writer *w = pfr_writer_open("out.data", NULL, &err);
 *     struct pfr_rec_attr attr = {.type = PFR_ATTR_TYPE_SOFTWARE,
 *                                 .sample_type = PFR_SAMPLE_IP | PFR_SAMPLE_TID | PFR_SAMPLE_TIME | PFR_SAMPLE_PERIOD,
 *                                 .sample_period = 1};
 *     struct pfr_rec_sample sample = {.ip = 0x1000, .pid = 7, .tid = 7, .time = 1, .period = 1};
 *     if (w && pfr_writer_event(w, &attr, NULL, 0, &err) >= 0 &&
 *         pfr_writer_put(w, 0, PFR_RECORD_SAMPLE, PFR_CPUMODE_USER, &sample, sizeof sample, NULL, &err) >= 0)
 *         pfr_writer_finish(w, &err);
 *     pfr_writer_close(w);
 */
#include <perfray/alloc.h>
#include <perfray/reader.h>
#include <perfray/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_writer pfr_writer;

/* Byte order of the recording. HOST is that of this machine. */
typedef enum pfr_order { PFR_ORDER_HOST, PFR_ORDER_LITTLE, PFR_ORDER_BIG } pfr_order;

/* Compression of kernel records (types below 64), in COMPRESSED records. Other records are never compressed. */
typedef enum pfr_compression {
    /* No compression. */
    PFR_PLAIN,
    /* Each COMPRESSED record is a zstd frame of complete records with a checksum. Damage loses only one frame. */
    PFR_ZSTD_FRAMES,
    /* One zstd stream through all COMPRESSED records, as `perf record -z` writes it. Smaller, but damage loses all
       later frames. */
    PFR_ZSTD_STREAM
} pfr_compression;

/* Options of pfr_writer_open(). */
typedef struct pfr_write_options {
    /* sizeof(pfr_write_options). Members beyond it have their defaults. */
    size_t size;
    /* Allocator of the writer. NULL: malloc(). */
    const pfr_alloc *alloc;
    /* File, stream or directory. The path "-" is always a stream. */
    pfr_container container;
    /* Byte order. */
    pfr_order order;
    /* Compression of kernel records. */
    pfr_compression compression;
    /* zstd level. 0: 1. */
    int level;
    /* Bytes of every attr in the file: 64 to 4096, a multiple of 8. 0: those of the largest attr that is added before
       the first record. */
    uint32_t attr_size;
    /* Give the file its name from the first byte. An existing file is overwritten, and an unfinished file is not
       removed. */
    bool in_place;
} pfr_write_options;

/*
 * pfr_writer_open - begin a recording. `path` "-" is standard output. `options` NULL: a file in this machine's byte
 * order.
 *
 * Returns NULL on failure:
 * - PFR_ERR_USAGE for a path that is neither a regular file nor a character device, for PFR_DIRECTORY and a path that
 *   exists, or for an invalid attr_size
 * - PFR_ERR_IO or PFR_ERR_PERMISSION if the file cannot be created
 * - PFR_ERR_MEMORY or PFR_ERR_LIMIT
 *
 * The caller releases the writer by pfr_writer_close().
 */
pfr_writer *pfr_writer_open(const char *path, const pfr_write_options *options, pfr_error *err);

/*
 * pfr_writer_open_fd - begin a recording on an open descriptor: an empty, seekable file, or for PFR_PIPE any
 * descriptor.
 *
 * If `owned` is true, pfr_writer_close() closes the descriptor, and so does this function if it fails. `name` is used
 * in messages. PFR_DIRECTORY is PFR_ERR_USAGE; otherwise as pfr_writer_open().
 */
pfr_writer *pfr_writer_open_fd(int fd, bool owned, const char *name, const pfr_write_options *options, pfr_error *err);

/*
 * pfr_writer_event - add an event. Events are numbered from 0 in the order of these calls.
 *
 * The attr and the `nr_ids` ids are copied. attr->size 0 means 64. In a file, events may also be added after records;
 * all attrs are then written at the end.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if attr->size is above 4096; sticky errors.
 */
pfr_status pfr_writer_event(pfr_writer *writer, const struct pfr_rec_attr *attr, const uint64_t *ids, size_t nr_ids,
                            pfr_error *err);

/*
 * pfr_writer_ids - add ids to an event, also after records. They are written at the end with all attrs.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if there is no such event, or for a stream after its first record; sticky errors.
 */
pfr_status pfr_writer_ids(pfr_writer *writer, uint32_t event, const uint64_t *ids, size_t nr_ids, pfr_error *err);

/*
 * pfr_writer_feature - add a header feature (PFR_FEATURE_*), or replace the one with the same bit.
 *
 * `bytes` is the payload as it is in the file, in the writer's byte order; it is copied. `length` 0 is a flag. Streams
 * cannot contain features that describe a file, or payloads above 64 KiB; these are omitted, as perf does.
 *
 * Returns PFR_OK; PFR_ERR_USAGE for a bit above 255; sticky errors.
 */
pfr_status pfr_writer_feature(pfr_writer *writer, uint32_t bit, const void *bytes, size_t length, pfr_error *err);

/*
 * pfr_writer_put_feature - as pfr_writer_feature(), from the struct pfr_rec_feature_<name> of the feature.
 *
 * Returns also PFR_ERR_USAGE if the feature has no struct of `size` bytes.
 */
pfr_status pfr_writer_put_feature(pfr_writer *writer, uint32_t bit, const void *body, size_t size, pfr_error *err);

/*
 * pfr_writer_copy_feature - as pfr_writer_feature(), from a reader. The byte order is converted if necessary.
 *
 * Returns also PFR_HOLE if the feature is incomplete, or its layout is not known and the byte orders differ; nothing
 * was written then.
 */
pfr_status pfr_writer_copy_feature(pfr_writer *writer, const pfr_reader *from, const pfr_feature *feature,
                                   pfr_error *err);

/*
 * pfr_writer_build_id - add an entry to the feature BUILD_ID, or in a stream a HEADER_BUILD_ID record.
 *
 * entry->misc is the CPU mode, with bit 15 set if entry->length is valid. The type and size of the entry are filled in.
 *
 * Returns PFR_OK, an error of the layout, or sticky errors.
 */
pfr_status pfr_writer_build_id(pfr_writer *writer, const struct pfr_rec_build_id_entry *entry, pfr_error *err);

/*
 * pfr_writer_put - write a record from its struct pfr_rec_<name>.
 *
 * `event` decides which fields a sample has and whether other kernel records have a sample_id; use 0 if it does not
 * matter. `size` is the sizeof the struct. `id` is the sample_id of kernel records other than samples, written if the
 * event's attr has sample_id_all; NULL writes zeros. Counts in the struct are ignored; those of its views are
 * written.
 *
 * Returns PFR_OK, or:
 * - PFR_ERR_USAGE if the type has no struct of this size, a sample has no such event, or the payload of the previous
 *   record is incomplete
 * - PFR_ERR_LIMIT if the record would be longer than 65535 bytes
 * - sticky errors
 */
pfr_status pfr_writer_put(pfr_writer *writer, uint32_t event, uint32_t type, uint16_t misc, const void *body,
                          size_t size, const struct pfr_rec_sample_id *id, pfr_error *err);

/*
 * pfr_writer_copy - write a record of a reader, and convert its byte order if necessary.
 *
 * Add the reader's events to the writer in the same order, so that readers can decode the samples. Then write the
 * record->payload bytes that follow the record by pfr_writer_payload().
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the byte orders differ and the record cannot be converted (unknown type or feature, sample of no
 *   event, damaged); nothing was written then
 * - PFR_ERR_USAGE if the payload of the previous record is incomplete
 * - sticky errors
 */
pfr_status pfr_writer_copy(pfr_writer *writer, const pfr_record *record, pfr_error *err);

/*
 * pfr_writer_raw - write complete kernel records in the writer's byte order, as they are in a ring buffer.
 *
 * `bytes` and `rest` are the two parts of a ring buffer that wraps around; a record may begin in the first and end in
 * the second. If there is only one part, `rest` is NULL and `rest_length` is 0.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if the bytes are not complete records; sticky errors.
 */
pfr_status pfr_writer_raw(pfr_writer *writer, const void *bytes, size_t length, const void *rest, size_t rest_length,
                          pfr_error *err);

/*
 * pfr_writer_payload - write data that follow the last record: those of AUXTRACE and HEADER_TRACING_DATA. May be called
 * several times; together the calls must write as many bytes as the record announces.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if there would be more bytes than the record announces; sticky errors.
 */
pfr_status pfr_writer_payload(pfr_writer *writer, const void *bytes, size_t length, pfr_error *err);

/*
 * pfr_writer_part - directory: write the following records to `data.N` with N = number - 1; 0: to `data`. The file is
 * created at the first call with its number.
 *
 * Returns PFR_OK; PFR_ERR_USAGE if the recording is not a directory; sticky errors.
 */
pfr_status pfr_writer_part(pfr_writer *writer, uint32_t number, pfr_error *err);

/* pfr_writer_flush - hand everything written so far to the operating system, so that the data survives the end of the
   process. The data is not synchronised to the disk. Returns PFR_OK or sticky errors. */
pfr_status pfr_writer_flush(pfr_writer *writer, pfr_error *err);

/* pfr_writer_size - bytes of the recording so far. Records that wait to be compressed count with their full size. */
uint64_t pfr_writer_size(const pfr_writer *writer);

/*
 * pfr_writer_finish - write what is missing (features, sizes, attrs), synchronise the file to the disk, and give it its
 * name. Nothing may be written afterwards.
 *
 * Returns PFR_OK, or the first error of this writer. Unless `in_place` is set, an existing file of the name is
 * unchanged then.
 */
pfr_status pfr_writer_finish(pfr_writer *writer, pfr_error *err);

/* pfr_writer_close - release the writer. A file that was not finished is removed; with `in_place` it remains, readable
   as far as it was written. NULL is allowed. */
void pfr_writer_close(pfr_writer *writer);

#ifdef __cplusplus
}
#endif
#endif
