/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_BUILD_IDS_H
#define PFR_VIEW_INFO_BUILD_IDS_H
/* What other files use of info_build_ids.c, which says how it works. */
#include "view/info/info_parts.h"

void object_list_init(struct object_list *list, struct memory *memory);
void object_list_free(struct object_list *list);

/* A name met again keeps its place and takes the new id. */
pfr_status object_list_add(struct object_list *list, const pfr_text *name, const uint8_t *id, size_t length,
                           pfr_error *err);

/* What a record says about the id of an object, if it does. */
pfr_status object_list_note(struct object_list *list, const pfr_record *rec, pfr_error *err);

/* The objects of feature BUILD_ID; without it those that samples hit. */
pfr_status object_list_fill(struct object_list *list, pfr_reader *reader, pfr_error *err);
pfr_status info_build_ids(struct info *info, pfr_error *err);

#endif
