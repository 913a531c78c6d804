/* SPDX-License-Identifier: Apache-2.0 */
/* Maps ids to functions and names: see function_names.h. */
#include "model/names/function_names.h"

#include "base/memory/fail.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define OBJECT_SHIFT 24
#define FUNCTION_MASK ((1u << OBJECT_SHIFT) - 1)

/* --- Maps. */

static const char *why_no_map(enum symbol_result result) {
    if (result == SYMBOL_NO_MATCH)
        return "has no instrumentation map; was it built with -fxray-instrument?";
    if (result == SYMBOL_NOT_ELF)
        return "is neither an object file nor the output of llvm-xray extract";
    return symbol_result_text(result);
}

static pfr_status open_map(struct function_names *n, const char *path, pfr_error *err) {
    struct function_object *o = &n->objects[n->nr_objects++];
    *o = (struct function_object){.path = path};
    n->memory->failed = PFR_OK;
    const enum symbol_result result = xray_map_open(&o->map, path, n->memory);
    if (n->memory->failed != PFR_OK)
        return mem_fail(n->memory, err, "instr-map");
    if (result == SYMBOL_FOUND)
        return PFR_OK;
    const size_t length = strlen(path), most = 70;
    return pfr_fail(err, result == SYMBOL_IO ? PFR_ERR_IO : PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map", "%s%s: %s",
                    length > most ? "..." : "", path + (length > most ? length - most : 0), why_no_map(result));
}

static pfr_status open_maps(struct function_names *n, pfr_error *err) {
    size_t count = 0;
    while (n->options.naming.instr_maps[count])
        count++;
    if (count == 0)
        return PFR_OK;
    if (count > FUNCTION_OBJECTS_MOST)
        return pfr_fail(err, PFR_ERR_USAGE, PFR_NO_OFFSET, 0, "instr-map", "more than %u maps", FUNCTION_OBJECTS_MOST);
    n->objects = mem_alloc(n->memory, FUNCTION_OBJECTS_MOST, sizeof *n->objects);
    if (!n->objects)
        return mem_fail(n->memory, err, "instr-map");
    for (size_t i = 0; i < count; i++)
        PFR_TRY(open_map(n, n->options.naming.instr_maps[i], err));
    return PFR_OK;
}

pfr_status function_names_open(struct function_names *n, struct memory *memory,
                               const struct function_names_options *options, pfr_error *err) {
    *n = (struct function_names){.memory = memory};
    if (options)
        n->options = *options;
    symbol_texts_init(&n->texts, memory);
    u64_map_init(&n->by_id, memory);
    memory_share_sparing(&n->line_memory, memory);
    name_limits_init(&n->limits, memory);
    n->recorded = (struct recorded_names){.memory = memory};
    const struct debug_search where = {.symfs = n->options.naming.symfs, .folder = n->options.naming.debug_dir};
    if (n->options.naming.no_symbols)
        return PFR_OK;
    if (n->options.naming.instr_maps && n->options.naming.instr_maps[0])
        return open_maps(n, err);
    return recorded_names_open(&n->recorded, &n->limits, n->options.trace, &where, err);
}

void function_names_close(struct function_names *n) {
    for (size_t i = 0; i < n->nr_objects; i++) {
        xray_map_close(&n->objects[i].map);
        named_object_close(&n->objects[i].symbols);
    }
    mem_free(n->memory, n->objects, FUNCTION_OBJECTS_MOST, sizeof *n->objects);
    recorded_names_close(&n->recorded);
    u64_map_free(&n->by_id);
    symbol_texts_free(&n->texts);
    n->objects = NULL;
    n->nr_objects = 0;
}

/* --- Names. */

/* The user gave the actual path of the object, so symfs does not apply. */
static struct debug_search search_of(const struct function_names *n, const struct function_object *o) {
    return (struct debug_search){.path = o->path, .folder = n->options.naming.debug_dir};
}

static void open_symbols(struct function_names *n, struct function_object *o) {
    const struct symbol_object wanted = {.kind = SYMBOL_USER, .path = o->path};
    const struct debug_search search = search_of(n, o);
    named_object_begin(&o->symbols, &n->limits, o->path);
    named_object_open_elf(&o->symbols, &wanted, &search);
}

static unsigned flags_of(const struct function_names *n) {
    return (n->options.parameters ? DEMANGLE_PARAMETERS : 0) | demangle_flags_of(&n->options.naming);
}

/* The name of the symbol that begins exactly at the address; a symbol that begins earlier belongs to another function.
   NULL: no name, or no memory. */
static const struct symbol_text *text_by_address(struct function_names *n, struct function_object *o,
                                                 uint64_t address) {
    struct symbol symbol;
    if (!o->symbols.open)
        open_symbols(n, o);
    if (!o->symbols.handle || !named_object_find(&o->symbols, address, &symbol) || symbol.start != address)
        return NULL;
    return named_object_text(&n->texts, &o->symbols, &symbol, n->options.naming.mangled, flags_of(n));
}

static const struct symbol_text *text_of(struct function_names *n, struct function_object *o,
                                         const struct xray_function *f) {
    if (o->map.has_names)
        return f->name && *f->name ? symbol_text_of(&n->texts, f->name, n->options.naming.mangled, flags_of(n)) : NULL;
    return text_by_address(n, o, f->address);
}

void function_number(const struct function_name *name, char *text, size_t room) {
    if (name->object)
        snprintf(text, room, "#%" PRIu32 ":%" PRIu32, name->object, name->function);
    else
        snprintf(text, room, "#%" PRIu32, name->function);
}

static const struct symbol_text *number_of(struct function_names *n, const struct function_name *name) {
    char text[32];
    function_number(name, text, sizeof text);
    return symbol_text_of(&n->texts, text, true, 0);
}

/* Counts a function that is in no map. */
static void count_unmapped(struct function_names *n, const struct function_name *name) {
    n->unmapped += n->nr_objects > 0;
    if (name->object >= n->nr_objects)
        n->unmapped_object = name->object;
}

/* Uses the trace's own notes; false: they do not have the function. */
static bool fill_recorded(struct function_names *n, struct function_name *name, const struct symbol_text **text) {
    if (!recorded_name_find(&n->recorded, name->id, n->options.naming.mangled, flags_of(n), &n->texts, &name->address,
                            &name->path, text))
        return false;
    name->object = 0;
    name->function = name->id;
    name->mapped = true;
    name->named = *text != NULL;
    if (!*text && n->memory->failed != PFR_ERR_MEMORY)
        *text = number_of(n, name);
    return true;
}

static const struct symbol_text *fill(struct function_names *n, struct function_name *name) {
    const struct symbol_text *recorded;
    if (fill_recorded(n, name, &recorded))
        return recorded;
    struct function_object *o = name->object < n->nr_objects ? &n->objects[name->object] : NULL;
    const struct xray_function *f = o ? xray_map_find(&o->map, name->function) : NULL;
    const struct symbol_text *text = f ? text_of(n, o, f) : NULL;
    if (n->memory->failed == PFR_ERR_MEMORY)
        return NULL;
    if (o && name->function > o->greatest)
        o->greatest = name->function;
    if (!f)
        count_unmapped(n, name);
    name->mapped = f != NULL;
    name->path = o ? o->path : NULL;
    name->address = f ? f->address : 0;
    name->named = text != NULL;
    return text ? text : number_of(n, name);
}

static struct function_name *make(struct function_names *n, uint32_t id) {
    struct function_name *name = arena_take(&n->texts.arena, sizeof *name, sizeof(uint64_t));
    if (!name)
        return NULL;
    *name = (struct function_name){.id = id, .object = id >> OBJECT_SHIFT, .function = id & FUNCTION_MASK};
    n->memory->failed = PFR_OK;
    const struct symbol_text *text = fill(n, name);
    if (!text)
        return NULL;
    name->text = text->text;
    name->length = text->length;
    return name;
}

static pfr_status find(struct function_names *n, uint32_t id, struct function_name **name, pfr_error *err) {
    uint64_t kept;
    if (u64_map_get(&n->by_id, id, &kept)) {
        *name = (void *)(uintptr_t)kept;
        return PFR_OK;
    }
    *name = make(n, id);
    if (!*name)
        return mem_fail(n->memory, err, "functions");
    return u64_map_put(&n->by_id, id, (uint64_t)(uintptr_t)*name, err);
}

pfr_status function_names_find(struct function_names *n, uint32_t id, const struct function_name **name,
                               pfr_error *err) {
    struct function_name *found = NULL;
    const pfr_status st = find(n, id, &found, err);
    *name = found;
    return st;
}

/* --- Lines. */

/* Whether the id is not a function but a scope that the program named itself (RTF_SCOPE), which has no line. */
static bool is_place(const struct function_name *name) {
    return name->mapped && !name->path;
}

/* NULL: the object is not available, or the map is in YAML. */
static struct named_object *object_of(struct function_names *n, const struct function_name *name,
                                      struct debug_search *search) {
    if (!name->mapped || !name->path)
        return NULL;
    if (n->nr_objects == 0)
        return recorded_name_object(&n->recorded, name->id, search);
    struct function_object *o = &n->objects[name->object];
    *search = search_of(n, o);
    return o->symbols.handle ? &o->symbols : NULL;
}

#define LINE_DIGITS 12u /* ":4294967295" */

static void set_line(struct function_names *n, const struct source_frame *frame, struct function_line *line) {
    const size_t room = strlen(frame->file) + LINE_DIGITS;
    char *const text = arena_take(&n->texts.arena, room, 1);
    if (!text)
        return;
    snprintf(text, room, "%s:%" PRIu32, frame->file, frame->line);
    line->file = frame->file;
    line->text = text;
    line->line = frame->line;
}

static uint64_t end_of(struct named_object *o, uint64_t address) {
    struct symbol symbol;
    const bool found = named_object_find(o, address, &symbol) && symbol.start == address;
    return found && symbol.size <= UINT64_MAX - address ? address + symbol.size : address;
}

#define STEPS_MOST 16u /* maximum number of ranges examined; each range has one line */

/* Optimizing compilers give the sled at the start of a function no line (0): then the first line after it is used. If
   the address has several frames, the last one is the function; the other frames were inlined there. False: no line. */
static bool first_frame(struct named_object *o, uint64_t address, struct source_frame *first) {
    struct source_frames frames;
    uint64_t end = 0;
    *first = (struct source_frame){0};
    for (unsigned i = 0; i < STEPS_MOST && first->line == 0; i++) {
        if (debug_lines_find(o->lines, address, &frames) != SYMBOL_FOUND || frames.count == 0)
            break;
        *first = frames.at[frames.count - 1];
        end = i ? end : end_of(o, address);
        if (frames.end <= address || frames.end >= end)
            break;
        address = frames.end;
    }
    return first->file != NULL;
}

static void read_line(struct function_names *n, struct named_object *o, const struct debug_search *search,
                      struct function_name *name) {
    struct source_frame first;
    if (!o->lines_asked)
        named_object_open_lines(o, search, n->options.naming.cache_dir, &n->line_memory);
    if (o->lines && first_frame(o, name->address, &first))
        set_line(n, &first, &name->line);
}

/* If the memory limit is reached, only lines are missing, which is reported. */
static pfr_status find_line(struct function_names *n, struct function_name *name, pfr_error *err) {
    struct debug_search search;
    struct named_object *o = object_of(n, name, &search);
    name->line.asked = true;
    n->memory->failed = PFR_OK;
    if (o && o->budget)
        o->budget->lines.failed = PFR_OK;
    if (o)
        read_line(n, o, &search, name);
    const struct memory *const lines = o && o->budget ? &o->budget->lines : n->memory;
    if (n->memory->failed == PFR_ERR_MEMORY || lines->failed == PFR_ERR_MEMORY)
        return mem_fail(lines->failed == PFR_ERR_MEMORY ? lines : n->memory, err, "lines");
    const bool limited = n->memory->failed != PFR_OK || lines->failed != PFR_OK;
    if (limited && o)
        name_limits_meet_lines(&n->limits, o->budget, o->path);
    n->objectless += !o && !is_place(name);
    n->lineless += o && !limited && !name->line.file;
    return PFR_OK;
}

pfr_status function_names_line(struct function_names *n, uint32_t id, const struct function_line **line,
                               pfr_error *err) {
    struct function_name *name = NULL;
    PFR_TRY(find(n, id, &name, err));
    if (!name->line.asked)
        PFR_TRY(find_line(n, name, err));
    *line = &name->line;
    return PFR_OK;
}

/* --- Whether maps and ids match. */

bool function_names_doubt(const struct function_names *n, char *text, size_t room) {
    if (n->unmapped == 0)
        return recorded_names_doubt(&n->recorded, text, room);
    for (size_t i = 0; i < n->nr_objects; i++) {
        const struct function_object *o = &n->objects[i];
        if (o->greatest <= o->map.count)
            continue;
        snprintf(text, room, "function ids up to %" PRIu32 ", but %s has %zu functions: is it of another program?",
                 o->greatest, o->path, o->map.count);
        return true;
    }
    if (n->unmapped_object)
        snprintf(text, room, "functions of object %" PRIu32 ", for which no map was given", n->unmapped_object);
    else
        snprintf(text, room, "function ids that are not in the map: %" PRIu64 "; is it of another program?",
                 n->unmapped);
    return true;
}
