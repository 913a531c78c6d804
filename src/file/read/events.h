/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_EVENTS_H
#define PFR_FILE_EVENTS_H
/* The events of a recording, and the event that a record belongs to. */
#include "file/read/recording.h"

pfr_status events_add(pfr_reader *r, const uint8_t *attr, size_t room, const pfr_u64s *ids, pfr_error *err);
int32_t events_owner(pfr_reader *r, uint32_t type, const uint8_t *record, uint32_t size, uint16_t *tail);
uint64_t *copy_ids(pfr_reader *r, const pfr_u64s *ids, pfr_error *err);

#endif
