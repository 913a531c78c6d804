/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_FINDINGS_H
#define PFR_FILE_FINDINGS_H
/* What other files use of findings.c, which says how it works. */
#include "file/read/recording.h"

/* Offsets in a file of a folder need its name: " (in data.3)" behind the text. 0: `data`, which needs none.
 */
void error_in_part(pfr_error *err, uint32_t part);

#endif
