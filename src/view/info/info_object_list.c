/* SPDX-License-Identifier: Apache-2.0 */
/* Objects by name, each with its build-id, and the records that contain build-ids. */
#include "base/memory/fail.h"
#include "view/info/info_object_list.h"

#define MISC_HAS_LENGTH 0x8000u /* bit of misc, in entries of the feature and in HEADER_BUILD_ID */
#define MISC_MMAP2_ID 0x4000u

void object_list_init(struct object_list *list, struct memory *memory) {
    *list = (struct object_list){.memory = memory};
    intern_init(&list->names, memory);
}

void object_list_free(struct object_list *list) {
    mem_free(list->memory, list->ids, list->room, sizeof *list->ids);
    intern_free(&list->names);
}

pfr_status object_list_add(struct object_list *list, const pfr_text *name, const uint8_t *id, size_t length,
                           pfr_error *err) {
    uint32_t at;
    /* first makes room for the id, because every name in the table must have an id */
    struct object_id *ids = mem_grow(list->memory, list->ids, list->names.count, &list->room, 64, sizeof *ids);
    if (!ids)
        return mem_fail(list->memory, err, "build-ids");
    list->ids = ids;
    PFR_TRY(intern_put(&list->names, name->at, name->length, &at, err));
    if (length > sizeof ids->bytes)
        length = sizeof ids->bytes;
    ids[at] = (struct object_id){.length = (uint8_t)length};
    if (length)
        memcpy(ids[at].bytes, id, length);
    return PFR_OK;
}

static pfr_status add_header_build_id(struct object_list *list, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_header_build_id body;
    if (pfr_decode(rec, &body, sizeof body, err) != PFR_OK)
        return PFR_OK;
    return object_list_add(list, &body.filename, body.build_id.at,
                           rec->misc & MISC_HAS_LENGTH ? body.length : body.build_id.length, err);
}

static pfr_status add_mmap2(struct object_list *list, const pfr_record *rec, pfr_error *err) {
    struct pfr_rec_mmap2 body;
    if (!(rec->misc & MISC_MMAP2_ID) || pfr_decode(rec, &body, sizeof body, err) != PFR_OK)
        return PFR_OK;
    return object_list_add(list, &body.filename, body.build_id.at, body.build_id_size, err);
}

typedef pfr_status object_action(struct object_list *list, const pfr_record *rec, pfr_error *err);

static object_action *const object_actions[] = {
    [PFR_RECORD_MMAP2] = add_mmap2,
    [PFR_RECORD_BUILD_ID] = add_header_build_id,
};

pfr_status object_list_note(struct object_list *list, const pfr_record *rec, pfr_error *err) {
    const bool acts = rec->type < sizeof object_actions / sizeof *object_actions && object_actions[rec->type];
    return acts ? object_actions[rec->type](list, rec, err) : PFR_OK;
}
