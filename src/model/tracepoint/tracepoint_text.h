/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_TEXT_H
#define PFR_MODEL_TRACEPOINT_TEXT_H
/*
 * The text of a tracepoint sample, as `perf script -F trace` prints it: by libtraceevent, from the formats in the
 * recording (feature TRACING_DATA, or the record of that name in a stream).
 *
 *    struct tracepoint_text *trace;
 *    PFR_TRY(tracepoint_text_open(&trace, reader, &memory, err));
 *    if (trace)
 *        PFR_TRY(tracepoint_text_write(trace, event->attr.config, s.raw.data.at, s.raw.data.length, s.cpu, out, err));
 *    tracepoint_text_close(trace);
 *
 * Formats are programs, and these come from an untrusted file. A format that a strict grammar accepts
 * (tracepoint_shape.h: nearly all that kernels write) is printed in this process, after checking the record's dynamic
 * arrays against its length. Any other format is printed in a child process, in which a crash, a hang or exhausted
 * memory does no harm (tracepoint_child.h). If that fails, the fields are printed without the print format, as perf
 * does for a format that it cannot parse: "[FAILED TO PARSE] a=1 b=2". So no record and no format can cause a crash, a
 * hang or a read outside of the sample.
 *
 * The library allocates its own memory; its messages are discarded.
 */
#include "model/tracepoint/tracepoint_printer.h"

#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;
struct tracepoint_text;

/*
 * PFR_OK with *text NULL: the recording has no tracing data (in a stream: not yet), or the data are unreadable, which
 * the reader or pfr_check_feature reports. Otherwise PFR_ERR_MEMORY, PFR_ERR_LIMIT, PFR_ERR_IO. The reader and the
 * memory must outlive *text.
 */
pfr_status tracepoint_text_open(struct tracepoint_text **text, pfr_reader *reader, struct memory *memory,
                                pfr_error *err);
/* tracepoint_text_open for tracing data in memory. The bytes must outlive *text. */
pfr_status tracepoint_text_open_blob(struct tracepoint_text **text, pfr_bytes bytes, struct memory *memory,
                                     pfr_error *err);
/* NULL is allowed. */
void tracepoint_text_close(struct tracepoint_text *text);

/* Sets the source of names for addresses (%ps and similar). NULL, the default, prints addresses, as perf does without
   symbols. Formats printed in the child process get no names. */
void tracepoint_text_names(struct tracepoint_text *text, tracepoint_name_fn *name, void *context);

/* Forks no process, for hosts that must not fork. Formats that are not understood then print only their fields. */
void tracepoint_text_no_children(struct tracepoint_text *text);

/*
 * Writes the text of a record. The format is the one whose id is at the start of the record, as in perf, or else the
 * format of `config`. Without either format, nothing is written. The event's name and a newline are not written. A
 * record shorter than its fields gives "[12 of 84 bytes]" instead. Fails only with PFR_ERR_MEMORY and PFR_ERR_LIMIT.
 */
pfr_status tracepoint_text_write(struct tracepoint_text *text, uint64_t config, const uint8_t *raw, size_t length,
                                 uint32_t cpu, pfr_output *out, pfr_error *err);

/*
 * Writes the value of one field: the text after `name=` in the record's text, up to a blank. Without such text, or with
 * `plain`, writes the raw field. name NULL: all raw fields. For formats that are not understood, only raw fields are
 * written. *has false: the format has no such field, and nothing is written.
 */
pfr_status tracepoint_text_field(struct tracepoint_text *text, uint64_t config, const uint8_t *raw, size_t length,
                                 const char *name, bool plain, pfr_output *out, bool *has, pfr_error *err);
/* Sets *name to the name of field `number` of a format; fields common to all formats come first. After the last one,
   NULL. The name is valid as long as `text`. */
pfr_status tracepoint_text_field_name(struct tracepoint_text *text, uint64_t config, size_t number, const char **name,
                                      bool *is_common, pfr_error *err);

#endif
