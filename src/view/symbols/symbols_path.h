/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SYMBOLS_PATH_H
#define PFR_VIEW_SYMBOLS_PATH_H
/* Interface of symbols_path.c; that file describes how it works. */
#include "view/symbols/symbols_parts.h"

/* The recorded path of a row's object; if the object is not a file, its name in reports. */
struct intern_text symbols_path(const struct symbols *s, const struct symbols_row *row);

#endif
