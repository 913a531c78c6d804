/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_DECODE_SAMPLE_H
#define PFR_FILE_DECODE_SAMPLE_H
/*
 * pfr_decode for many samples into one struct, which nobody changes meanwhile: what the samples of an event never have
 * is cleared once. *last is NULL at first, and belongs to the struct.
 */
#include <perfray/record.h>

pfr_status decode_sample(const pfr_record *rec, struct pfr_rec_sample *body, const struct pfr_context **last,
                         pfr_error *err);

#endif
