/* SPDX-License-Identifier: Apache-2.0 */
/* Why addresses of an object have no names: see missing_names.h. */
#include "model/names/missing_names.h"

#include "base/memory/fail.h"
#include "model/names/kernel_file.h"

#include <stdio.h>
#include <string.h>

#define DELETED " (deleted)"

static const struct {
    const char *name, *text;
    enum object_need need;
} faults[OBJECT_FAULTS] = {
    [FAULT_NO_MAP] = {"no-map", "these addresses were in no mapping", NEED_NOTHING},
    [FAULT_MISSING] = {"missing", "the file does not exist", NEED_OBJECT},
    [FAULT_DELETED] = {"deleted", "the file was deleted during the recording", NEED_OBJECT},
    [FAULT_REPLACED] = {"replaced", "the file is of another build", NEED_OBJECT},
    [FAULT_UNVERIFIED] = {"unverified", "the file has no build-id, but the recorded one had", NEED_OBJECT},
    [FAULT_NOT_PERMITTED] = {"not-permitted", "the file may not be read", NEED_READER},
    [FAULT_NO_OBJECT] = {"no-object", "the file is not an ELF object", NEED_OBJECT},
    [FAULT_UNREADABLE] = {"unreadable", "the file is damaged, too large or unreadable", NEED_OBJECT},
    [FAULT_STRIPPED] = {"stripped", "its symbols were stripped, and no separate debug file was found", NEED_DEBUG},
    [FAULT_NO_DEBUG_INFO] = {"no-debug-info", "it has symbols but no debugging information", NEED_DEBUG},
    [FAULT_NO_SYMBOL] = {"no-symbol", "no symbol covers the other addresses", NEED_NOTHING},
    [FAULT_NO_LINE] = {"no-line", "its debugging information does not cover the other addresses", NEED_NOTHING},
    [FAULT_OTHER_KERNEL] = {"other-kernel", "the running kernel is not the recorded one", NEED_VMLINUX},
    [FAULT_OTHER_VMLINUX] = {"other-vmlinux", "the file given with --vmlinux is of another kernel or has no symbols",
                             NEED_VMLINUX},
    [FAULT_HIDDEN_KERNEL] = {"hidden-kernel", "the kernel hides its addresses (kptr_restrict)", NEED_SETTING},
    [FAULT_KERNEL_LINES] = {"kernel-lines", "kallsyms has symbols but no source lines", NEED_VMLINUX},
    [FAULT_NAMES_ALONE] = {"names-alone", "the file with the names has no source lines", NEED_NOTHING},
    [FAULT_NO_JIT_MAP] = {"no-jit-map", "it was generated at run time, and there is no jitdump or perf map", NEED_MAP},
    [FAULT_NO_VDSO] = {"no-vdso", "there is no copy of the recorded kernel's vDSO", NEED_NOTHING},
    [FAULT_NO_FILE] = {"no-file", "the memory is not mapped from a file", NEED_NOTHING},
    [FAULT_NO_SPLIT] = {"no-split", "its split debugging information (.dwo or .dwp) is missing", NEED_SPLIT},
    [FAULT_NO_SHARED] = {"no-shared", "its shared debugging information (written by dwz -m) is missing", NEED_SHARED},
};

const char *object_fault_name(enum object_fault fault) {
    return faults[fault].name;
}

const char *object_fault_text(enum object_fault fault) {
    return faults[fault].text;
}

enum object_need object_fault_need(enum object_fault fault) {
    return faults[fault].need;
}

/* --- Reasons. */

/* The fault for a result of opening; SYMBOL_FOUND: it had no symbols. */
static enum object_fault fault_of(enum symbol_result result) {
    static const uint8_t table[SYMBOL_RESULTS] = {
        [SYMBOL_FOUND] = FAULT_STRIPPED,        [SYMBOL_NO_MATCH] = FAULT_NO_SYMBOL,
        [SYMBOL_NO_FILE] = FAULT_MISSING,       [SYMBOL_NOT_PERMITTED] = FAULT_NOT_PERMITTED,
        [SYMBOL_NOT_REGULAR] = FAULT_NO_OBJECT, [SYMBOL_NOT_ELF] = FAULT_NO_OBJECT,
        [SYMBOL_OTHER_BUILD] = FAULT_REPLACED,  [SYMBOL_NO_BUILD_ID] = FAULT_UNVERIFIED,
        [SYMBOL_NO_SYMBOLS] = FAULT_STRIPPED,   [SYMBOL_HIDDEN] = FAULT_HIDDEN_KERNEL,
        [SYMBOL_DAMAGED] = FAULT_UNREADABLE,    [SYMBOL_LIMIT] = FAULT_UNREADABLE,
        [SYMBOL_NO_MEMORY] = FAULT_UNREADABLE,  [SYMBOL_IO] = FAULT_UNREADABLE,
    };
    return (enum object_fault)table[result];
}

static bool is_deleted(const char *path) {
    const size_t length = strlen(path), more = strlen(DELETED);
    return length > more && strcmp(path + length - more, DELETED) == 0;
}

static void set_id(struct build_id *id, const uint8_t *bytes, size_t size) {
    id->size = size <= BUILD_ID_MOST ? size : 0;
    memcpy(id->bytes, bytes, id->size);
}

/* An object that has lines may still lack information about inlined functions. */
static void look_for_inlined(const struct named_object *o, struct object_look *look) {
    const struct debug_missed *missed = o->lines ? debug_lines_missed(o->lines) : NULL;
    look->lacks_inlined = missed && (missed->units || *missed->shared);
    if (!look->lacks_inlined)
        return;
    look->inlined = missed->units ? FAULT_NO_SPLIT : FAULT_NO_SHARED;
    look->missed = missed;
}

static void look_at_file(struct address_names *n, const struct object *what, const struct named_object *o,
                         struct object_look *look) {
    char kept_path[DEBUG_PATH_ROOM];
    struct symbol_object kept;
    const struct symbol_object own = {.kind = SYMBOL_USER,
                                      .path = intern_chars(&n->state->names, what->path),
                                      .symfs = n->options.naming.symfs,
                                      .build_id = what->build_id,
                                      .build_id_size = what->build_id_size};
    struct elf_facts facts;
    const enum symbol_result result = elf_look(&own, n->memory, &facts);
    if (look->id.size == 0)
        look->id = facts.id;
    if (!o->handle) {
        look->other = facts.id;
        look->names = result == SYMBOL_NO_FILE && is_deleted(own.path) ? FAULT_DELETED : fault_of(result);
        look->lines = look->names;
        return;
    }
    if (result != SYMBOL_FOUND && kept_object_place(what->build_id, what->build_id_size, false, kept_path, &kept))
        elf_look(&kept, n->memory, &facts);
    const bool has_symbols = facts.has_symtab || o->debug;
    look->names = has_symbols ? FAULT_NO_SYMBOL : FAULT_STRIPPED;
    look->lines = o->lines ? FAULT_NO_LINE : has_symbols ? FAULT_NO_DEBUG_INFO : FAULT_STRIPPED;
    look_for_inlined(o, look);
}

static bool look_at_vmlinux(const struct address_names *n, struct object_look *look) {
    struct elf_facts facts;
    enum symbol_result result;
    if (!kernel_file_is_refused(n, &facts, &result))
        return false;
    look->names = look->lines = FAULT_OTHER_VMLINUX;
    look->other = facts.id;
    return true;
}

static void look_at_kernel(struct address_names *n, const struct object *what, const struct named_object *o,
                           struct object_look *look) {
    struct symbol symbol;
    const uint32_t kernel = n->state->objects.newest_kernel;
    if (kernel != NO_OBJECT)
        set_id(&look->id, n->state->objects.at[kernel].build_id, n->state->objects.at[kernel].build_id_size);
    if (look_at_vmlinux(n, look))
        return;
    const enum symbol_result result = o->handle ? o->source->find(o->handle, 0, &symbol) : SYMBOL_FOUND;
    look->names = !o->handle ? FAULT_OTHER_KERNEL : result == SYMBOL_FOUND ? FAULT_NO_SYMBOL : fault_of(result);
    look->lines = o->handle && what->kind == OBJECT_MODULE ? FAULT_NAMES_ALONE
                  : o->lines                               ? FAULT_NO_LINE
                  : o->handle                              ? FAULT_KERNEL_LINES
                                                           : FAULT_OTHER_KERNEL;
}

static void look_at_others(const struct object *what, const struct named_object *o, struct object_look *look) {
    const enum object_fault without = what->kind == OBJECT_ANONYMOUS ? FAULT_NO_JIT_MAP
                                      : what->kind == OBJECT_VDSO    ? FAULT_NO_VDSO
                                                                     : FAULT_NO_FILE;
    look->names = o->handle ? FAULT_NO_SYMBOL : without;
    look->lines = o->handle || what->kind == OBJECT_KSYMBOL ? FAULT_NAMES_ALONE : without;
}

pfr_status object_look(struct address_names *n, uint32_t object, struct object_look *look, pfr_error *err) {
    *look = (struct object_look){.names = FAULT_NO_MAP, .lines = FAULT_NO_MAP};
    if (object == NO_OBJECT)
        return PFR_OK;
    const struct object *what = &n->state->objects.at[object];
    static const struct named_object none;
    struct named_object *found = (struct named_object *)(uintptr_t)&none;
    uint64_t at;
    n->memory->failed = PFR_OK;
    set_id(&look->id, what->build_id, what->build_id_size);
    if (what->kind != OBJECT_KSYMBOL)
        PFR_TRY(address_names_object(n, object, 0, 0, &found, &at, err));
    if (what->kind == OBJECT_FILE)
        look_at_file(n, what, found, look);
    else if (what->kind == OBJECT_KERNEL || what->kind == OBJECT_MODULE)
        look_at_kernel(n, what, found, look);
    else
        look_at_others(what, found, look);
    return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "symbols") : PFR_OK;
}

/* --- Other places. */

struct spare_search {
    struct address_names *names;
    const struct object_look *look;
    const char *path; /* path of the object */
    enum object_need need;
    bool lines;
    char tried[DEBUG_PATH_ROOM];
    bool below; /* `tried` is below symfs */
};

static bool made(int length) {
    return length > 0 && length < (int)DEBUG_PATH_ROOM;
}

/* Makes the path "FOLDER/.build-id/ab/cdef...REST". */
static bool by_id(struct spare_search *s, const char *folder, const char *rest) {
    return build_id_path(s->tried, sizeof s->tried, folder, s->look->id.bytes, s->look->id.size, rest);
}

static bool by_debuginfod(struct spare_search *s, const char *file) {
    char folder[DEBUG_PATH_ROOM / 2];
    struct symbol_object found;
    return fetched_folder(folder, sizeof folder) &&
           fetched_object_place(folder, s->look->id.bytes, s->look->id.size, file, s->tried, &found);
}

/* The place with this number; *ended: there are no more. False: no place with this number. */
static bool object_place(struct spare_search *s, unsigned number, bool *ended) {
    const bool has_symfs = s->names->options.naming.symfs && *s->names->options.naming.symfs;
    s->below = number != 1 && number != 2;
    switch (number) {
    case 0:
        return is_deleted(s->path) &&
               made(snprintf(s->tried, sizeof s->tried, "%.*s", (int)(strlen(s->path) - strlen(DELETED)), s->path));
    case 1:
        return has_symfs && made(snprintf(s->tried, sizeof s->tried, "%s", s->path));
    case 2:
        return by_debuginfod(s, "executable");
    case 3:
        return by_id(s, "/usr/lib/debug", "");
    case 4:
        return by_id(s, "/usr/lib", "");
    default:
        *ended = true;
        return false;
    }
}

static bool debug_place(struct spare_search *s, unsigned number, bool *ended) {
    const char *name = strrchr(s->path, '/');
    const int folder = name ? (int)(name - s->path) : 0;
    s->below = number != 6;
    switch (number) {
    case 0:
        return made(snprintf(s->tried, sizeof s->tried, "%s.debug", s->path));
    case 1:
        return made(snprintf(s->tried, sizeof s->tried, "%s.dbg", s->path));
    case 2:
        return name && made(snprintf(s->tried, sizeof s->tried, "%.*s/.debug%s", folder, s->path, name));
    case 3:
        return name && made(snprintf(s->tried, sizeof s->tried, "%.*s/.debug%s.debug", folder, s->path, name));
    case 4:
        return made(snprintf(s->tried, sizeof s->tried, "/usr/lib/debug%s", s->path));
    case 5:
        return made(snprintf(s->tried, sizeof s->tried, "/usr/lib/debug%s.debug", s->path));
    case 6:
        return by_debuginfod(s, "debuginfo");
    case 7:
        return by_id(s, "/usr/lib/debug", ".debug");
    default:
        *ended = true;
        return false;
    }
}

static bool vmlinux_place(struct spare_search *s, unsigned number, bool *ended) {
    static const char *const forms[] = {"/usr/lib/debug/boot/vmlinux-%s", "/usr/lib/debug/lib/modules/%s/vmlinux",
                                        "/boot/vmlinux-%s", "/lib/modules/%s/build/vmlinux"};
    const char *release = s->names->options.release;
    s->below = number != 0;
    if (number == 0)
        return by_debuginfod(s, "debuginfo");
    if (number == 1)
        return by_id(s, "/usr/lib/debug", ".debug");
    *ended = number - 2 >= sizeof forms / sizeof *forms;
    if (*ended || !release || !*release || strchr(release, '/'))
        return false;
    const char *hole = strstr(forms[number - 2], "%s");
    return made(snprintf(s->tried, sizeof s->tried, "%.*s%s%s", (int)(hole - forms[number - 2]), forms[number - 2],
                         release, hole + 2));
}

static bool would_help(struct spare_search *s) {
    struct elf_facts facts;
    const struct symbol_object tried = {.kind = SYMBOL_USER,
                                        .path = s->tried,
                                        .symfs = s->below ? s->names->options.naming.symfs : NULL,
                                        .build_id = s->look->id.bytes,
                                        .build_id_size = s->look->id.size};
    if (elf_look(&tried, s->names->memory, &facts) != SYMBOL_FOUND)
        return false;
    if (s->need == NEED_OBJECT)
        return facts.has_code;
    return facts.has_debug_info || (!s->lines && facts.has_symtab);
}

static bool search(struct spare_search *s) {
    bool ended = false;
    for (unsigned number = 0; !ended; number++) {
        const bool is_place = s->need == NEED_OBJECT  ? object_place(s, number, &ended)
                              : s->need == NEED_DEBUG ? debug_place(s, number, &ended)
                                                      : vmlinux_place(s, number, &ended);
        if (is_place && would_help(s))
            return true;
    }
    return false;
}

pfr_status object_spare_find(struct address_names *n, uint32_t object, const struct object_look *look,
                             enum object_need need, bool lines, struct object_spare *spare, pfr_error *err) {
    const struct object *what = &n->state->objects.at[object];
    struct spare_search s = {
        .names = n, .look = look, .path = intern_chars(&n->state->names, what->path), .need = need, .lines = lines};
    struct symbol_object kept;
    *spare = (struct object_spare){0};
    if (look->id.size == 0)
        return PFR_OK;
    n->memory->failed = PFR_OK;
    if (!(need == NEED_DEBUG ? kept_debug_place(look->id.bytes, look->id.size, spare->place, &kept)
                             : kept_object_place(look->id.bytes, look->id.size, false, spare->place, &kept)))
        spare->place[0] = '\0';
    if (search(&s) && !made(snprintf(spare->path, sizeof spare->path, "%s%s",
                                     s.below && n->options.naming.symfs ? n->options.naming.symfs : "", s.tried)))
        spare->path[0] = '\0';
    return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "symbols") : PFR_OK;
}
