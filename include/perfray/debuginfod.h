/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_DEBUGINFOD_H
#define PERFRAY_DEBUGINFOD_H
/*
 * pfr_debuginfod_fetch - download missing symbols and debug information from debuginfod servers, by build-id.
 *
 * pfr_debuginfod_source - download one source file of an object, by the object's build-id.
 *
 * These are the only functions of the library that use the network, and they do so only when they are called. The
 * servers learn the build-ids of the objects in the recording, and the paths of source files.
 *
 * Use it before a report of a recording whose objects or debug files are not on this machine. pfr_symbols_print()
 * (symbols.h) shows which files are missing. The program debuginfod-find of elfutils downloads the files; it must be
 * installed.
 *
 * Threads: uses the calling thread, and the reader must not be used by others meanwhile.
 *
 * Example:
 *
 *     char folder[PFR_DEBUGINFOD_ROOM];
 *     pfr_symbol_options names = {.size = sizeof names};
 *     pfr_debuginfod_options how = {.size = sizeof how, .urls = "http://127.0.0.1:8002"};
 *     if (pfr_debuginfod_fetch(reader, &how, folder, &err) == PFR_OK)
 *         names.fetched = folder;
 *     pfr_report_options options = {.size = sizeof options, .naming = &names};
 */
#include <perfray/reader.h>
#include <perfray/symbol_options.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of the array that pfr_debuginfod_fetch() fills with the name of a directory. */
#define PFR_DEBUGINFOD_ROOM 1024

/* All pointers must remain valid while pfr_debuginfod_fetch() runs. */
typedef struct pfr_debuginfod_options {
    /* sizeof(pfr_debuginfod_options) */
    size_t size;
    /* URLs of the servers, separated by blanks. NULL or "": those of the environment variable DEBUGINFOD_URLS. */
    const char *urls;
    /* Objects and debug files that these options find are not downloaded. NULL: the defaults. */
    const pfr_symbol_options *naming;
    /* Maximum bytes of one file. 0: 1 GiB. */
    uint64_t bytes_most;
    /* Maximum seconds for all downloads together. 0: 90. */
    uint32_t seconds_most;
    /* Called with one sentence for each file that was requested. The sentence gives the size of the file, or says that
       no server has the file or that the time was up. It is valid during the call. May be NULL. */
    void (*note)(void *context, const char *sentence);
    /* First argument of `note`. */
    void *context;
} pfr_debuginfod_options;

/*
 * pfr_debuginfod_fetch - find the objects of the recording that have samples, and download what is missing: an object
 * that is not on this machine, and the debug information of an object without symbols or lines.
 *
 * Objects with the most samples are requested first, until all are requested or the time is up. Objects without a
 * recorded build-id are skipped.
 *
 * `folder` is set to the directory of the downloads, for pfr_symbol_options.fetched: that of the environment variable
 * DEBUGINFOD_CACHE_PATH, or else debuginfod_client in $XDG_CACHE_HOME or ~/.cache. Downloads remain there.
 *
 * The recording is read once, and the reader is rewound afterwards. A stream must be opened with
 * pfr_open_options.spool.
 *
 * Returns PFR_OK, whether or not anything was found, or:
 * - PFR_ERR_USAGE if no server is known, the recording is an XRay trace (which has no build-ids), or it is a stream
 *   without `spool`
 * - PFR_ERR_IO if debuginfod-find cannot be run, or there is no directory for the downloads
 * - otherwise an error of pfr_next()
 */
pfr_status pfr_debuginfod_fetch(pfr_reader *reader, const pfr_debuginfod_options *options,
                                char folder[PFR_DEBUGINFOD_ROOM], pfr_error *err);

/*
 * pfr_debuginfod_source - download the source file `path`, as debug information names it, of the object with this
 * build-id, for pfr_annotate_options.find_source. `options->naming` and `note` are not used; `seconds_most` is for this
 * file.
 *
 * Returns PFR_OK if `found`, `room` bytes large, was filled with the path of the download; PFR_END if no server has the
 * file, or it took too long, or `path` does not begin with '/'; USAGE, IO and MEMORY as pfr_debuginfod_fetch().
 */
pfr_status pfr_debuginfod_source(const pfr_debuginfod_options *options, const uint8_t *build_id, size_t build_id_size,
                                 const char *path, char *found, size_t room, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
