/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SYMBOLS_WRITE_H
#define PFR_VIEW_SYMBOLS_WRITE_H
/* Interface of symbols_write.c; that file describes how it works. */
#include "view/symbols/symbols_parts.h"

pfr_status symbols_write_text(struct symbols *s, pfr_output *out, pfr_error *err);
pfr_status symbols_write_json(struct symbols *s, pfr_output *out, pfr_error *err);

#endif
