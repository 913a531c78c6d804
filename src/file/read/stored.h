/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_FILE_STORED_H
#define PFR_FILE_STORED_H
/*
 * A reader of what is in a store: it has events and no records, and who wants a profile, a model or latencies gets them
 * from here instead of from records. profile.c, model_open.c and latency.c ask; no view knows the difference.
 */
#include <perfray/model.h>
#include <perfray/reader.h>

struct profile;
struct call_costs;
struct function_names;

struct stored_source {
    bool traced; /* calls of traces, not samples; reader->header.cycle_frequency is that of their times */
    /* Fills a profile that is as `begin` of profile.c makes it. USAGE: the store has not what the request needs. */
    pfr_status (*profile)(const struct stored_source *source, struct profile *p, pfr_error *err);
    pfr_model *(*model)(const struct stored_source *source, pfr_reader *reader, const pfr_model_options *options,
                        pfr_error *err);
    /* Fills costs and names for costs->request. */
    pfr_status (*costs)(const struct stored_source *source, struct call_costs *costs, struct function_names *names,
                        pfr_error *err);
    void (*close)(struct stored_source *source);
};

#endif
