/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves any address of the recording by the mappings in the model's state. Each symbolizer has
   its own cache of names. */
#include "model/open/model_parts.h"

#include "model/names/address_lines.h"

#include <perfray/symbolize.h>

struct pfr_symbolizer {
    const struct pfr_model *model;
    struct memory memory;
    struct address_names names;
};

pfr_symbolizer *pfr_symbolizer_open(const pfr_model *m, pfr_error *err) {
    if (!m->profile) {
        pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "symbolizer",
                 "a model that was not loaded from a recording has no mappings");
        return NULL;
    }
    pfr_symbolizer *s = mem_zeroed(m->memory, 1, sizeof *s);
    if (!s) {
        mem_fail(m->memory, err, "symbolizer");
        return NULL;
    }
    s->model = m;
    memory_share(&s->memory, m->memory);
    address_names_init(&s->names, &m->profile->state, &s->memory, &m->profile->request.names);
    return s;
}

void pfr_symbolizer_close(pfr_symbolizer *s) {
    if (!s)
        return;
    address_names_free(&s->names);
    mem_free(s->model->memory, s, 1, sizeof *s);
}

/* Sets the object's row in the model, which has rows only for objects of frames. */
static void set_object(const pfr_symbolizer *s, uint32_t object, pfr_place *place) {
    const struct state *state = &s->model->profile->state;
    const struct object *o = &state->objects.at[object];
    place->path = intern_chars(&state->names, o->path);
    const char *short_name = intern_chars(&state->names, o->short_name);
    for (uint32_t id = 1; id <= s->model->objects.count; id++) {
        const pfr_model_object *row = pfr_model_get_object(s->model, id);
        if (row->name == short_name && row->build_id_size == o->build_id_size &&
            memcmp(row->build_id, o->build_id, o->build_id_size) == 0)
            place->object = id;
    }
}

static pfr_status find_line(pfr_symbolizer *s, const struct place *at, uint64_t address, pfr_place *place,
                            pfr_error *err) {
    struct address_line line = {.file = NULL};
    if (!s->model->profile->request.lines)
        return PFR_OK;
    PFR_TRY(address_line_at(&s->names, at, address, &line, err));
    place->file = line.file;
    place->line = line.file ? line.line : 0;
    return PFR_OK;
}

pfr_status pfr_symbolize(pfr_symbolizer *s, uint32_t pid, uint32_t tid, unsigned mode, uint64_t time, uint64_t address,
                         pfr_place *place, pfr_error *err) {
    const struct state *state = &s->model->profile->state;
    const struct record_key key = {state->timed && time != PFR_NO_TIME ? time : UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint32_t space = mode == PFR_CPUMODE_KERNEL ? NO_SPACE : thread_space_at(&state->threads, pid, tid, key);
    struct address_name name = {.text = NULL};
    struct place at;
    *place = (pfr_place){.address = address};
    state_place_in(state, mode, space, address, key, &at);
    if (!at.map && mode == PFR_CPUMODE_KERNEL)
        PFR_TRY(address_names_kernel(&s->names, address, &at.object, err));
    if (at.object == NO_OBJECT && !at.ksymbol)
        return PFR_OK;
    PFR_TRY(address_names_at(&s->names, &at, address, &name, err));
    set_object(s, at.ksymbol ? at.ksymbol->object : at.object, place);
    place->address = at.offset;
    if (name.text) {
        place->name = name.text;
        place->mangled = name.mangled;
        place->start = at.offset - name.ahead;
        place->size = name.size;
    }
    return at.map ? find_line(s, &at, address, place, err) : PFR_OK;
}
