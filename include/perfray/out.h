/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_OUT_H
#define PERFRAY_OUT_H
/*
 * pfr_output - the buffered file descriptor to which reports, tables and dumps are printed.
 *
 * Errors are sticky: after the first failed write everything else is discarded, and pfr_output_flush() and
 * pfr_output_close() return the failure. A printing function therefore does not have to check each write, but a program
 * must check the result of pfr_output_close(): until then data may be only in the buffer.
 *
 * A write that is interrupted by a signal is continued. If a non-blocking descriptor is not ready, the output waits for
 * it.
 *
 * Threads: an output may be used by one thread at a time.
 *
 * Example, printing to standard output:
 *
 *     pfr_output *out = pfr_output_open(STDOUT_FILENO, false, &err);
 *     if (out) {
 *         pfr_status printed = pfr_info_print(reader, NULL, out, &err);
 *         pfr_status written = pfr_output_close(out, printed < 0 ? NULL : &err);
 *         if (printed < 0 || written < 0)
 *             fprintf(stderr, "%s\n", err.text);
 *     }
 */
#include <perfray/alloc.h>
#include <perfray/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pfr_output pfr_output;

/*
 * pfr_output_open - an output that writes to the open file descriptor `fd`, at its current position.
 *
 * If `owned` is true, the descriptor belongs to the output: pfr_output_close() closes it, and it is also closed if this
 * function fails. Otherwise it remains open in all cases.
 *
 * Returns NULL if there is no memory (PFR_ERR_MEMORY). The descriptor is not checked; a bad one fails at the first
 * write. The caller releases the output by pfr_output_close().
 */
pfr_output *pfr_output_open(int fd, bool owned, pfr_error *err);

/*
 * pfr_output_open_alloc - as pfr_output_open, with the caller's allocator (NULL: malloc).
 *
 * pfr_info_print() and pfr_dump() take their working memory from this allocator. Data that the reader loads for them is
 * allocated by the allocator of the reader.
 */
pfr_output *pfr_output_open_alloc(int fd, bool owned, const pfr_alloc *alloc, pfr_error *err);

/*
 * pfr_output_raw_names - choose whether names from the input are printed unchanged (true) or escaped (false, the
 * default).
 *
 * Raw names may contain terminal control sequences and line breaks. Use them only for trusted recordings, or for output
 * that must be byte-identical to perf's. CSV and JSON contain the escaped form in either case.
 */
void pfr_output_raw_names(pfr_output *out, bool raw);

/*
 * pfr_output_columns - set the width of the terminal in columns (0, the default: no limit).
 *
 * Tables are then made to fit: names that are too long are cut in the middle, and pfr_latency_print() leaves out
 * columns and lists the omitted ones.
 */
void pfr_output_columns(pfr_output *out, unsigned columns);

/*
 * pfr_escape - write the escaped form of `length` bytes: text that is safe on a terminal and in a line-based format.
 *
 * Visible UTF-8 text is kept. Each byte of a control character, an invisible or bidirectional formatting character, or
 * invalid UTF-8 becomes \xNN in lower case. A backslash is kept, except in front of x and two hexadecimal digits, where
 * it becomes \x5c; so the original bytes can be restored exactly.
 *
 * Writes at most `room` bytes (at least 1) to `to`, always NUL-terminated. If the room is not sufficient, the text is
 * cut after a whole character. Returns the length without the NUL. 4 * length + 1 bytes are always sufficient.
 */
size_t pfr_escape(char *to, size_t room, const void *bytes, size_t length);

/* pfr_output_text - print NUL-terminated text of the program's own, without escaping. */
void pfr_output_text(pfr_output *out, const char *text);

/* pfr_output_failed - whether a write failed. A long computation can end early then, since nothing more is written. */
bool pfr_output_failed(const pfr_output *out);

/*
 * pfr_output_flush - write what is in the buffer.
 *
 * Returns PFR_OK, or the first failure of this output: PFR_ERR_IO (with the system's reason in err->text), or
 * PFR_ERR_MEMORY.
 */
pfr_status pfr_output_flush(pfr_output *out, pfr_error *err);

/*
 * pfr_output_close - flush the output, close an owned descriptor, and release the memory, in all cases.
 *
 * Returns as pfr_output_flush(); a failed close(2) of an owned descriptor is PFR_ERR_IO as well. NULL is allowed and
 * returns PFR_OK.
 */
pfr_status pfr_output_close(pfr_output *out, pfr_error *err);

#ifdef __cplusplus
}
#endif
#endif
