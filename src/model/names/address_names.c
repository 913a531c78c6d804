/* SPDX-License-Identifier: Apache-2.0 */
/* Chooses the source of an object's symbols, and names addresses: see address_names.h. */
#include "model/names/address_names.h"

#include "base/memory/cursor.h"
#include "base/io/descriptor.h"
#include "base/memory/fail.h"
#include "wire/feature_bits.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/utsname.h>
#include <unistd.h>

#define NOTES_ROOM 4096
#define NOTE_BUILD_ID 3u

void address_names_init(struct address_names *n, const struct state *state, struct memory *memory,
                        const struct address_names_options *options) {
    *n = (struct address_names){.memory = memory, .state = state, .options = *options};
    memory_share_sparing(&n->line_memory, memory);
    name_limits_init(&n->limits, memory);
    symbol_texts_init(&n->texts, memory);
}

void address_names_free(struct address_names *n) {
    for (size_t i = 0; i < n->count; i++)
        named_object_close(&n->objects[i]);
    named_object_close(&n->kernel);
    mem_free(n->memory, n->objects, n->room, sizeof *n->objects);
    symbol_texts_free(&n->texts);
}

/* The running kernel's notes; 0 bytes: not available. */
static size_t read_notes(uint8_t notes[NOTES_ROOM]) {
    const int fd = descriptor_open(AT_FDCWD, "/sys/kernel/notes", O_RDONLY, 0);
    size_t length = 0;
    ssize_t got = fd < 0 ? 0 : 1;
    while (got != 0 && length < NOTES_ROOM) {
        got = read(fd, notes + length, NOTES_ROOM - length);
        if (got < 0 && errno != EINTR)
            break;
        length += got > 0 ? (size_t)got : 0;
    }
    if (fd >= 0)
        close(fd);
    return length;
}

/* A stream has no build id of the kernel, so only the release is compared. */
bool kernel_release_is_running(const char *release) {
    struct utsname running;
    return release && *release && uname(&running) == 0 && strcmp(running.release, release) == 0;
}

void kernel_release_of(pfr_reader *reader, char release[RELEASE_ROOM]) {
    struct pfr_rec_feature_osrelease decoded;
    const pfr_feature *f = pfr_find_feature(reader, BIT_OSRELEASE, NULL);
    release[0] = '\0';
    if (!f || pfr_decode_feature(reader, f, &decoded, sizeof decoded, NULL) != PFR_OK)
        return;
    const size_t length = strnlen(decoded.osrelease.at, decoded.osrelease.length);
    if (length >= RELEASE_ROOM)
        return;
    memcpy(release, decoded.osrelease.at, length);
    release[length] = '\0';
}

/* With symfs, objects are those of another machine. The running kernel is then not used, as in perf. */
static bool means_elsewhere(const struct address_names_options *options) {
    return options->naming.symfs && *options->naming.symfs;
}

/* Whether the running kernel is the recorded one, so that its addresses apply. */
static bool kernel_is_running(const struct object *o, const struct address_names_options *options) {
    uint8_t notes[NOTES_ROOM];
    if (means_elsewhere(options))
        return false;
    if (o->build_id_size == 0)
        return kernel_release_is_running(options->release);
    const size_t got = read_notes(notes);
    struct cursor in = cursor_on(notes, got, 0, false);
    uint32_t name_size, size, type;
    const uint8_t *name, *id;
    while (take_u32(&in, &name_size) && take_u32(&in, &size) && take_u32(&in, &type)) {
        if (!take_bytes(&in, ((uint64_t)name_size + 3) & ~3ull, &name) ||
            !take_bytes(&in, ((uint64_t)size + 3) & ~3ull, &id))
            break;
        if (type == NOTE_BUILD_ID && size == o->build_id_size && memcmp(id, o->build_id, size) == 0)
            return true;
    }
    return false;
}

/* Any kernel object: all kernel objects share one source of symbols. */
static uint32_t kernel_object(const struct address_names *n) {
    return n->state->objects.oldest_kernel;
}

/* The source of this object's symbols, and its path; NULL: no source. */
static const struct symbol_source *choose_source(const struct address_names *n, const struct object *o,
                                                 struct symbol_object *wanted, char map[64]) {
    wanted->path = intern_chars(&n->state->names, o->path);
    wanted->symfs = n->options.naming.symfs;
    wanted->build_id = o->build_id;
    wanted->build_id_size = o->build_id_size;
    if (o->kind == OBJECT_FILE)
        return wanted->kind = SYMBOL_USER, &elf_symbol_source;
    if ((o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE) && n->options.naming.vmlinux &&
        !n->options.naming.kallsyms) {
        const uint32_t kernel = kernel_object(n);
        const struct object *of = kernel == NO_OBJECT ? o : &n->state->objects.at[kernel];
        *wanted = (struct symbol_object){.kind = SYMBOL_KERNEL,
                                         .path = n->options.naming.vmlinux,
                                         .build_id = of->build_id,
                                         .build_id_size = of->build_id_size};
        return &elf_symbol_source;
    }
    if (o->kind == OBJECT_KERNEL || o->kind == OBJECT_MODULE) {
        if (!n->options.naming.kallsyms && !kernel_is_running(o, &n->options))
            return NULL;
        *wanted =
            (struct symbol_object){.kind = SYMBOL_KERNEL,
                                   .path = n->options.naming.kallsyms ? n->options.naming.kallsyms : "/proc/kallsyms",
                                   .cache = n->options.naming.kallsyms ? NULL : n->options.naming.cache_dir};
        return &kallsyms_symbol_source;
    }
    if (o->kind == OBJECT_ANONYMOUS) {
        snprintf(map, 64, "/tmp/perf-%u.map", o->pid);
        *wanted = (struct symbol_object){.kind = SYMBOL_JIT, .path = map, .owner = (uint32_t)getuid()};
        return &perf_map_symbol_source;
    }
    return NULL;
}

static void open_kept(const struct object *o, struct named_object *into) {
    char path[DEBUG_PATH_ROOM];
    struct symbol_object kept;
    if (kept_object_place(o->build_id, o->build_id_size, o->kind == OBJECT_VDSO, path, &kept))
        named_object_open(into, &kept);
}

static void open_fetched(struct address_names *n, const struct object *o, struct named_object *into) {
    char path[DEBUG_PATH_ROOM];
    struct symbol_object kept;
    if (!fetched_object_place(n->options.naming.fetched, o->build_id, o->build_id_size, "executable", path, &kept))
        return;
    kept.may_be_bare = true;
    named_object_open(into, &kept);
}

/* The vdso exists only as the copy that perf keeps. Without a recorded build id, this process's own vdso is used if the
   running kernel is the recorded one, as in perf; perf never does this for an object in the table of build ids. */
static void open_vdso(struct address_names *n, const struct object *o, struct named_object *into) {
    const struct symbol_object own = {.kind = SYMBOL_VDSO};
    into->source = &elf_symbol_source;
    open_kept(o, into);
    if (into->handle || o->build_id_size > 0 || means_elsewhere(&n->options) ||
        !kernel_release_is_running(n->options.release))
        return;
    named_object_open(into, &own);
}

struct debug_search address_names_search(const struct address_names *n, const struct object *what) {
    return (struct debug_search){.path = intern_chars(&n->state->names, what->path),
                                 .symfs = n->options.naming.symfs,
                                 .folder = n->options.naming.debug_dir,
                                 .fetched = n->options.naming.fetched,
                                 .build_id = what->build_id,
                                 .size = what->build_id_size};
}

/* Uses the jitdump that the state has already read. */
static void open_dump(struct address_names *n, const struct object *o, struct named_object *into) {
    const struct jit_dump *dump = jit_dump_of(&n->state->jit, (uint32_t)(o - n->state->objects.at));
    into->source = &jit_dump_symbol_source;
    if (dump)
        named_object_take(into, dump);
}

static void open_object(struct address_names *n, const struct object *o, struct named_object *into) {
    struct symbol_object wanted = {0};
    char map[64];
    named_object_begin(into, &n->limits, intern_chars(&n->state->names, o->path));
    if (o->kind == OBJECT_VDSO) {
        open_vdso(n, o, into);
        return;
    }
    into->source = choose_source(n, o, &wanted, map);
    if (o->kind == OBJECT_JITDUMP) {
        open_dump(n, o, into);
        return;
    }
    if (o->kind != OBJECT_FILE) {
        if (into->source)
            named_object_open(into, &wanted);
        return;
    }
    const struct debug_search search = address_names_search(n, o);
    named_object_open_elf(into, &wanted, &search);
    if (into->handle)
        return;
    open_kept(o, into);
    if (!into->handle)
        open_fetched(n, o, into);
    if (into->handle)
        named_object_open_debug(into, &search);
}

static pfr_status make_room(struct address_names *n, uint32_t object, pfr_error *err) {
    while (n->count <= object) {
        if (n->count == n->room) {
            void *more = mem_grow(n->memory, n->objects, n->count, &n->room, 64, sizeof *n->objects);
            if (!more)
                return mem_fail(n->memory, err, "names");
            n->objects = more;
        }
        n->objects[n->count++] = (struct named_object){0};
    }
    return PFR_OK;
}

/* Converts an address of the running kernel to the address in the kernel's file: the kernel may have been relocated at
   boot. The pgoff of the kernel's map is the address of its text, which is the first executable segment of the file. */
static uint64_t address_in_vmlinux(const struct address_names *n, const struct named_object *o, uint64_t address) {
    static const struct record_key last = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct symbol_segments segments = o->source->segments(o->handle);
    const struct map *map = space_find(&n->state->spaces, n->state->kernel, address, last);
    for (size_t i = 0; map && i < segments.count; i++)
        if (segments.at[i].executable)
            return address - (map->pgoff - segments.at[i].address);
    return address;
}

static bool find_symbol(struct named_object *o, uint64_t address, struct symbol *symbol, struct address_name *name) {
    const bool found = named_object_find(o, address, symbol);
    name->ahead = found ? address - symbol->start : 0;
    name->size = found ? symbol->size : 0;
    name->before = address - symbol->from;
    name->behind = symbol->end - address;
    return found;
}

/* Converts an address to an address as in the object's symbols: from the offset in the object, or, for the kernel, from
   the address in the running kernel. */
static uint64_t address_in(const struct address_names *n, const struct named_object *o, bool kernel, uint64_t address,
                           uint64_t offset) {
    uint64_t at = offset;
    if (kernel)
        return o->source == &elf_symbol_source ? address_in_vmlinux(n, o, address) : address;
    const struct symbol_segments segments = o->source->segments(o->handle);
    return segments.count && !segments_to_address(segments, offset, &at) ? NO_ADDRESS : at;
}

/* perf never demangles names from kallsyms, and kernel names only on request. */
static bool is_mangled(const struct address_names *n, const struct named_object *o) {
    if (o != &n->kernel)
        return n->options.naming.mangled;
    return !n->options.naming.demangle_kernel || o->source != &elf_symbol_source;
}

unsigned address_names_flags(const struct address_names *n) {
    return demangle_flags_of(&n->options.naming);
}

static bool shown_text(struct address_names *n, struct named_object *o, const struct symbol *symbol,
                       struct address_name *name) {
    struct symbol_text *made = named_object_text(&n->texts, o, symbol, is_mangled(n, o), address_names_flags(n));
    if (!made)
        return false;
    name->text = made->text;
    name->mangled = symbol->name;
    name->length = made->length;
    name->note = &made->note;
    return true;
}

pfr_status address_names_object(struct address_names *n, uint32_t object, uint64_t address, uint64_t offset,
                                struct named_object **found, uint64_t *at, pfr_error *err) {
    const struct object *what = &n->state->objects.at[object];
    const bool kernel = what->kind == OBJECT_KERNEL || what->kind == OBJECT_MODULE;
    if (!kernel)
        PFR_TRY(make_room(n, object, err));
    struct named_object *o = *found = kernel ? &n->kernel : &n->objects[object];
    if (!o->open)
        open_object(n, what, o);
    *at = o->handle ? address_in(n, o, kernel, address, offset) : NO_ADDRESS;
    return PFR_OK;
}

/* Whether the name is known without opening an object. */
static bool is_known(const struct address_names *n, uint32_t object, struct address_name *name) {
    *name = (struct address_name){.behind = 1};
    if (object == NO_OBJECT || n->options.naming.no_symbols)
        return true;
    const struct object *what = &n->state->objects.at[object];
    if (what->kind != OBJECT_KSYMBOL)
        return false;
    const struct intern_text text = intern_get(&n->state->names, what->path);
    *name = (struct address_name){
        .text = (const char *)text.bytes, .length = text.length, .mangled = (const char *)text.bytes, .behind = 1};
    return true;
}

/* Finds the name of an address as in the object's symbols. */
static pfr_status find_at(struct address_names *n, struct named_object *o, uint64_t at, struct address_name *name,
                          pfr_error *err) {
    struct symbol symbol;
    if (!o->handle)
        name->before = name->behind = UINT64_MAX;
    const bool found = at != NO_ADDRESS && find_symbol(o, at, &symbol, name);
    if (found && !shown_text(n, o, &symbol, name))
        name->ahead = name->size = 0; /* there was no memory for the name */
    return n->memory->failed == PFR_ERR_MEMORY ? mem_fail(n->memory, err, "names") : PFR_OK;
}

static bool is_near(const struct address_near *near, uint32_t object, uint64_t at) {
    return near->from <= at && at < near->end && near->object == object;
}

static void keep_near(struct address_near *near, uint32_t object, uint64_t at, const struct address_name *name) {
    *near = (struct address_near){.start = at - name->ahead, .object = object, .name = *name};
    near->from = at - (name->before < at ? name->before : at);
    near->end = name->behind < UINT64_MAX - at ? at + name->behind : UINT64_MAX;
}

pfr_status address_names_near(struct address_names *n, struct address_near *near, uint32_t object, uint64_t address,
                              uint64_t offset, struct address_name *name, pfr_error *err) {
    struct named_object *o;
    uint64_t at;
    if (is_known(n, object, name))
        return PFR_OK;
    n->memory->failed = PFR_OK;
    PFR_TRY(address_names_object(n, object, address, offset, &o, &at, err));
    if (at == NO_ADDRESS || !is_near(near, object, at)) {
        PFR_TRY(find_at(n, o, at, name, err));
        if (at != NO_ADDRESS)
            keep_near(near, object, at, name);
        return PFR_OK;
    }
    *name = near->name;
    name->ahead = name->text ? at - near->start : 0;
    name->before = at - near->from;
    name->behind = near->end - at;
    return PFR_OK;
}

bool address_names_is_near(struct address_names *n, const struct address_near *near, uint32_t object, uint64_t address,
                           uint64_t offset) {
    struct named_object *o;
    uint64_t at;
    if (near->object != object || near->from == near->end)
        return false;
    return address_names_object(n, object, address, offset, &o, &at, NULL) >= 0 && is_near(near, object, at);
}

pfr_status address_names_find(struct address_names *n, uint32_t object, uint64_t address, uint64_t offset,
                              struct address_name *name, pfr_error *err) {
    struct address_near nothing = {.end = 0};
    return address_names_near(n, &nothing, object, address, offset, name, err);
}

pfr_status address_names_kernel(struct address_names *n, uint64_t address, uint32_t *object, pfr_error *err) {
    struct address_name name = {0};
    const uint32_t kernel = kernel_object(n);
    *object = NO_OBJECT;
    if (kernel == NO_OBJECT)
        return PFR_OK;
    PFR_TRY(address_names_find(n, kernel, address, address, &name, err));
    if (name.text)
        *object = kernel;
    return PFR_OK;
}

pfr_status address_names_at(struct address_names *n, const struct place *place, uint64_t address,
                            struct address_name *name, pfr_error *err) {
    if (!place->ksymbol)
        return address_names_find(n, place->object, address, place->offset, name, err);
    PFR_TRY(address_names_find(n, place->ksymbol->object, address, 0, name, err));
    name->ahead = address - place->ksymbol->start;
    return PFR_OK;
}
