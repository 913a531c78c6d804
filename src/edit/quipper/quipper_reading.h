/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_READING_H
#define PFR_EDIT_QUIPPER_READING_H
/* State while a PerfDataProto is converted to a recording; quipper.h has the overview. Fields may come in any order, so
 * the input is read three times: for attrs, for features and for records. */
#include "base/tables/hashmap.h"
#include "edit/quipper/quipper.h"
#include "file/write/recording_writer.h"

#include <perfray/edit.h>

/* The texts and parts of one feature, collected from many messages. */
struct quipper_gathered {
    struct output bytes; /* parts in the form of their layout */
    uint64_t count;
};

#define QUIPPER_GATHERED 24u /* at least the number of rows with parts in M_perf_data and M_string_metadata */

struct quipper_reading {
    struct memory memory;
    struct quipper_scan scan;
    pfr_writer *writer;
    struct quipper_maker maker;
    struct arena arena; /* memory for one field */
    struct u64_map ids; /* from id to event */
    bool has_ours;      /* our own fields hold all features */
    void (*hole)(void *context, const pfr_error *hole);
    void *hole_context;

    struct quipper_gathered gathered[QUIPPER_GATHERED];
    struct output names; /* names of events, each as u64 config, u64 length, text */
    size_t nr_names;
};

/* quipper_features.c: quipper_feature handles one outermost field about features; quipper_features_end writes the
   features that consist of many fields. */
pfr_status quipper_feature(struct quipper_reading *r, const struct proto_field *f, struct cursor content,
                           pfr_error *err);
pfr_status quipper_features_end(struct quipper_reading *r, pfr_error *err);
void quipper_features_open(struct quipper_reading *r);
void quipper_features_close(struct quipper_reading *r);

#endif
