/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_XRAY_OPEN_H
#define PFR_FILE_XRAY_OPEN_H
/* Opening, rewinding and closing of traces. */
#include "file/xray/xray.h"

/* Whether the bytes begin a trace. PFR_END: they do not; < 0: a trace that cannot be read. */
pfr_status xray_recognise(pfr_reader *r, const uint8_t *bytes, size_t have, pfr_error *err);

/* Moves to the first record. */
void xray_rewind(pfr_reader *r);
void xray_close(pfr_reader *r);

/* If `whole` has a trace, gives `r`, which is a copy of `whole`, a trace of its own. */
pfr_status xray_share(pfr_reader *r, const pfr_reader *whole, pfr_error *err);

#endif
