/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DUMP_H
#define PERFRAY_DUMP_H
/*
 * pfr_dump - print every record of a recording with every field, in file order.
 *
 * Use it to see exactly what a file contains, for example to debug a recorder or a reader. script.h prints samples in
 * timestamp order with symbols.
 *
 * In TEXT and JSON_LINES the file header, the attrs with their ids and the features come first, as pseudo records
 * ("file_header", "file_attr", "feature_hostname", "xray_header", ...). Records of XRay traces are printed with their
 * process, thread, CPU and time in ticks, where these are known.
 *
 * Nothing is omitted: unknown record types and bytes after the last known field are printed as bytes. Only reserved
 * fields that are 0 are not printed.
 *
 * Memory: working memory is taken from the allocator of `out` and released before the function returns.
 *
 * Threads: uses the calling thread only.
 *
 * Example, the mappings and thread names as JSON:
 *
 *     pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_JSON_LINES, .only = "mmap2,comm"};
 *     pfr_status status = pfr_dump(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * How records are printed. Names from the recording are escaped, unless pfr_output_raw_names() was called on the
 * output.
 */
typedef enum pfr_dump_format {
    /* One line per record, with its fields indented below it. */
    PFR_DUMP_TEXT,
    /* JSON Lines, one object per record; docs/json/dump.schema.json describes them. */
    PFR_DUMP_JSON_LINES,
    /* The lines of `perf report -D`, records only. */
    PFR_DUMP_PERF
} pfr_dump_format;

/* All pointers must remain valid while pfr_dump() runs. */
typedef struct pfr_dump_options {
    /* sizeof(pfr_dump_options). Members beyond it have their defaults. */
    size_t size;
    pfr_dump_format format;
    /* TEXT: print the bytes of each field beside it, and do not shorten anything. */
    bool hex;
    /* Only records of these types, by name or number, comma-separated: "sample,mmap2,73". NULL: all. */
    const char *only;
    /* Only records that begin in the range [offset_from, offset_to) of the file. offset_to 0: to the end. */
    uint64_t offset_from;
    uint64_t offset_to;
    /* Only records with a time in [time_from, time_to], in ns. time_to 0: to the end. Both 0: all records, including
       those without a time. */
    uint64_t time_from;
    uint64_t time_to;
    /* Name of the recording, for PFR_DUMP_PERF. NULL: "". */
    const char *name;
    /*
     * Extract the AUX area data into this directory instead of printing records: data of AUXTRACE records to
     * aux-IDX-TID-CPU.bin, AUX data of samples to aux-sample-TID-CPU.bin. A table of names, records and bytes is
     * printed. The directory is created with mode 0700 if it does not exist. Existing files are never written to. On
     * failure the files and the directory that were created are removed. Open a stream with keep_aux. NULL: print
     * records.
     */
    const char *aux_folder;
    /* Called for each unreadable range, record or section. May be NULL. */
    void (*hole)(void *context, const pfr_error *hole);
    /* First argument of `hole` and `note`. */
    void *hole_context;
    /* Filled with counts, also on failure. Its `size` must be set. May be NULL. */
    struct pfr_dump_counts *counts;
    /* XRay: print function names from these objects or instrumentation maps; see pfr_symbol_options.instr_maps. NULL:
       print function numbers. */
    const char *const *instr_maps;
    /* Called at the end with one sentence if the functions of the trace do not match instr_maps. May be NULL. */
    void (*note)(void *context, const char *sentence);
} pfr_dump_options;

/* Counts of printed and of damaged records. A recording without damage has 0 in `damaged` and `holes`. */
typedef struct pfr_dump_counts {
    /* sizeof(pfr_dump_counts), set by the caller. Members beyond it are not written. */
    size_t size;
    /* Records printed, without pseudo records. */
    uint64_t records;
    /* Records of unknown types among `records`; printed as bytes. */
    uint64_t unknown;
    /* Records whose bytes do not fit their layout; printed as bytes, and reported to `hole`. */
    uint64_t damaged;
    /* Records with bytes after their last known field, and the number of these bytes. */
    uint64_t trailing;
    uint64_t trailing_bytes;
    /* Ranges of the input that are not records. */
    uint64_t holes;
} pfr_dump_counts;

/*
 * pfr_dump - print the records that `options` select. NULL: everything as text.
 *
 * The reader must be new or just rewound; it is read to the end.
 *
 * Returns PFR_OK, or:
 * - PFR_HOLE if the dump is complete except for ranges, records or sections that could not be used,
 *   each passed to `hole`
 * - PFR_ERR_USAGE if options->only names no record type, an instrumentation map cannot be used, or an option does not
 *   apply to this kind of recording
 * - PFR_ERR_IO or PFR_ERR_PERMISSION if writing failed or a file could not be created
 * - otherwise an error of pfr_next()
 *
 * Output printed before an error remains.
 */
pfr_status pfr_dump(pfr_reader *reader, const pfr_dump_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
