/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_OBJECT_LIST_H
#define PFR_VIEW_INFO_OBJECT_LIST_H
/* Objects by name, each with its build-id. */
#include "view/info/info_parts.h"

void object_list_init(struct object_list *list, struct memory *memory);
void object_list_free(struct object_list *list);

/* A name met again keeps its place and takes the new id. */
pfr_status object_list_add(struct object_list *list, const pfr_text *name, const uint8_t *id, size_t length,
                           pfr_error *err);

/* What a record says about the id of an object, if it does. */
pfr_status object_list_note(struct object_list *list, const pfr_record *rec, pfr_error *err);

#endif
