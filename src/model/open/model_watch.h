/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_OPEN_MODEL_WATCH_H
#define PFR_MODEL_OPEN_MODEL_WATCH_H
/* Makes a model, and passes on the samples and all other records while they are counted, so that the caller needs no
   pass of its own over the recording. */
#include "model/profile/result/profile_request.h"

#include <perfray/model.h>

struct model_watch {
    /* Discards everything received so far. */
    pfr_status (*begin)(void *context, pfr_error *err);
    /* Receives each counted sample, in file order. stack: the number of its stack, from 0. When the model is made,
       columns.stack has the id of each numbered stack; samples cannot be read from the model. */
    pfr_status (*sample)(void *context, const struct profile_row *row, uint32_t stack, pfr_error *err);
    /* Receives each other record, in file order between the samples. */
    pfr_status (*other)(void *context, const pfr_record *rec, pfr_error *err);
    void *context;
};

/* As pfr_model_open, of a recording that is not stored. options->no_intervals and no_marks must be set. */
pfr_model *model_open_watched(pfr_reader *reader, const pfr_model_options *options, const struct model_watch *watch,
                              pfr_error *err);

#endif
