/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_OBJECT_LIST_H
#define PFR_VIEW_INFO_OBJECT_LIST_H
/* Objects by name, each with its build-id. */
#include "view/info/info_parts.h"

void object_list_init(struct object_list *list, struct memory *memory);
void object_list_free(struct object_list *list);

/* Adds an object. An object that is already listed keeps its place and gets the new id. */
pfr_status object_list_add(struct object_list *list, const pfr_text *name, const uint8_t *id, size_t length,
                           pfr_error *err);

/* Adds the object and the build-id that a record states; does nothing if the record states no build-id. */
pfr_status object_list_note(struct object_list *list, const pfr_record *rec, pfr_error *err);

#endif
