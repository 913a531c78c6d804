/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_REPAIR_HEADER_H
#define PFR_FILE_REPAIR_HEADER_H
/* What other files use of repair_header.c, which says how it works. */
#include "file/read/recording.h"

/* What cannot be right in the header, made right where the rest of the file tells how; each change is
 * a finding. */
/* Whether what follows the header is in the other byte order than its magic says; *swap_header: of its numbers. */
bool mend_order(pfr_reader *r, const uint8_t *header, bool *swap_header);
pfr_status mend_header(pfr_reader *r, struct pfr_rec_file_header *h, pfr_error *err);
void mend_ids(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t entry, uint64_t *ids, uint64_t *length);
void mend_data_offset(pfr_reader *r, struct pfr_rec_file_header *h); /* once the events are known */
void mend_data_size(pfr_reader *r, struct pfr_rec_file_header *h);

#endif
