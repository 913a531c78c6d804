/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_PROFILE_READS_H
#define PFR_MODEL_PROFILE_READS_H
/* Interface of profile_reads.c, which describes how it works. */
#include "model/profile/count/profile_parts.h"

bool order_counts(const struct profile *p, const struct pick_places *places);

/* Enclose each run of the counter in order_begin and order_end. */
pfr_status order_begin(struct sample_counter *c, pfr_error *err);
void order_end(struct sample_counter *c);

/* As pfr_next, but in order of time. */
pfr_status order_next(struct sample_counter *c, pfr_record *rec, pfr_error *err);

/* Sets *event to the event of the counter `id`, and *by to the growth of the counter since it was last read. *by 0: the
   counter gets no sample. */
pfr_status reads_grown(struct sample_counter *c, uint64_t id, uint64_t value, uint32_t *event, uint64_t *by,
                       pfr_error *err);

#endif
