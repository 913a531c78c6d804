/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_DECODE_SAMPLE_H
#define PFR_FILE_DECODE_SAMPLE_H
/* pfr_decode for many samples into the same struct: members absent in the event's samples are cleared only once. The
   caller must not change the struct between calls. *last is state that belongs to the struct; set it to NULL before the
   first call. */
#include <perfray/record.h>

pfr_status decode_sample(const pfr_record *rec, struct pfr_rec_sample *body, const struct pfr_context **last,
                         pfr_error *err);

#endif
