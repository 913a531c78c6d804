/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_READER_H
#define PERFRAY_READER_H
/*
 * pfr_reader - reads a recording record by record, in file order.
 *
 * Supported input, recognised by content and not by name:
 *
 * - perf.data files, versions 1 (PERFFILE) and 2 (PERFILE2), in either byte order
 * - perf.data streams, as written by `perf record -o -`
 * - directory recordings, as written by `perf record --threads`: `data`, then `data.0`, `data.1`, ...
 * - XRay traces: flight recorder, basic logs and profiles (trace.h)
 * - each of these files and streams compressed by gzip, xz or zstd
 *
 * Records are returned in file order, which is not timestamp order: a recorder writes the buffer of one CPU after the
 * other. Functions that need timestamp order, such as pfr_script_print(), sort by themselves. A COMPRESSED record is
 * returned first; the records inside it follow.
 *
 * Damage does not end reading. An unreadable range is returned as PFR_HOLE, and reading continues after it at the next
 * place where plausible records begin. pfr_get_quality() counts holes and losses.
 *
 * Ownership: pfr_open() and pfr_open_bytes() return a reader that the caller releases by pfr_close(). All other
 * pointers belong to the reader.
 *
 * Threads: one reader may be used by one thread at a time; two readers share nothing.
 *
 * Files are read, never mapped: a file that is truncated meanwhile cannot raise SIGBUS.
 *
 * Sources of the layouts: docs/perf-data-format.md and docs/xray-format.md, generated from the tables that the reader
 * uses.
 *
 * Example, counting records by type:
 *
 *     uint64_t count[128] = {0};
 *     pfr_record rec;
 *     pfr_status st;
 *     while ((st = pfr_next(reader, &rec, &err)) >= 0 && st != PFR_END)
 *         if (st == PFR_OK)
 *             count[rec.type & 127]++;
 *         else
 *             fprintf(stderr, "byte %" PRIu64 ": %s\n", err.offset, err.text);
 *     if (st < 0)
 *         fprintf(stderr, "%s\n", err.text);
 */
#include <perfray/alloc.h>
#include <perfray/limits.h>
#include <perfray/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_reader pfr_reader;

/* Options of pfr_open() and pfr_open_bytes(). All are copied; the pointers need not remain valid. */
typedef struct pfr_open_options {
    /* sizeof(pfr_open_options) */
    size_t size;
    /* Allocator of the reader and of all work on it. NULL: malloc(). Its `context` must outlive the reader. */
    const pfr_alloc *alloc;
    /* Limits on memory and time. NULL: the defaults. */
    const pfr_limits *limits;
    /* Set this to read the AUX data of a stream with pfr_payload(). It is not needed for files. */
    bool keep_aux;
    /*
     * Copy a stream to an unnamed temporary file in $TMPDIR (default /tmp) when it is opened. A stream can then be read
     * more than once, as most reports require. Opening waits for the end of the stream. No effect on files.
     */
    bool spool;
} pfr_open_options;

/*
 * pfr_open - open a recording.
 *
 * `path` is a file, a FIFO, the directory of a directory recording, or "-" for standard input. `options` may be NULL.
 * The file header, the events and the table of features are read immediately; those of a stream become known while the
 * stream is read. A compressed perf.data file is decompressed to an unnamed temporary file first.
 *
 * Returns NULL on failure, with err->status:
 * - PFR_ERR_FORMAT if the content is not a supported recording (or is empty, or a directory without `data`)
 * - PFR_ERR_DAMAGE if the header is too damaged, or compressed input is damaged at its beginning
 * - PFR_ERR_IO or PFR_ERR_PERMISSION if the file cannot be opened or read
 * - PFR_ERR_MEMORY or PFR_ERR_LIMIT if memory or a limit does not suffice
 * - PFR_ERR_CHANGED if the file changed meanwhile
 *
 * A header with wrong numbers is corrected where attrs, records and features agree on the right ones. Each correction
 * is returned by pfr_next() as a hole before the first record.
 */
pfr_reader *pfr_open(const char *path, const pfr_open_options *options, pfr_error *err);

/*
 * pfr_open_bytes - open a recording in memory.
 *
 * `bytes` must remain valid and unchanged until pfr_close(). Compression of the whole input is not recognised here;
 * COMPRESSED records are. Otherwise as pfr_open().
 */
pfr_reader *pfr_open_bytes(const void *bytes, size_t length, const pfr_open_options *options, pfr_error *err);

/* pfr_close - release the reader and everything that belongs to it, and close its files. NULL is allowed. */
void pfr_close(pfr_reader *reader);

/*
 * pfr_next - read the next record.
 *
 * Returns PFR_OK: *rec is the record, valid until the next call that reads.
 *
 * PFR_HOLE: the bytes err->offset to err->offset + err->length could not be used, and err->text says why. Call again to
 * continue. If these bytes are one complete record whose body does not fit its type, *rec is filled, for tools that
 * show raw bytes; otherwise rec->bytes is NULL.
 *
 * PFR_END: all records were read. pfr_get_quality() is complete.
 *
 * Less than 0: reading failed and cannot continue. PFR_ERR_IO, PFR_ERR_CHANGED, PFR_ERR_MEMORY; PFR_ERR_LIMIT if there
 * are more records than pfr_limits.records, or another limit was reached.
 */
pfr_status pfr_next(pfr_reader *reader, pfr_record *rec, pfr_error *err);

/*
 * pfr_rewind - continue at the first record. Events and features remain known; the counts of pfr_get_quality() start
 * again from 0.
 *
 * Returns PFR_OK, or PFR_ERR_USAGE for a stream that was opened without `spool`.
 */
pfr_status pfr_rewind(pfr_reader *reader, pfr_error *err);

/*
 * pfr_payload - read the data that follow the last record: rec.payload bytes, of AUXTRACE and HEADER_TRACING_DATA.
 *
 * Copies up to `length` bytes from `offset` in the payload to `to`, and sets *got to the number copied. *got is 0 at or
 * after the end of the payload. It may be less than `length` before the end: call again with offset + *got. On a stream
 * set pfr_open_options.keep_aux, and do not go back: offsets must ascend.
 *
 * Returns PFR_OK, PFR_HOLE if the input is damaged here, or an error of pfr_next().
 */
pfr_status pfr_payload(pfr_reader *reader, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);

/* How the records are stored. */
typedef enum pfr_container {
    /* A file with a header of 104 or 72 bytes, or an XRay trace. */
    PFR_FILE,
    /* A stream with a header of 16 bytes. Events and features are records. It may be stored in a file. */
    PFR_PIPE,
    /* A directory: `data` is a PFR_FILE, `data.N` are records only. */
    PFR_DIRECTORY
} pfr_container;

/* The format of the recording. */
typedef enum pfr_format { PFR_PERF_DATA, PFR_XRAY_FDR, PFR_XRAY_BASIC, PFR_XRAY_PROFILE } pfr_format;

/* The file header, and facts derived from it. Offsets and sizes are those of the file, or of `data` in a directory. */
typedef struct pfr_header {
    /* XRay traces are PFR_FILE, also if they come as a stream. */
    pfr_container container;
    /* perf.data: 1 is PERFFILE, 2 is PERFILE2. XRay: the version in the header. */
    uint32_t version;
    /* Byte order of the file. */
    bool big_endian;
    /* data.size is 0: the recorder ended before it could complete the header. Records extend to the end of the file,
       and the feature table is not used. */
    bool not_finalised;
    /* Number of files with records: 1, or more in a directory. */
    uint32_t parts;
    /* Bytes of the header; bytes of one entry of the attrs section, which is an attr and 16 bytes. */
    uint64_t header_size, attr_size;
    /* Offset and size of the records. The size is limited to the end of the file; 0 if not known. */
    uint64_t data_offset, data_size;
    /* The size of the records as the header states it. */
    uint64_t data_size_said;
    /* Offset of the table of feature sections. */
    uint64_t features_offset;
    /* Features that are present, PFR_FEATURE_* (constants.h): bit n is bit n % 64 of word n / 64. */
    uint64_t features[4];
    /* Size of the input, decompressed; UINT64_MAX if not known (streams). */
    uint64_t file_size;
    pfr_format format;
    /* The members below are of XRay traces only. */
    /* The recorder reports that its time stamp counter has a constant rate (constant_tsc) and runs in all sleep states
       (nonstop_tsc). */
    bool constant_tsc, nonstop_tsc;
    /* Integers are big-endian, but bit fields are allocated from the least significant bit, as LLVM's reader expects.
     */
    bool low_bits_first;
    /* Ticks per second of the timestamps; 0 if not known. */
    uint64_t cycle_frequency;
    /* Configured bytes of one buffer. Buffers in the file may be larger. */
    uint64_t buffer_size;
    /* Profiles: the time at which the profile was written (ns), and the id of the process that wrote it. */
    uint64_t profile_time, profile_pid;
} pfr_header;

/* pfr_get_header - the header. Never NULL, valid until pfr_close(). */
const pfr_header *pfr_get_header(const pfr_reader *reader);

/* One event: a counter that was recorded, with its settings. Events are numbered in the order of the file, from 0. */
typedef struct pfr_event {
    /* struct perf_event_attr of linux/perf_event.h, in this machine's byte order. */
    struct pfr_rec_attr attr;
    /* Ids that records use to refer to the event, in this machine's byte order. An array of `nr_ids` ids; nr_ids is 0
       if no ids were recorded. */
    const uint64_t *ids;
    uint64_t nr_ids;
    /* The recorded name, or if there is none, the name that perf derives from the attr. NUL-terminated text from the
       input. */
    const char *name;
    /* The name that perf derives from the attr and the tracepoint formats, whether or not a name was recorded. */
    const char *rebuilt;
    /* Unit of the counts, such as "Joules"; NULL if not recorded. */
    const char *unit;
    /* Factor from counts to the unit; 1 if not recorded. */
    double scale;
    /* `name` was recorded. */
    bool named;
    /* The attr as it is in the file. */
    pfr_bytes attr_bytes;
} pfr_event;

/* pfr_event_count - number of events known so far. In a stream it grows while records are read. */
uint32_t pfr_event_count(const pfr_reader *reader);

/*
 * pfr_get_event - an event by its index; NULL if `index` is not less than pfr_event_count().
 *
 * The pointer is valid until pfr_close(). While a stream is read, ask again after each pfr_next(): later records may
 * change names and units, and an earlier pointer may not show these changes.
 */
const pfr_event *pfr_get_event(const pfr_reader *reader, uint32_t index);

/* pfr_event_of_id - the index of the event with this id, or PFR_NO_EVENT if no event has it. */
int32_t pfr_event_of_id(const pfr_reader *reader, uint64_t id);

/*
 * One header feature: a section with facts about the machine or the recording, such as the host name or build-ids. The
 * features of a file are known when it is opened, those of a stream as their records are read.
 */
typedef struct pfr_feature {
    /* PFR_FEATURE_* (constants.h), or a number that this library does not know. */
    uint32_t bit;
    /* "HOSTNAME", ...; NULL if not known. */
    const char *name;
    /* Offset of the payload in the file. */
    uint64_t offset;
    /* The payload, as it is in the file. Length 0: the feature is a flag, or is empty. */
    pfr_bytes bytes;
    /* Number of the layout, for pfr_layout_name() and pfr_decode_feature(); 0 if not known. */
    uint64_t layout;
    /* PFR_OK, or PFR_HOLE if the section is partly or completely outside of the file. */
    pfr_status status;
} pfr_feature;

/* pfr_feature_count - number of features known so far. */
uint32_t pfr_feature_count(const pfr_reader *reader);

/*
 * pfr_get_feature - a feature by its index, in ascending order of bits in a file, in order of arrival in a stream.
 *
 * Reads the payload at the first call. The pointer is valid until pfr_close(); in a stream, until the next pfr_next().
 *
 * Returns NULL with err->status PFR_OK if `index` is not less than pfr_feature_count(), and NULL with PFR_ERR_IO,
 * PFR_ERR_CHANGED, PFR_ERR_MEMORY or PFR_ERR_LIMIT if the payload cannot be read.
 */
const pfr_feature *pfr_get_feature(pfr_reader *reader, uint32_t index, pfr_error *err);

/* pfr_find_feature - as pfr_get_feature(), by bit (PFR_FEATURE_*). NULL with err->status PFR_OK: not recorded. */
const pfr_feature *pfr_find_feature(pfr_reader *reader, uint32_t bit, pfr_error *err);

/*
 * pfr_decode_feature - decode the payload of a feature into its struct pfr_rec_feature_<name>.
 *
 *     struct pfr_rec_feature_hostname host;
 *     const pfr_feature *f = pfr_find_feature(reader, PFR_FEATURE_HOSTNAME, &err);
 *     if (f && pfr_decode_feature(reader, f, &host, sizeof host, &err) == PFR_OK)
 *         printf("%.*s\n", (int)host.hostname.length, host.hostname.at);
 *
 * Views in the struct have the lifetime of the feature. Returns as pfr_decode() (record.h).
 */
pfr_status pfr_decode_feature(const pfr_reader *reader, const pfr_feature *feature, void *body, size_t size,
                              pfr_error *err);

/*
 * pfr_check_feature - check a payload completely, including arrays, which pfr_decode_feature() does not decode.
 *
 * Returns PFR_OK if the payload contains everything that it announces, or its layout is not known; PFR_HOLE if a part
 * is missing (*err describes the first one) or the section is outside of the file.
 */
pfr_status pfr_check_feature(const pfr_reader *reader, const pfr_feature *feature, pfr_error *err);

/*
 * Counts of records, losses and damage. They grow while records are read and are complete after PFR_END. quality.h has
 * the names under which they are printed.
 */
typedef struct pfr_quality {
    /* Records returned, including those inside COMPRESSED records; SAMPLE records among these. */
    uint64_t records, samples;
    /* PFR_HOLE results: their number, and the bytes in them. */
    uint64_t holes, hole_bytes;
    /* Bytes of an incomplete last record, and bytes of records that the header announces after the end of the file. */
    uint64_t truncated_bytes;
    /* Records of types that this library does not know. They are returned as they are. */
    uint64_t unknown_records;
    /* Samples whose id belongs to no event; they cannot be decoded. */
    uint64_t unknown_ids;
    /* Losses that the kernel reports: records (LOST), samples (LOST_SAMPLES), samples dropped by a BPF filter. */
    uint64_t lost_records, lost_samples, lost_samples_bpf;
    /* THROTTLE and UNTHROTTLE records: an event was paused because it came too often, or was resumed. */
    uint64_t throttled, unthrottled;
    /* AUX records with the flag TRUNCATED. */
    uint64_t aux_truncated;
    /* AUXTRACE_ERROR records. */
    uint64_t auxtrace_errors;
    /* As pfr_header.not_finalised. */
    bool not_finalised;
    /* The holes by kind; their sum is `holes`. */
    /* A complete record whose body does not fit its type. */
    uint64_t bad_records;
    /* Bytes between records that are not a record. */
    uint64_t garbage;
    /* The end of the file, of a record or of its payload is missing. */
    uint64_t cut;
    /* Data that could not be decompressed. */
    uint64_t bad_compressed;
    /* Wrong numbers in the file header, the feature table or records that describe the recording. */
    uint64_t bad_header;
    /* XRay: a record at a place where no writer puts it. The record is returned; the hole has length 0. */
    uint64_t bad_order;
    /* XRay, perfray's own recorder: function entries, exits and events that the recorder dropped. pfr_get_trace_loss()
       has the causes. */
    uint64_t lost_calls;
    /* XRay, perfray's own recorder: its space was used up and recording ended. Later calls are missing, not counted. */
    bool recorder_full;
} pfr_quality;

/* pfr_get_quality - the counts. Never NULL, valid until pfr_close(), updated while records are read. */
const pfr_quality *pfr_get_quality(const pfr_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
