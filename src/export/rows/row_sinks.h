/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EXPORT_ROW_SINKS_H
#define PFR_EXPORT_ROW_SINKS_H
/* All row sinks; sinks.c lists them. */
#include "export/rows/rows.h"

extern const struct row_sink sink_callgrind, sink_chrome, sink_csv, sink_ctf, sink_dot, sink_firefox, sink_jsonl,
    sink_mermaid;
extern const struct row_sink sink_otlp, sink_parquet, sink_perfetto, sink_speedscope;

#endif
