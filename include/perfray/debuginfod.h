/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DEBUGINFOD_H
#define PERFRAY_DEBUGINFOD_H
/*
 * Symbols and debugging information from debuginfod servers, by build-id: the one thing in this library that speaks to
 * the network, and only when it is called.
 *
 *     char folder[PFR_DEBUGINFOD_ROOM];
 *     pfr_debuginfod_options how = {.size = sizeof how, .urls = "http://127.0.0.1:8002"};
 *     if (pfr_debuginfod_fetch(reader, &how, folder, &err) == PFR_OK)
 *         names.fetched = folder;
 */
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PFR_DEBUGINFOD_ROOM 1024

typedef struct pfr_debuginfod_options {
    size_t size;      /* sizeof(pfr_debuginfod_options) */
    const char *urls; /* of servers, with blanks between; NULL or "": those of the variable DEBUGINFOD_URLS */
    const pfr_symbol_options *naming; /* what is found by symfs and debug_dir is not fetched; NULL: the defaults */
    uint64_t bytes_most;              /* of one file; 0: 1 GiB */
    uint32_t seconds_most;            /* for all of them; 0: 90 */
    void (*note)(void *context, const char *sentence); /* told of each object that was asked for; may be NULL */
    void *context;
} pfr_debuginfod_options;

/*
 * Counts the samples of each object of the recording, and asks for what is not here of those that the recording knows
 * the build-id of: hottest first, until all are asked for or the time is over. debuginfod-find (elfutils) does it, in a
 * process of its own, and keeps the files in `folder`, which it fills in: that of the variable DEBUGINFOD_CACHE_PATH,
 * else where debuginfod keeps them ($XDG_CACHE_HOME or ~/.cache, debuginfod_client).
 *
 * The reader, which must be seekable or have a spool, stands at its beginning afterwards. PFR_OK, whatever was found;
 * PFR_ERR_USAGE: there are no urls, or it is a trace; PFR_ERR_IO: debuginfod-find cannot be run, or there is no folder
 * for files; else as pfr_next.
 */
pfr_status pfr_debuginfod_fetch(pfr_reader *reader, const pfr_debuginfod_options *options,
                                char folder[PFR_DEBUGINFOD_ROOM], pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
