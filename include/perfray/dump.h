/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DUMP_H
#define PERFRAY_DUMP_H
/*
 * Every record of a recording with every field, in file order.
 *
 * In text and JSON lines the header, the attrs with their ids and the features come first, as pseudo records
 * ("file_header", "file_attr", "feature_hostname", "xray_header", ...). Records of a trace have their process, thread,
 * cpu and time in ticks beside their name, where these are known. Types that no table knows, and bytes behind the last
 * known field, are shown as they are: nothing is left out but reserved fields that are 0.
 *
 * Example:
 *
 *     pfr_dump_options options = {.size = sizeof options, .format = PFR_DUMP_JSON_LINES, .only = "mmap2,comm"};
 *     pfr_status s = pfr_dump(reader, &options, out, &err);
 */
#include <perfray/out.h>
#include <perfray/reader.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum pfr_dump_format {
    PFR_DUMP_TEXT,       /* a line a record, its fields indented below it */
    PFR_DUMP_JSON_LINES, /* a JSON object a line: docs/json/dump.schema.json */
    PFR_DUMP_PERF        /* the lines of `perf report -D`, records alone */
} pfr_dump_format;

typedef struct pfr_dump_options {
    size_t size; /* sizeof(pfr_dump_options) */
    pfr_dump_format format;
    bool hex;             /* text: the bytes of each field beside it, and nothing shortened */
    const char *only;     /* names or numbers of types, with commas between: "sample,mmap2,73"; NULL: all */
    uint64_t offset_from; /* records that begin in [offset_from, offset_to); offset_to 0: to the end */
    uint64_t offset_to;
    uint64_t time_from; /* records with a time in [time_from, time_to], ns; both 0: all, also those without time */
    uint64_t time_to;   /* 0: to the end */
    const char *name;   /* of the input, for PFR_DUMP_PERF; NULL: "" */
    /* Not NULL: nothing is dumped, the AUX area data are written into this folder, which is made (mode 0700) when it
       is not there, as aux-IDX-TID-CPU.bin (AUXTRACE records) and aux-sample-TID-CPU.bin (AUX data of samples); no file
       that exists is written to. A table of names, records and bytes is printed. When that fails (< 0), no table is
       printed, and the files and the folder that were made are removed. On streams open with keep_aux. */
    const char *aux_folder;
    /* Called for each stretch of the recording that could not be used (status PFR_HOLE). NULL: not interested. */
    void (*hole)(void *context, const pfr_error *hole);
    void *hole_context;
    /* Filled when not NULL. */
    struct pfr_dump_counts *counts;
    /* Of a trace: objects (or what `llvm-xray extract` wrote of them) that name its functions, the program first, then
       its shared objects in the order of loading; ends with NULL; NULL: none */
    const char *const *instr_maps;
    /* told in the end when the functions of the trace are not those of the maps, one sentence; may be NULL */
    void (*note)(void *context, const char *sentence);
} pfr_dump_options;

typedef struct pfr_dump_counts {
    size_t size;       /* sizeof(pfr_dump_counts), set by the caller */
    uint64_t records;  /* shown, pseudo records not counted */
    uint64_t unknown;  /* of a type no table knows: shown as bytes */
    uint64_t damaged;  /* whose bytes do not fit their layout: shown as bytes, each also told to hole() */
    uint64_t trailing; /* with bytes behind the last known field */
    uint64_t trailing_bytes;
    uint64_t holes; /* stretches of the input that are no records */
} pfr_dump_counts;

/*
 * Prints what options ask for (NULL: everything as text). The reader must be fresh or just rewound; it is read to the
 * end. PFR_OK: all was read; PFR_HOLE: the dump is complete but for stretches, records or sections that could not be
 * used, each told to hole(); PFR_ERR_USAGE: options.only names no type, a map cannot be used, or something
 * asked for is not of this kind of recording; other < 0: reading or writing ended early.
 */
pfr_status pfr_dump(pfr_reader *reader, const pfr_dump_options *options, pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
