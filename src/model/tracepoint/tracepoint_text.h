/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_TRACEPOINT_TEXT_H
#define PFR_MODEL_TRACEPOINT_TEXT_H
/*
 * The text of a tracepoint sample, as `perf script -F trace` prints it: by libtraceevent, from the formats that the
 * recording itself holds (feature TRACING_DATA, or the record of that name in a stream).
 *
 *     struct trace_text *trace;
 *     PFR_TRY(trace_text_open(&trace, reader, &memory, err));
 *     if (trace)
 *         PFR_TRY(trace_text_write(trace, event->attr.config, s.raw.data.at, s.raw.data.length, s.cpu, out, err));
 *     trace_text_close(trace);
 *
 * Formats are programs, and these come from a stranger. One that a strict grammar understands (tracepoint_shape.h:
 * nearly all that kernels write) is printed here, after the places of the record's own arrays were held against its
 * length. Any other is printed in a child process that may crash, hang or die of hunger alone (tracepoint_child.h);
 * where it does, the fields are printed without the print format, as perf does with one it cannot read: "[FAILED TO
 * PARSE] a=1 b=2". So no record and no format can crash, hang or lead out of the sample.
 *
 * What the library allocates is its own; its messages go nowhere.
 */
#include "model/tracepoint/tracepoint_printer.h"

#include <perfray/out.h>
#include <perfray/reader.h>

struct memory;
struct trace_text;

/* PFR_OK with *text NULL: the recording has no tracing data (a stream: not yet), or none that can be read, which the
   reader tells as a hole or pfr_check_feature does. Else MEMORY, LIMIT, IO. The reader and the memory must outlive it.
 */
pfr_status trace_text_open(struct trace_text **text, pfr_reader *reader, struct memory *memory, pfr_error *err);
/* The same for tracing data that are at hand; the bytes must outlive it. */
pfr_status trace_text_open_blob(struct trace_text **text, pfr_bytes bytes, struct memory *memory, pfr_error *err);
/* NULL is fine. */
void trace_text_close(struct trace_text *text);

/* Where names of addresses come from (%ps and the like): NULL, as at the start, prints addresses, as perf does where it
   has no symbols. Formats printed apart have no names. */
void trace_text_names(struct trace_text *text, trace_name_fn *name, void *context);

/* From now on formats that are not understood give their fields, and no process is made. For hosts that cannot have
 * one. */
void trace_text_no_children(struct trace_text *text);

/*
 * The text of a record: of the format whose number the record begins with, as perf takes it, else of that of `config`;
 * nothing where there is neither. No event name in front, no line end behind. A record that is shorter than its fields
 * gives "[12 of 84 bytes]" in place of a text. Errors: MEMORY and LIMIT alone.
 */
pfr_status trace_text_write(struct trace_text *text, uint64_t config, const uint8_t *raw, size_t length, uint32_t cpu,
                            pfr_output *out, pfr_error *err);

/*
 * What a record says of one field: what stands in its text behind `name=`, up to a blank, and where there is no such
 * thing, or with `plain`, the field by itself. name NULL: all fields by themselves. Formats that are not understood
 * have no text here. *has false: the format has no such field, and nothing is written.
 */
pfr_status trace_text_field(struct trace_text *text, uint64_t config, const uint8_t *raw, size_t length,
                            const char *name, bool plain, pfr_output *out, bool *has, pfr_error *err);
/* The fields of a format, in order; those that all formats have first. NULL behind the last. *name lives as long as
   the text. */
pfr_status trace_text_field_name(struct trace_text *text, uint64_t config, size_t number, const char **name,
                                 bool *is_common, pfr_error *err);

#endif
