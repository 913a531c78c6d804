/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_OPEN_H
#define PFR_FILE_XRAY_OPEN_H
/* What other files use of xray_open.c, which says how it works. */
#include "file/xray/xray.h"

/* Whether the bytes begin a trace. PFR_END: they do not; < 0: they do, but not one that can be read. */
pfr_status trace_recognise(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err);

/* To the first record again. */
void trace_rewind(pfr_reader *r);
void trace_close(pfr_reader *r);

/* `r`, a copy of `whole`, gets a trace of its own if that is one. */
pfr_status trace_share(pfr_reader *r, const pfr_reader *whole, pfr_error *err);

#endif
