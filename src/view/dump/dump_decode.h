/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_DUMP_DECODE_H
#define PFR_VIEW_DUMP_DECODE_H
/* Interface of dump_decode.c; that file describes how it works. */
#include "view/dump/dump_form.h"

/* dump_decode.c */
unsigned dump_layout_of(const struct dump *d, uint32_t type);

/* Decodes a record's body into d->body and sets d->context; in->at is then the end of the last known field. */
pfr_status dump_decode(struct dump *d, const pfr_record *rec, unsigned layout, struct cursor *in, pfr_error *err);
pfr_status dump_decode_id(const pfr_record *rec, struct pfr_rec_sample_id *id, pfr_error *err);

/* Like dump_decode, for the payload of a feature. */
pfr_status dump_decode_feature(struct dump *d, const pfr_bytes *payload, uint64_t offset, unsigned layout,
                               struct cursor *in, pfr_error *err);

#endif
