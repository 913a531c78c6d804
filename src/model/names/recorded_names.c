/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions from the notes in a trace: see recorded_names.h. */
#include "model/names/recorded_names.h"

#include "base/memory/fail.h"

#include <stdio.h>

pfr_status recorded_names_open(struct recorded_names *n, struct name_limits *limits, pfr_reader *reader,
                               const struct debug_search *where, pfr_error *err) {
    struct memory *const memory = limits->memory;
    *n = (struct recorded_names){
        .memory = memory, .limits = limits, .symfs = where->symfs, .debug_folder = where->folder};
    if (!reader)
        return PFR_OK;
    PFR_TRY(recorder_notes_read(reader, memory, &n->notes, err));
    if (n->notes.nr_objects == 0)
        return PFR_OK;
    n->objects = mem_zeroed(memory, n->notes.nr_objects, sizeof *n->objects);
    n->results = mem_zeroed(memory, n->notes.nr_objects, sizeof *n->results);
    return n->objects && n->results ? PFR_OK : mem_fail(memory, err, "objects");
}

void recorded_names_close(struct recorded_names *n) {
    for (size_t i = 0; n->objects && i < n->notes.nr_objects; i++)
        named_object_close(&n->objects[i]);
    mem_free(n->memory, n->objects, n->notes.nr_objects, sizeof *n->objects);
    mem_free(n->memory, n->results, n->notes.nr_objects, sizeof *n->results);
    n->objects = NULL;
    n->results = NULL;
    recorder_notes_free(&n->notes, n->memory);
}

static struct debug_search search_of(const struct recorded_names *n, const struct rtf_object *recorded) {
    return (struct debug_search){.path = recorded->path,
                                 .symfs = n->symfs,
                                 .folder = n->debug_folder,
                                 .build_id = recorded->build_id,
                                 .size = recorded->build_id_size};
}

static void open_object(struct recorded_names *n, uint32_t number) {
    const struct rtf_object *recorded = &n->notes.objects[number - 1];
    struct named_object *o = &n->objects[number - 1];
    const struct symbol_object wanted = {.kind = SYMBOL_USER,
                                         .path = recorded->path,
                                         .symfs = n->symfs,
                                         .build_id = recorded->build_id,
                                         .build_id_size = recorded->build_id_size};
    named_object_begin(o, n->limits, recorded->path);
    const struct debug_search search = search_of(n, recorded);
    n->results[number - 1] = named_object_open_elf(o, &wanted, &search);
    if (!o->handle && n->refused == 0)
        n->refused = number;
}

/* The symbol that begins at the address: a symbol that begins earlier and covers the address belongs to another
   function. */
static const struct symbol_text *text_at(struct recorded_names *n, uint32_t number, uint64_t address, bool mangled,
                                         unsigned flags, struct symbol_texts *texts) {
    struct named_object *o = &n->objects[number - 1];
    struct symbol symbol;
    if (!o->open)
        open_object(n, number);
    if (!o->handle || !named_object_find(o, address, &symbol) || symbol.start != address)
        return NULL;
    return named_object_text(texts, o, &symbol, mangled, flags);
}

bool recorded_name_find(struct recorded_names *n, uint32_t id, bool mangled, unsigned flags, struct symbol_texts *texts,
                        uint64_t *address, const char **path, const struct symbol_text **text) {
    if (id == 0 || id > n->notes.nr_functions)
        return false;
    const struct rtf_function *f = &n->notes.functions[id - 1];
    *text = NULL;
    *address = 0;
    *path = NULL;
    if (f->address == 0 || f->object == 0 || f->object > n->notes.nr_objects)
        return false;
    const struct rtf_object *o = &n->notes.objects[f->object - 1];
    if (o->kind == RTF_SCOPE)
        *text = symbol_text_of(texts, o->path, true, 0);
    if (o->kind != RTF_MAPPED)
        return o->kind == RTF_SCOPE;
    *address = f->address - o->base;
    *path = o->path;
    *text = text_at(n, f->object, *address, mangled, flags, texts);
    return true;
}

struct named_object *recorded_name_object(const struct recorded_names *n, uint32_t id, struct debug_search *search) {
    if (id == 0 || id > n->notes.nr_functions)
        return NULL;
    const uint32_t number = n->notes.functions[id - 1].object;
    if (number == 0 || number > n->notes.nr_objects || !n->objects[number - 1].handle)
        return NULL;
    *search = search_of(n, &n->notes.objects[number - 1]);
    return &n->objects[number - 1];
}

bool recorded_names_doubt(const struct recorded_names *n, char *text, size_t room) {
    if (n->refused == 0)
        return false;
    snprintf(text, room, "functions of %s have no names: %s", n->notes.objects[n->refused - 1].path,
             symbol_result_text(n->results[n->refused - 1]));
    return true;
}
