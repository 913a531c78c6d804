/* SPDX-License-Identifier: Apache-2.0 */
/* Objects, symbols and frames of the profile get ids in the order in which they are requested. */
#include "model/open/model_frames.h"
#include "model/open/model_tables.h"

#include <inttypes.h>
#include <stdio.h>

#define UNKNOWN "[unknown]"
#define LIMIT "[limit]"

pfr_status frame_numbers_init(struct frame_numbers *n, struct pfr_model *m, pfr_error *err) {
    const struct profile *p = m->profile;
    *n = (struct frame_numbers){.model = m, .nr_frames = p->nr_frames, .nr_objects = p->state.objects.keys.count};
    n->frame_of = mem_zeroed(m->memory, n->nr_frames, sizeof *n->frame_of);
    n->object_of = mem_zeroed(m->memory, n->nr_objects, sizeof *n->object_of);
    return n->frame_of && n->object_of ? PFR_OK : mem_fail(m->memory, err, "frames");
}

void frame_numbers_free(struct frame_numbers *n) {
    mem_free(n->model->memory, n->frame_of, n->nr_frames, sizeof *n->frame_of);
    mem_free(n->model->memory, n->object_of, n->nr_objects, sizeof *n->object_of);
}

/* --- Objects. */

static const pfr_object_kind kinds[] = {
    [OBJECT_FILE] = PFR_OBJECT_FILE,   [OBJECT_KERNEL] = PFR_OBJECT_KERNEL,       [OBJECT_MODULE] = PFR_OBJECT_MODULE,
    [OBJECT_VDSO] = PFR_OBJECT_VDSO,   [OBJECT_ANONYMOUS] = PFR_OBJECT_ANONYMOUS, [OBJECT_MEMORY] = PFR_OBJECT_MEMORY,
    [OBJECT_KSYMBOL] = PFR_OBJECT_BPF, [OBJECT_JITDUMP] = PFR_OBJECT_JIT,         [OBJECT_OTHER] = PFR_OBJECT_OTHER,
};

/* The path as `script` prints it: the kernel, and a module that is in no list of build ids, have
   their short names; anonymous memory has the path of the map file of its process. */
static pfr_status object_path(struct pfr_model *m, const struct object *o, const char **path, pfr_error *err) {
    const struct intern_table *names = &m->profile->state.names;
    char text[40];
    if (o->kind == OBJECT_ANONYMOUS) {
        snprintf(text, sizeof text, "/tmp/perf-%" PRId32 ".map", (int32_t)o->pid);
        return model_text(m, text, strlen(text), path, err);
    }
    const bool is_short = o->kind == OBJECT_KERNEL || (o->kind == OBJECT_MODULE && !o->listed);
    *path = intern_chars(names, is_short ? o->short_name : o->path);
    return PFR_OK;
}

static pfr_status put_object(struct frame_numbers *n, uint32_t number, uint32_t *id, pfr_error *err) {
    struct pfr_model *m = n->model;
    const struct object *o = &m->profile->state.objects.at[number];
    if (n->object_of[number])
        return *id = n->object_of[number], PFR_OK;
    pfr_model_object row = {.kind = kinds[o->kind], .build_id_size = o->build_id_size};
    memcpy(row.build_id, o->build_id, sizeof row.build_id);
    row.name = intern_chars(&m->profile->state.names, o->short_name);
    PFR_TRY(object_path(m, o, &row.path, err));
    PFR_TRY(rows_add(m, &m->objects, &row, sizeof row, id, "objects", err));
    n->object_of[number] = *id;
    return PFR_OK;
}

/* A placeholder object, for unknown addresses or for stacks for which there was no memory. */
static pfr_status put_special(struct pfr_model *m, pfr_object_kind kind, const char *name, uint32_t *id,
                              pfr_error *err) {
    const pfr_model_object row = {.path = name, .name = name, .kind = kind};
    return *id ? PFR_OK : rows_add(m, &m->objects, &row, sizeof row, id, "objects", err);
}

/* --- Symbols and frames. */

struct model_symbol_key {
    const char *name; /* compared by address: equal texts are stored once */
    uint64_t address;
    uint32_t object, inlined;
};

pfr_status model_put_symbol(struct pfr_model *m, const pfr_model_symbol *symbol, bool inlined, uint32_t *id,
                            pfr_error *err) {
    const struct model_symbol_key key = {symbol->name, symbol->address, symbol->object, inlined};
    uint32_t number;
    PFR_TRY(intern_put(&m->symbol_keys, &key, sizeof key, &number, err));
    *id = number + 1;
    return *id <= m->symbols.count ? PFR_OK : rows_add(m, &m->symbols, symbol, sizeof *symbol, id, "symbols", err);
}

struct frame_key {
    const char *file;
    uint64_t address;
    uint32_t symbol, line;
    uint32_t mode, inlined;
};

pfr_status model_put_frame(struct pfr_model *m, const pfr_model_frame *frame, uint32_t *id, pfr_error *err) {
    const struct frame_key key = {frame->file, frame->address, frame->symbol, frame->line, frame->mode, frame->inlined};
    pfr_model_frame row = *frame;
    uint32_t number;
    if (!row.function_file) {
        row.function_file = row.file;
        row.function_line = row.line;
    }
    PFR_TRY(intern_put(&m->frame_keys, &key, sizeof key, &number, err));
    *id = number + 1;
    return *id <= m->frames.count ? PFR_OK : rows_add(m, &m->frames, &row, sizeof row, id, "frames", err);
}

static const char *text_of(const struct profile *p, uint32_t text) {
    return text == NO_TEXT ? NULL : intern_chars(&p->texts, text);
}

/* The symbol of a frame. An inlined function gets no address, because it begins in many places. */
static pfr_model_symbol symbol_of(const struct profile *p, const struct profile_frame *f, uint32_t object) {
    const bool named = f->text != NO_TEXT;
    const char *const mangled = text_of(p, f->mangled);
    pfr_model_symbol symbol = {.object = object, .name = text_of(p, f->text)};
    if (mangled && symbol.name && strcmp(mangled, symbol.name) != 0 && !f->is_inlined)
        symbol.mangled = mangled;
    if (f->is_inlined)
        return symbol;
    symbol.address = named && request_has_addresses(&p->request) ? f->start : f->address;
    symbol.size = named ? f->size : 0;
    return symbol;
}

/* The CPU mode of a frame follows from its object; a frame without an object has the mode of its address. */
static uint8_t mode_of(const struct profile *p, const struct profile_frame *f) {
    if (f->object == NO_OBJECT)
        return f->cpumode;
    const uint8_t kind = p->state.objects.at[f->object].kind;
    const bool kernel = kind == OBJECT_KERNEL || kind == OBJECT_MODULE || kind == OBJECT_KSYMBOL;
    return kernel ? PFR_CPUMODE_KERNEL : PFR_CPUMODE_USER;
}

static pfr_status put_frame(struct frame_numbers *n, uint32_t frame, uint32_t *id, pfr_error *err) {
    struct pfr_model *m = n->model;
    const struct profile *p = m->profile;
    const struct profile_frame *f = &p->frames[frame];
    pfr_model_frame row = {.address = f->address, .mode = mode_of(p, f), .inlined = f->is_inlined};
    if (f->object == NO_OBJECT)
        PFR_TRY(put_special(m, PFR_OBJECT_UNKNOWN, UNKNOWN, &n->unknown, err));
    row.object = n->unknown;
    if (f->object != NO_OBJECT)
        PFR_TRY(put_object(n, f->object, &row.object, err));
    const pfr_model_symbol symbol = symbol_of(p, f, row.object);
    PFR_TRY(model_put_symbol(m, &symbol, f->is_inlined, &row.symbol, err));
    if (p->lines) {
        row.file = text_of(p, p->lines[frame].own.file);
        row.line = row.file ? p->lines[frame].own.line : 0;
        row.function_file = text_of(p, p->lines[frame].function.file);
        row.function_line = row.function_file ? p->lines[frame].function.line : 0;
    }
    const uint32_t before = m->frames.count;
    PFR_TRY(model_put_frame(m, &row, id, err));
    n->merged = n->merged || *id <= before;
    return PFR_OK;
}

pfr_status frame_number(struct frame_numbers *n, uint32_t frame, uint32_t *id, pfr_error *err) {
    if (!n->frame_of[frame])
        PFR_TRY(put_frame(n, frame, &n->frame_of[frame], err));
    *id = n->frame_of[frame];
    return PFR_OK;
}

pfr_status frame_number_limited(struct frame_numbers *n, uint32_t *id, pfr_error *err) {
    pfr_model_frame row = {.mode = PFR_CPUMODE_USER};
    PFR_TRY(put_special(n->model, PFR_OBJECT_LIMIT, LIMIT, &n->limited, err));
    row.object = n->limited;
    const pfr_model_symbol symbol = {.name = LIMIT, .object = n->limited};
    PFR_TRY(model_put_symbol(n->model, &symbol, false, &row.symbol, err));
    return model_put_frame(n->model, &row, id, err);
}
