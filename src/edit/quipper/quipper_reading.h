/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_EDIT_QUIPPER_READING_H
#define PFR_EDIT_QUIPPER_READING_H
/* A PerfDataProto on its way into a recording: see quipper.h. It is read as often as is needed, since its fields may
   come in any order: attrs, features, records. */
#include "base/tables/hashmap.h"
#include "edit/quipper/quipper.h"
#include "file/write/recording_writer.h"

#include <perfray/edit.h>

/* Texts and parts of one feature, gathered from many messages. */
struct quipper_gathered {
    struct output bytes; /* parts, as their layout has them */
    uint64_t count;
};

#define QUIPPER_GATHERED 24u /* rows of M_perf_data and M_string_metadata with parts */

struct quipper_reading {
    struct memory memory;
    struct quipper_scan scan;
    pfr_writer *writer;
    struct quipper_maker maker;
    struct arena arena; /* of one field */
    struct u64_map ids; /* to events */
    bool has_ours;      /* our fields say all features */
    void (*hole)(void *context, const pfr_error *hole);
    void *hole_context;

    struct quipper_gathered gathered[QUIPPER_GATHERED];
    struct output names; /* of events: u64 config, u64 length, text */
    size_t nr_names;
};

/* quipper_features.c: one outermost field that says something about features; and what only the end of them tells. */
pfr_status quipper_feature(struct quipper_reading *r, const struct proto_field *f, struct cursor content,
                           pfr_error *err);
pfr_status quipper_features_end(struct quipper_reading *r, pfr_error *err);
void quipper_features_open(struct quipper_reading *r);
void quipper_features_close(struct quipper_reading *r);

#endif
