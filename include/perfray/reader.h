/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_READER_H
#define PERFRAY_READER_H
/*
 * Reading a recording, record by record, in file order.
 *
 * pfr_open looks at the content, never at the name: perf.data file (both versions, both byte orders), pipe stream,
 * directory; XRay trace, log and profile (trace.h); each also inside gzip, xz or zstd. COMPRESSED records are given
 * first, then the records that were in them.
 *
 * What you get through pfr_open is yours until pfr_close; a `const T *` returned by anything else belongs to the handle
 * in the first argument. A handle belongs to one thread at a time; two handles share nothing.
 *
 * Example:
 *
 *     pfr_record rec;
 *     pfr_status st;
 *     while ((st = pfr_next(reader, &rec, &err)) >= 0 && st != PFR_END)
 *         if (st == PFR_OK)
 *             count[rec.type & 127]++;
 *         else
 *             fprintf(stderr, "byte %" PRIu64 ": %s\n", err.offset, err.text);
 */
#include <perfray/alloc.h>
#include <perfray/limits.h>
#include <perfray/record.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_reader pfr_reader;

typedef struct pfr_open_options {
    size_t size;              /* sizeof(pfr_open_options) */
    const pfr_alloc *alloc;   /* NULL: malloc */
    const pfr_limits *limits; /* NULL: defaults */
    bool keep_aux;            /* give the data that follow AUXTRACE records: see pfr_payload */
    bool spool;               /* keep a stream in an unlinked file (TMPDIR or /tmp), so that it can be read twice */
} pfr_open_options;

/* `path` may be "-", standard input. NULL on failure, with *err: FORMAT, IO, PERMISSION, MEMORY, LIMIT, DAMAGE. */
pfr_reader *pfr_open(const char *path, const pfr_open_options *options, pfr_error *err);
/* On bytes in memory, which must outlive the reader. */
pfr_reader *pfr_open_bytes(const void *bytes, size_t length, const pfr_open_options *options, pfr_error *err);
/* NULL is fine. */
void pfr_close(pfr_reader *reader);

/*
 * The next record. PFR_OK: *rec is filled. PFR_HOLE: *err says which bytes could not be used and why; call again, and
 * reading goes on at the next place that believable records start from. When those bytes are one record whose body does
 * not hold what its type says, *rec is filled too, for those who show it; else rec->bytes is NULL. PFR_END.
 * Less than 0: the reader is done. In a stream, events and features come into being while you read.
 */
pfr_status pfr_next(pfr_reader *reader, pfr_record *rec, pfr_error *err);

/* Back to the first record. PFR_ERR_USAGE on a stream. */
pfr_status pfr_rewind(pfr_reader *reader, pfr_error *err);

/* Up to `length` bytes of the payload of the record that pfr_next gave last, from `offset` within it; only with
   keep_aux on streams. *got less than length: the payload ends there. */
pfr_status pfr_payload(pfr_reader *reader, uint64_t offset, void *to, size_t length, size_t *got, pfr_error *err);

typedef enum pfr_container { PFR_FILE, PFR_PIPE, PFR_DIRECTORY } pfr_container;

typedef enum pfr_format { PFR_PERF_DATA, PFR_XRAY_FDR, PFR_XRAY_BASIC, PFR_XRAY_PROFILE } pfr_format;

/* What stands before the records. */
typedef struct pfr_header {
    pfr_container container; /* a trace is PFR_FILE, however it comes */
    uint32_t version;        /* 1: PERFFILE, 2: PERFILE2; of a trace as written */
    bool big_endian;         /* the file's byte order */
    bool not_finalised; /* data size 0: the recorder died; data goes to the end of the file, features are not used */
    uint32_t parts;     /* files of records: 1, more in a directory */
    uint64_t header_size, attr_size;
    uint64_t data_offset, data_size; /* of the file or `data`; size as used, cut at the end of the file */
    uint64_t data_size_said;         /* as written */
    uint64_t features_offset;        /* table of feature sections */
    uint64_t features[4];            /* bit n of word n / 64: feature n is there */
    uint64_t file_size;              /* UINT64_MAX where not known */
    pfr_format format;
    /* of traces */
    bool constant_tsc, nonstop_tsc;     /* said of the clock */
    bool low_bits_first;                /* big-endian integers, bits as little-endian writers allocate them */
    uint64_t cycle_frequency;           /* ticks a second; 0: not known */
    uint64_t buffer_size;               /* as configured; buffers may be larger */
    uint64_t profile_time, profile_pid; /* of a profile: when it was written, ns, and of which process */
} pfr_header;

const pfr_header *pfr_get_header(const pfr_reader *reader);

/* One event of the recording, in the order of its attr. */
typedef struct pfr_event {
    struct pfr_rec_attr attr;
    const uint64_t *ids; /* this machine's byte order */
    uint64_t nr_ids;
    const char *name;     /* as recorded, else rebuilt from the attr as perf does; NUL-terminated */
    const char *rebuilt;  /* the name perf makes from the attr (and the tracepoint formats) alone */
    const char *unit;     /* NULL: none */
    double scale;         /* 1 unless said */
    bool named;           /* the name was recorded */
    pfr_bytes attr_bytes; /* as in the file */
} pfr_event;

uint32_t pfr_event_count(const pfr_reader *reader);
const pfr_event *pfr_get_event(const pfr_reader *reader, uint32_t index); /* NULL past the end */
/* Index of the event with this id, PFR_NO_EVENT when there is none. */
int32_t pfr_event_of_id(const pfr_reader *reader, uint64_t id);

/* One header feature, by ascending bit. */
typedef struct pfr_feature {
    uint32_t bit;
    const char *name;  /* "HOSTNAME", NULL when not known */
    uint64_t offset;   /* of the payload in the file */
    pfr_bytes bytes;   /* the payload; length 0: flag, or nothing recorded */
    uint64_t layout;   /* for pfr_decode_feature; 0 when not known */
    pfr_status status; /* PFR_OK; PFR_HOLE: the section lies (partly) outside of the file */
} pfr_feature;

uint32_t pfr_feature_count(const pfr_reader *reader);
/* Reads the payload when it was not read before. NULL past the end, or on failure with *err. */
const pfr_feature *pfr_get_feature(pfr_reader *reader, uint32_t index, pfr_error *err);
/* By bit; NULL when the recording does not have it (err->status PFR_OK) or on failure. */
const pfr_feature *pfr_find_feature(pfr_reader *reader, uint32_t bit, pfr_error *err);
/* Fills struct pfr_rec_feature_<name>. As pfr_decode. */
pfr_status pfr_decode_feature(const pfr_reader *reader, const pfr_feature *feature, void *body, size_t size,
                              pfr_error *err);

/* Whether all that the payload says it holds is there. PFR_HOLE: *err names the first thing that is not, or says that
   the section lies outside of the file. PFR_OK also for what no table knows. */
pfr_status pfr_check_feature(const pfr_reader *reader, const pfr_feature *feature, pfr_error *err);

/* What was wrong or worth knowing, counted while reading; complete after PFR_END. One line of `info` (quality.h). */
typedef struct pfr_quality {
    uint64_t records, samples;
    uint64_t holes, hole_bytes;                            /* stretches that could not be used */
    uint64_t truncated_bytes;                              /* of the last record, or missing at the end */
    uint64_t unknown_records;                              /* types no table knows; kept */
    uint64_t unknown_ids;                                  /* samples whose id belongs to no event */
    uint64_t lost_records, lost_samples, lost_samples_bpf; /* told by the kernel */
    uint64_t throttled, unthrottled;
    uint64_t aux_truncated; /* AUX records that say so */
    uint64_t auxtrace_errors;
    bool not_finalised;
    /* the holes by kind; the sum is `holes` */
    uint64_t bad_records;    /* one record whose body does not hold what its type says */
    uint64_t garbage;        /* bytes between records */
    uint64_t cut;            /* the end is missing */
    uint64_t bad_compressed; /* could not be decompressed */
    uint64_t bad_header;     /* numbers outside of the records that cannot be right */
    uint64_t bad_order;      /* records of a trace where no writer puts them; they are given, the hole has no bytes */
    /* told by the recorder of a trace; see pfr_get_trace_loss */
    uint64_t lost_calls; /* enters, exits and events that it dropped */
    bool recorder_full;  /* its room was used up: what came later is missing, and not counted */
} pfr_quality;

const pfr_quality *pfr_get_quality(const pfr_reader *reader);

#ifdef __cplusplus
}
#endif
#endif
