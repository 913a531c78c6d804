/* SPDX-License-Identifier: Apache-2.0 */
/* Writes one record to the output of a recorder. */
#include "record/rings/put_record.h"

pfr_status put_record(pfr_recorder *r, uint32_t type, uint16_t misc, const void *body, size_t size, pfr_error *err) {
    return pfr_writer_put(r->file.writer, 0, type, misc, body, size, NULL, err);
}
