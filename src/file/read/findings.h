/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FINDINGS_H
#define PFR_FILE_FINDINGS_H
/* Names of parts in error texts. found(), also defined in findings.c, is declared in recording.h. */
#include "file/read/recording.h"

/* Appends the file name of a directory's part to the text, " (in data.3)". Part 0 is `data` and gets no name. */
void error_in_part(pfr_error *err, uint32_t part);

#endif
