/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_STORED_H
#define PFR_FILE_STORED_H
/* The data of a reader that opened a store: it has events, but no records. profile.c, model_open.c and latency.c take
   profile, model and latencies from here instead of from records; the views need not distinguish the two. */
#include <perfray/model.h>
#include <perfray/reader.h>

struct profile;
struct call_costs;
struct function_names;

struct stored_source {
    bool traced; /* the data are calls of a trace instead of samples; reader->header.cycle_frequency is the frequency of
                    their times */
    /* Fills a profile that `begin` of profile.c has initialised. PFR_ERR_USAGE: the store lacks data for the request.
     */
    pfr_status (*profile)(const struct stored_source *source, struct profile *p, pfr_error *err);
    pfr_model *(*model)(const struct stored_source *source, pfr_reader *reader, const pfr_model_options *options,
                        pfr_error *err);
    /* Fills the costs and names that costs->request asks for. */
    pfr_status (*costs)(const struct stored_source *source, struct call_costs *costs, struct function_names *names,
                        pfr_error *err);
    void (*close)(struct stored_source *source);
};

#endif
