/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_MARKS_H
#define PFR_MODEL_OPEN_MODEL_MARKS_H
/* Interface of model_marks.c, which describes how it works. */
#include "model/open/model_parts.h"

pfr_status model_make_marks(struct pfr_model *m, pfr_error *err);

/* Makes marks as part of another walk over all records: call it for each record, and with rec NULL
   for each hole. Samples without a cgroup may be left out. */
pfr_status model_mark(struct pfr_model *m, const pfr_record *rec, const pfr_error *hole, pfr_error *err);
/* While threads have no rows yet: notes the end of a thread if the record is EXIT. model_end_threads sets the ends. */
pfr_status model_note_end(struct pfr_model *m, const pfr_record *rec, pfr_error *err);
void model_end_threads(struct pfr_model *m);
/* Discards the marks of all records so far, because the walk begins again. */
void model_marks_restart(struct pfr_model *m);

#endif
