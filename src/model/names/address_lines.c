/* SPDX-License-Identifier: Apache-2.0 */
/* Source lines of addresses: see address_lines.h. */
#include "model/names/address_lines.h"

#include "base/memory/fail.h"

static void open_lines(struct address_names *n, struct named_object *o, const struct object *what) {
    const struct debug_search search = address_names_search(n, what);
    named_object_open_lines(o, &search, n->options.naming.cache_dir, &n->line_memory);
}

/* Lines of the kernel come from the given vmlinux file, if it has the recorded build id. */
static void open_kernel_lines(struct address_names *n, struct named_object *o, const struct object *what) {
    size_t size;
    (void)what;
    const uint8_t *id = o->source->build_id(o->handle, &size);
    const struct symbol_object file = {
        .kind = SYMBOL_KERNEL, .path = n->options.naming.vmlinux, .build_id = id, .build_id_size = size};
    o->lines_asked = true;
    named_object_try_lines(o, &file, n->options.naming.debug_dir, n->options.naming.cache_dir, &n->line_memory);
}

static void count_caches(struct address_names *n, const struct named_object *o) {
    n->caches_read += o->lines && debug_lines_cache(o->lines) == LINE_CACHE_READ;
    n->caches_damaged += o->lines && debug_lines_cache(o->lines) == LINE_CACHE_DAMAGED;
}

static bool is_kernel(const struct object *what) {
    return what->kind == OBJECT_KERNEL || what->kind == OBJECT_MODULE;
}

/* Lack of memory is an error. At the memory limit only lines are missing, which is reported at the end. `o` may be
   NULL. */
static pfr_status judge_memory(struct address_names *n, struct named_object *o, pfr_error *err) {
    const struct memory *lines = o && o->budget ? &o->budget->lines : NULL;
    if (lines && lines->failed == PFR_ERR_MEMORY)
        return mem_fail(lines, err, "lines");
    if (lines && lines->failed == PFR_ERR_LIMIT)
        name_limits_meet_lines(&n->limits, o->budget, o->path);
    return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "lines") : PFR_OK;
}

/* Opens the object of a place with its lines, and converts the address to that object. *found NULL: no lines. */
static pfr_status find_object(struct address_names *n, const struct place *place, uint64_t address,
                              struct address_line *line, struct named_object **found, pfr_error *err) {
    *line = (struct address_line){.address = place->offset};
    *found = NULL;
    if (place->object == NO_OBJECT || n->options.naming.no_symbols)
        return PFR_OK;
    const struct object *what = &n->state->objects.at[place->object];
    if (what->kind != OBJECT_FILE && !(is_kernel(what) && n->options.naming.vmlinux))
        return PFR_OK;
    struct named_object *o;
    uint64_t at;
    PFR_TRY(address_names_object(n, place->object, address, place->offset, &o, &at, err));
    line->has_names = o->handle != NULL;
    if (!o->handle || o->source != &elf_symbol_source || at == NO_ADDRESS)
        return PFR_OK;
    line->address = at;
    n->memory->failed = o->budget->lines.failed = PFR_OK;
    if (!o->lines_asked) {
        (is_kernel(what) ? open_kernel_lines : open_lines)(n, o, what);
        count_caches(n, o);
    }
    *found = o->lines ? o : NULL;
    return judge_memory(n, o, err);
}

/* Lines of generated code, from its jitdump. */
static bool find_made(const struct address_names *n, const struct place *place, struct address_line *line) {
    if (place->object == NO_OBJECT || n->options.naming.no_symbols ||
        n->state->objects.at[place->object].kind != OBJECT_JITDUMP)
        return false;
    const struct jit_dump *dump = jit_dump_of(&n->state->jit, place->object);
    const struct jit_line *recorded = dump ? jit_dump_line(dump, place->offset) : NULL;
    *line = (struct address_line){.address = place->offset, .has_names = true};
    if (recorded) {
        line->file = intern_chars(&dump->names, recorded->file);
        line->line = recorded->line;
        line->function_file = line->file;
        line->function_line = line->line;
    }
    return true;
}

static pfr_status find_frames(struct address_names *n, const struct place *place, uint64_t address,
                              struct address_line *line, struct named_object **o, struct source_frames *frames,
                              pfr_error *err) {
    *frames = (struct source_frames){0};
    *o = NULL;
    if (find_made(n, place, line))
        return PFR_OK;
    PFR_TRY(find_object(n, place, address, line, o, err));
    if (*o && debug_lines_find((*o)->lines, line->address, frames) != SYMBOL_FOUND)
        frames->count = 0;
    if (*o && debug_lines_cut((*o)->lines))
        object_budget_met((*o)->budget, (*o)->path);
    return judge_memory(n, *o, err);
}

static void set_line(struct address_line *line, const struct source_frame *frame) {
    line->file = frame->file;
    line->line = frame->line;
}

pfr_status address_line_at(struct address_names *n, const struct place *place, uint64_t address,
                           struct address_line *line, pfr_error *err) {
    struct source_frames frames;
    struct named_object *o;
    PFR_TRY(find_frames(n, place, address, line, &o, &frames, err));
    if (!frames.count)
        return PFR_OK;
    set_line(line, &frames.at[0]);
    line->function_file = frames.at[frames.count - 1].file;
    line->function_line = frames.at[frames.count - 1].line;
    return PFR_OK;
}

static pfr_status add_call(struct address_names *n, struct named_object *o, const struct source_frame *frame,
                           struct address_calls *calls, pfr_error *err) {
    struct inlined_call *call = &calls->inlined[calls->count++];
    *call = (struct inlined_call){.function = "??", .length = 2, .file = frame->file, .line = frame->line};
    if (!frame->function)
        return PFR_OK;
    const struct symbol symbol = {.name = frame->function};
    const struct symbol_text *text =
        named_object_text(&n->texts, o, &symbol, n->options.naming.mangled, address_names_flags(n));
    if (!text)
        return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "lines") : PFR_OK;
    call->function = text->text;
    call->length = text->length;
    return PFR_OK;
}

pfr_status address_calls_at(struct address_names *n, const struct place *place, uint64_t address,
                            struct address_calls *calls, pfr_error *err) {
    struct source_frames frames;
    struct named_object *o;
    calls->count = 0;
    PFR_TRY(find_frames(n, place, address, &calls->at, &o, &frames, err));
    size_t i = 0;
    for (; i < frames.count && frames.at[i].is_inlined; i++)
        if (calls->count < INLINED_MOST)
            PFR_TRY(add_call(n, o, &frames.at[i], calls, err));
    if (i < frames.count)
        set_line(&calls->at, &frames.at[i]);
    return PFR_OK;
}
