/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The objects hit by samples, for recordings without a list of build-ids: first the state is built, then each sample's
 * address is looked up in it. The id of an object comes from its HEADER_BUILD_ID record, else from its MMAP2 record.
 */
#include "base/memory/fail.h"
#include "model/state/state.h"
#include "view/info/info_hits.h"
#include "view/info/info_object_list.h"

static const char kernel_name[] = "[kernel.kallsyms]";

struct hit_scene {
    struct state state;
    bool *hit; /* by object: whether a sample is in it */
    size_t objects;
    struct memory *memory;
};

static void mark_hit(struct hit_scene *scene, const pfr_record *rec) {
    struct pfr_rec_sample sample;
    struct place place;
    if (rec->event == PFR_NO_EVENT || pfr_decode(rec, &sample, sizeof sample, NULL) != PFR_OK)
        return;
    const struct record_key key = state_key(&scene->state, rec, sample.time);
    state_place(&scene->state, rec, sample.pid, sample.tid, sample.ip, key, &place);
    if (place.object < scene->objects)
        scene->hit[place.object] = true;
}

static pfr_status mark_hits(struct hit_scene *scene, pfr_reader *reader, struct object_list *listed, pfr_error *err) {
    pfr_record rec;
    pfr_status status;
    while ((status = pfr_next(reader, &rec, err)) >= 0 && status != PFR_END) {
        if (status == PFR_OK && rec.type == PFR_RECORD_SAMPLE)
            mark_hit(scene, &rec);
        else if (status == PFR_OK)
            PFR_TRY(object_list_note(listed, &rec, err));
    }
    return status < 0 ? status : PFR_OK;
}

static pfr_status add_hit(struct object_list *list, const struct object_list *listed, const struct hit_scene *scene,
                          const struct object *object, pfr_error *err) {
    const struct intern_text path = intern_get(&scene->state.names, object->path);
    const bool kernel = object->kind == OBJECT_KERNEL;
    const pfr_text name = {.at = kernel ? kernel_name : (const char *)path.bytes,
                           .length = kernel ? sizeof kernel_name - 1 : path.length};
    const uint32_t at = intern_find(&listed->names, name.at, name.length);
    if (at != INTERN_NONE)
        return object_list_add(list, &name, listed->ids[at].bytes, listed->ids[at].length, err);
    return object_list_add(list, &name, object->build_id, object->build_id_size, err);
}

static pfr_status add_hits(struct object_list *list, pfr_reader *reader, struct object_list *listed,
                           struct hit_scene *scene, pfr_error *err) {
    scene->objects = scene->state.objects.keys.count;
    scene->hit = mem_zeroed(scene->memory, scene->objects, sizeof *scene->hit);
    if (!scene->hit)
        return mem_fail(scene->memory, err, "objects");
    const pfr_status status = mark_hits(scene, reader, listed, err);
    for (size_t i = 0; i < scene->objects; i++)
        if (scene->hit[i])
            PFR_TRY(add_hit(list, listed, scene, &scene->state.objects.at[i], err));
    return status;
}

pfr_status object_list_hits(struct object_list *list, pfr_reader *reader, pfr_error *err) {
    struct hit_scene scene = {.memory = list->memory};
    struct object_list listed;
    object_list_init(&listed, list->memory);
    pfr_status status = state_build(&scene.state, reader, list->memory, err);
    if (status >= 0)
        status = pfr_rewind(reader, err);
    if (status >= 0)
        status = add_hits(list, reader, &listed, &scene, err);
    mem_free(list->memory, scene.hit, scene.objects, sizeof *scene.hit);
    state_free(&scene.state);
    object_list_free(&listed);
    return status;
}
