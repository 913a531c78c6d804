/* SPDX-License-Identifier: Apache-2.0 */
/* Texts of an object's symbols: see named_object.h. */
#include "model/names/named_object.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEBUG_FOLDER "/usr/lib/debug"

void symbol_texts_init(struct symbol_texts *texts, struct memory *memory) {
    texts->memory = memory;
    demangler_init(&texts->demangler, memory);
    arena_init(&texts->arena, memory);
}

void symbol_texts_free(struct symbol_texts *texts) {
    demangler_free(&texts->demangler);
    arena_free(&texts->arena);
}

void symbol_texts_note(const struct symbol_texts *texts, void (*note)(void *context, const char *sentence),
                       void *context) {
    const uint64_t count = texts->demangler.unanswered;
    char sentence[160];
    if (count == 0)
        return;
    snprintf(sentence, sizeof sentence,
             "%" PRIu64 " mangled name%s shown as %s: the process that demangles died, or took too long", count,
             count == 1 ? " is" : "s are", count == 1 ? "it is" : "they are");
    note(context, sentence);
}

void named_object_begin(struct named_object *o, struct name_limits *limits, const char *path) {
    *o = (struct named_object){.open = true, .path = path, .budget = object_budget_make(limits)};
    u64_map_init(&o->texts, limits->memory);
    if (!o->budget)
        limited_objects_add(&limits->named, path);
}

void named_object_close(struct named_object *o) {
    if (o->open) {
        if (o->handle)
            o->source->close(o->handle);
        if (o->debug)
            o->source->close(o->debug);
        debug_lines_close(o->lines);
        u64_map_free(&o->texts);
        object_budget_free(o->budget);
    }
    *o = (struct named_object){0};
}

bool fetched_folder(char *folder, size_t room) {
    const char *own = getenv("DEBUGINFOD_CACHE_PATH"), *caches = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int length = -1;
    if (own && *own)
        length = snprintf(folder, room, "%s", own);
    else if (caches && *caches)
        length = snprintf(folder, room, "%s/debuginfod_client", caches);
    else if (home && *home)
        length = snprintf(folder, room, "%s/.cache/debuginfod_client", home);
    return length > 0 && (size_t)length < room;
}

bool fetched_object_place(const char *folder, const uint8_t *id, size_t size, const char *what,
                          char path[DEBUG_PATH_ROOM], struct symbol_object *found) {
    char digits[BUILD_ID_TEXT_ROOM];
    *found = (struct symbol_object){.kind = SYMBOL_USER, .path = path, .build_id = id, .build_id_size = size};
    if (!folder || size < 4 || size > BUILD_ID_MOST)
        return false;
    build_id_text(digits, id, size);
    return (size_t)snprintf(path, DEBUG_PATH_ROOM, "%s/%s/%s", folder, digits, what) < DEBUG_PATH_ROOM;
}

static bool kept_place(const uint8_t *id, size_t size, const char *file, char path[DEBUG_PATH_ROOM],
                       struct symbol_object *found) {
    char folder[DEBUG_PATH_ROOM / 2];
    const char *home = getenv("HOME");
    *found = (struct symbol_object){.kind = SYMBOL_USER, .path = path, .build_id = id, .build_id_size = size};
    return home && (size_t)snprintf(folder, sizeof folder, "%s/.debug", home) < sizeof folder &&
           build_id_path(path, DEBUG_PATH_ROOM, folder, id, size, file);
}

bool kept_object_place(const uint8_t *id, size_t size, bool is_vdso, char path[DEBUG_PATH_ROOM],
                       struct symbol_object *found) {
    return kept_place(id, size, is_vdso ? "/vdso" : "/elf", path, found);
}

bool kept_debug_place(const uint8_t *id, size_t size, char path[DEBUG_PATH_ROOM], struct symbol_object *found) {
    return kept_place(id, size, "/debug", path, found);
}

/* Makes "FOLDER/REST/NAME"; the first two parts may be empty. */
static bool join_path(char to[DEBUG_PATH_ROOM], const char *folder, const char *rest, size_t length, const char *sub,
                      const char *name) {
    const int made = snprintf(to, DEBUG_PATH_ROOM, "%s%.*s%s%s", folder, (int)length, rest, sub, name);
    return made > 0 && (size_t)made < DEBUG_PATH_ROOM;
}

static bool linked_place(const struct debug_search *search, unsigned place, const char *name,
                         char path[DEBUG_PATH_ROOM]) {
    const char *slash = strrchr(search->path, '/');
    const size_t length = slash ? (size_t)(slash - search->path) : 0;
    const char *folder = search->folder ? search->folder : DEBUG_FOLDER;
    if (!slash || length > DEBUG_PATH_ROOM)
        return false;
    return join_path(path, place == 3 ? folder : "", search->path, length, place == 2 ? "/.debug/" : "/", name);
}

bool debug_file_place(const struct debug_link *link, const uint8_t *own_id, size_t own_size,
                      const struct debug_search *search, unsigned place, char path[DEBUG_PATH_ROOM],
                      struct symbol_object *found) {
    const char *folder = search->folder ? search->folder : DEBUG_FOLDER;
    const bool below = (place == 0 || place == 3) && search->folder; /* the given directory is not below symfs */
    const size_t size = search->size ? search->size : own_size;
    const uint8_t *id = search->size ? search->build_id : own_id;
    *found = (struct symbol_object){.kind = SYMBOL_USER,
                                    .path = path,
                                    .symfs = below ? NULL : search->symfs,
                                    .build_id = id,
                                    .build_id_size = size,
                                    .crc = place && link ? &link->crc : NULL};
    if (place == DEBUG_PLACES - 2)
        return fetched_object_place(search->fetched, id, size, "debuginfo", path, found);
    if (place == 0)
        return build_id_path(path, DEBUG_PATH_ROOM, folder, id, size, ".debug");
    if (place == DEBUG_PLACES - 1)
        return kept_debug_place(id, size, path, found);
    return search->path && link && *link->name && linked_place(search, place, link->name, path);
}

bool named_object_debug_place(const struct named_object *o, const struct debug_search *search, unsigned place,
                              char path[DEBUG_PATH_ROOM], struct symbol_object *found) {
    const struct debug_link *link = o->source->debug_link ? o->source->debug_link(o->handle) : NULL;
    size_t size;
    const uint8_t *id = o->source->build_id(o->handle, &size);
    return debug_file_place(link, id, size, search, place, path, found);
}

/* Notes a limit that the object met. If memory for the object ran out, all names fail. */
static void judge(const struct named_object *o, enum symbol_result result, bool is_cut) {
    const struct memory *names = &o->budget->names;
    struct memory *all = o->budget->of->memory;
    if (result == SYMBOL_LIMIT || is_cut)
        object_budget_met(o->budget, o->path);
    if (names->failed != PFR_ERR_MEMORY)
        return;
    all->failed = PFR_ERR_MEMORY;
    all->wanted = names->wanted;
}

static enum symbol_result open_into(struct named_object *o, const struct symbol_object *wanted,
                                    struct symbol_handle **handle) {
    *handle = NULL;
    if (!o->budget)
        return SYMBOL_NO_MEMORY;
    const enum symbol_result result = o->source->open(wanted, &o->budget->names, handle);
    judge(o, result, false);
    return result;
}

void named_object_take(struct named_object *o, const struct jit_dump *dump) {
    if (o->budget)
        judge(o, jit_dump_symbols(dump, &o->budget->names, &o->handle), false);
}

enum symbol_result named_object_open(struct named_object *o, const struct symbol_object *wanted) {
    return open_into(o, wanted, &o->handle);
}

void named_object_open_debug(struct named_object *o, const struct debug_search *search) {
    char path[DEBUG_PATH_ROOM];
    struct symbol_object apart;
    for (unsigned place = 0; place < DEBUG_PLACES && !o->debug; place++)
        if (named_object_debug_place(o, search, place, path, &apart))
            open_into(o, &apart, &o->debug);
}

enum symbol_result named_object_open_elf(struct named_object *o, const struct symbol_object *wanted,
                                         const struct debug_search *search) {
    struct symbol_object bare = *wanted;
    bare.may_be_bare = true;
    o->source = &elf_symbol_source;
    const enum symbol_result result = named_object_open(o, wanted);
    if (result == SYMBOL_NO_SYMBOLS)
        named_object_open(o, &bare);
    if (!o->handle)
        return result;
    named_object_open_debug(o, search);
    if (result == SYMBOL_FOUND || o->debug)
        return SYMBOL_FOUND;
    o->source->close(o->handle);
    o->handle = NULL;
    return result;
}

/* --- Lines. */

bool named_object_try_lines(struct named_object *o, const struct symbol_object *file, const char *debug_folder,
                            const char *cache, struct memory *memory) {
    if (!o->budget)
        return false;
    if (!o->budget->lines.of)
        object_budget_lines(o->budget, memory);
    struct symbol_object cached = *file;
    cached.cache = cache;
    cached.debug_folder = debug_folder;
    return debug_lines_open(&cached, &o->budget->lines, &o->lines) == SYMBOL_FOUND;
}

/* The open object itself, with its build-id. Its debugging information must have the same build-id. */
static struct symbol_object object_itself(const struct named_object *o, const struct debug_search *search) {
    struct symbol_object own = {.kind = SYMBOL_USER, .path = search->path, .symfs = search->symfs};
    own.build_id = o->source->build_id(o->handle, &own.build_id_size);
    return own;
}

void named_object_open_lines(struct named_object *o, const struct debug_search *search, const char *cache,
                             struct memory *memory) {
    struct symbol_object file = object_itself(o, search);
    const uint8_t *const id = file.build_id;
    const size_t size = file.build_id_size;
    char path[DEBUG_PATH_ROOM];
    o->lines_asked = true;
    bool found = named_object_try_lines(o, &file, search->folder, cache, memory);
    for (unsigned place = 0; place < DEBUG_PLACES && !found; place++)
        found = named_object_debug_place(o, search, place, path, &file) &&
                named_object_try_lines(o, &file, search->folder, cache, memory);
    if (!found && kept_object_place(id, size, false, path, &file))
        named_object_try_lines(o, &file, search->folder, cache, memory);
}

static bool find_in(struct named_object *o, struct symbol_handle *handle, uint64_t address, struct symbol *symbol) {
    const enum symbol_result result = o->source->find(handle, address, symbol);
    judge(o, result, result == SYMBOL_FOUND && symbol->is_cut);
    return result == SYMBOL_FOUND;
}

bool named_object_find(struct named_object *o, uint64_t address, struct symbol *symbol) {
    struct symbol apart = {.from = address, .end = address < UINT64_MAX ? address + 1 : address};
    *symbol = apart; /* unless a symbol is found, the result is known for this address only */
    const bool found = find_in(o, o->handle, address, symbol);
    if (!o->debug)
        return found;
    const bool found_apart = find_in(o, o->debug, address, &apart);
    const uint64_t from = symbol->from > apart.from ? symbol->from : apart.from;
    const uint64_t end = symbol->end < apart.end ? symbol->end : apart.end;
    if (found_apart && (!found || apart.start >= symbol->start))
        *symbol = apart;
    symbol->from = from;
    symbol->end = end;
    return found || found_apart;
}

/* NULL: no memory. */
static const char *plain_name(struct symbol_texts *texts, const char *name, bool mangled, unsigned flags) {
    const char *plain = mangled ? name : demangle(&texts->demangler, name, flags);
    return plain || texts->memory->failed == PFR_ERR_MEMORY ? plain : name;
}

static struct symbol_text *keep_text(struct symbol_texts *texts, const char *plain, size_t length) {
    struct symbol_text *made = arena_take(&texts->arena, sizeof *made, sizeof(uint64_t));
    char *text = made ? arena_text(&texts->arena, plain, length) : NULL;
    if (!text)
        return NULL;
    *made = (struct symbol_text){.text = text, .length = (uint32_t)length};
    return made;
}

struct symbol_text *symbol_text_of(struct symbol_texts *texts, const char *name, bool mangled, unsigned flags) {
    const char *plain = plain_name(texts, name, mangled, flags);
    return plain ? keep_text(texts, plain, strlen(plain)) : NULL;
}

static struct symbol_text no_room; /* the text of all names for which the budget has no room */

/* Makes the text of a symbol, if the object's budget has room for it. */
static struct symbol_text *make_text(struct symbol_texts *texts, struct named_object *o, const char *name, bool mangled,
                                     unsigned flags) {
    const char *plain = plain_name(texts, name, mangled, flags);
    if (!plain)
        return NULL;
    const size_t whole = strlen(plain), length = plain == name && whole > SYMBOL_NAME_MOST ? SYMBOL_NAME_MOST : whole;
    const uint64_t file = o->source->size(o->handle) + (o->debug ? o->source->size(o->debug) : 0);
    const bool has_room = object_budget_has(o->budget, length, file + (o->lines ? debug_lines_size(o->lines) : 0));
    if (!has_room || length < whole)
        object_budget_met(o->budget, o->path);
    if (!has_room)
        return &no_room;
    struct symbol_text *text = keep_text(texts, plain, length);
    if (text)
        object_budget_take(o->budget, length);
    else
        object_budget_met(o->budget, o->path);
    return text;
}

struct symbol_text *named_object_text(struct symbol_texts *texts, struct named_object *o, const struct symbol *symbol,
                                      bool mangled, unsigned flags) {
    bool is_new;
    uint64_t *kept = u64_map_at(&o->texts, (uintptr_t)symbol->name, 0, &is_new);
    if (!kept)
        return NULL;
    if (is_new || !*kept)
        *kept = (uint64_t)(uintptr_t)make_text(texts, o, symbol->name, mangled, flags);
    struct symbol_text *const text = (void *)(uintptr_t)*kept;
    return text != &no_room ? text : NULL;
}
