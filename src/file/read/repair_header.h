/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_REPAIR_HEADER_H
#define PFR_FILE_REPAIR_HEADER_H
/* Corrects impossible numbers of the file header if the rest of the file determines the right ones. Each change is
   reported as a finding. repair_header.c describes how. */
#include "file/read/recording.h"

/* Whether the data after the header has the byte order opposite to the magic. *swap_header: whether the header's
   numbers need swapping. */
bool mend_order(pfr_reader *r, const uint8_t *header, bool *swap_header);
pfr_status mend_header(pfr_reader *r, struct pfr_rec_file_header *h, pfr_error *err);
void mend_ids(pfr_reader *r, const struct pfr_rec_file_header *h, uint64_t entry, uint64_t *ids, uint64_t *length);
void mend_data_offset(pfr_reader *r, struct pfr_rec_file_header *h); /* call it when the events are known */
void mend_data_size(pfr_reader *r, struct pfr_rec_file_header *h);

#endif
