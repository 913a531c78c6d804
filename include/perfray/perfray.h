/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRAY_PERFRAY_H
#define PERFRAY_PERFRAY_H
/* All of the library. The runtime, a library of its own, has <perfray/runtime.h>. */
#include <perfray/alloc.h>
#include <perfray/debug.h>
#include <perfray/debuginfod.h>
#include <perfray/dump.h>
#include <perfray/edit.h>
#include <perfray/error.h>
#include <perfray/export.h>
#include <perfray/flame.h>
#include <perfray/info.h>
#include <perfray/latency.h>
#include <perfray/limits.h>
#include <perfray/model.h>
#include <perfray/out.h>
#include <perfray/quality.h>
#include <perfray/reader.h>
#include <perfray/record.h>
#include <perfray/report.h>
#include <perfray/samples.h>
#include <perfray/sampling.h>
#include <perfray/script.h>
#include <perfray/selection.h>
#include <perfray/spans.h>
#if !defined __has_include || __has_include(<perfray/sql.h>)
#include <perfray/sql.h>
#endif
#include <perfray/symbolize.h>
#include <perfray/symbol_options.h>
#include <perfray/symbols.h>
#include <perfray/trace.h>
#include <perfray/tracing.h>
#include <perfray/verify.h>
#include <perfray/views.h>
#include <perfray/writer.h>

#endif
