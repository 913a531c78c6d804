/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Objects with their build-ids, as `perf buildid-list` prints them. If the recorder's own list (feature BUILD_ID)
 * exists, only this list is printed. For other recordings, all objects hit by samples are listed (info_hits.c), even if
 * they have no build-id. For a stream that can be read only once, all objects that a record names with a build-id are
 * listed.
 */
#include "base/memory/fail.h"
#include "view/info/info_feature.h"
#include "view/info/info_build_ids.h"
#include "view/info/info_hits.h"
#include "wire/feature_bits.h"

#define MISC_HAS_LENGTH 0x8000u /* bit of misc, in entries of the feature and in HEADER_BUILD_ID */

static pfr_status add_entries(struct object_list *list, pfr_reader *reader, const pfr_feature *feature,
                              pfr_error *err) {
    struct pfr_rec_feature_build_id body;
    struct pfr_rec_build_id_entry entry;
    if (pfr_decode_feature(reader, feature, &body, sizeof body, err) != PFR_OK)
        return PFR_OK;
    EACH_PART(&body.entries, entry)
    PFR_TRY(object_list_add(list, &entry.filename, entry.build_id.at,
                            entry.misc & MISC_HAS_LENGTH ? entry.length : entry.build_id.length, err));
    return PFR_OK;
}

/* For a stream that cannot be read twice: adds every object that a record names together with its id. */
static pfr_status add_noted(struct object_list *list, pfr_reader *reader, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    while ((status = pfr_next(reader, &rec, err)) >= 0 && status != PFR_END)
        if (status == PFR_OK)
            PFR_TRY(object_list_note(list, &rec, err));
    return status < 0 ? status : PFR_OK;
}

pfr_status object_list_fill(struct object_list *list, pfr_reader *reader, pfr_error *err) {
    pfr_error why = {0};
    const pfr_feature *feature = pfr_find_feature(reader, BIT_BUILD_ID, &why);
    if (feature)
        return add_entries(list, reader, feature, err);
    if (why.status < 0 && err)
        *err = why;
    PFR_TRY(why.status);
    return pfr_rewind(reader, &why) == PFR_OK ? object_list_hits(list, reader, err) : add_noted(list, reader, err);
}

static void say_object(pfr_output *to, const struct object_id *id, struct intern_text name) {
    out_hex_bytes(&to->out, id->bytes, id->length);
    out_pad(&to->out, 40u - 2u * id->length + 1);
    print_name(to, name.bytes, name.length);
    say(to, "\n");
}

pfr_status info_build_ids(struct info *info, pfr_error *err) {
    struct object_list list;
    object_list_init(&list, &info->to->memory);
    const pfr_status status = object_list_fill(&list, info->reader, err);
    for (uint32_t i = 0; i < list.names.count; i++)
        say_object(info->to, &list.ids[i], intern_get(&list.names, i));
    object_list_free(&list);
    return status;
}
