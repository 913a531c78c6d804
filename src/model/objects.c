/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and their short names: see objects.h. The rules of names are those of perf's `dso` column. */
#include "model/objects.h"

#include "base/cursor.h"
#include "base/fail.h"

#include <stdio.h>

#define LENGTH_VALID 0x8000u
#define CPUMODE 7u
#define CPUMODE_KERNEL 1u

void objects_init(struct objects *all, struct memory *memory, struct intern_table *names) {
    *all = (struct objects){.memory = memory, .names = names};
    intern_init(&all->keys, memory);
}

void objects_free(struct objects *all) {
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    intern_free(&all->keys);
}

static bool begins(const char *text, size_t length, const char *with) {
    const size_t n = strlen(with);
    return length >= n && memcmp(text, with, n) == 0;
}

static bool is_anonymous(const char *path, size_t length) {
    return begins(path, length, "//anon") || begins(path, length, "/dev/zero") || begins(path, length, "/anon_hugepage");
}

static enum object_kind kind_of(const char *path, size_t length, bool kernel) {
    if (kernel)
        return begins(path, length, "[kernel") || begins(path, length, "[guest.kernel") ? OBJECT_KERNEL : OBJECT_MODULE;
    if (is_anonymous(path, length))
        return OBJECT_ANONYMOUS;
    if (begins(path, length, "[vdso") || begins(path, length, "[vsyscall"))
        return OBJECT_VDSO;
    return length && path[0] == '/' ? OBJECT_FILE : OBJECT_OTHER;
}

/* The part of a path behind its last slash. */
static const char *base_name(const char *path, size_t *length) {
    const char *slash = memrchr(path, '/', *length);
    if (!slash)
        return path;
    *length -= (size_t)(slash + 1 - path);
    return slash + 1;
}

/* x-y.ko.gz is called [x_y] */
static size_t module_name(const char *path, size_t length, char *to, size_t room) {
    const char *name = base_name(path, &length);
    const char *ko = memmem(name, length, ".ko", 3);
    size_t n = 0;
    if (!ko || length > room - 3)
        return 0;
    to[n++] = '[';
    for (const char *c = name; c < ko; c++)
        to[n++] = *c == '-' ? '_' : *c;
    to[n++] = ']';
    return n;
}

static pfr_status name_object(struct objects *all, struct object *o, pfr_error *err) {
    char made[320];
    const struct intern_text path = intern_get(all->names, o->path);
    const char *name = (const char *)path.bytes;
    size_t length = path.length, n = 0;
    if (o->kind == OBJECT_KERNEL) {
        name = begins(name, length, "[guest") ? "[guest.kernel.kallsyms]"
               : all->vmlinux                   ? "[kernel.vmlinux]"
                                              : "[kernel.kallsyms]";
        length = strlen(name);
    } else if (o->kind == OBJECT_ANONYMOUS) {
        length = (size_t)snprintf(made, sizeof made, "[JIT] tid %d", (int)o->pid);
        name = made;
    } else if (o->kind == OBJECT_MODULE && (n = module_name(name, length, made, sizeof made)) > 0) {
        name = made;
        length = n;
    } else if (length && name[0] != '[') {
        name = base_name(name, &length);
    }
    return intern_put(all->names, name, length, &o->short_name, err);
}

static pfr_status make_room(struct objects *all, uint32_t number, pfr_error *err) {
    if (number < all->room)
        return PFR_OK;
    void *more = mem_grow(all->memory, all->at, number, &all->room, 64, sizeof *all->at);
    if (!more)
        return mem_fail(all->memory, err, "objects");
    all->at = more;
    return PFR_OK;
}

/* path NUL, pid of anonymous memory, kernel or not, build-id: as bytes, so that one table finds them */
static size_t make_key(uint8_t *key, uint32_t path, uint32_t pid, bool kernel, const uint8_t *build_id, unsigned size) {
    memcpy(key, &path, 4);
    memcpy(key + 4, &pid, 4);
    key[8] = kernel;
    if (size)
        memcpy(key + 9, build_id, size);
    return 9 + size;
}

pfr_status objects_of_map(struct objects *all, const pfr_text *path, uint32_t pid, bool kernel, const uint8_t *build_id,
                          unsigned size, uint32_t *number, pfr_error *err) {
    uint8_t key[9 + BUILD_ID_ROOM];
    struct object o = {.kind = (uint8_t)kind_of(path->at, path->length, kernel)};
    const uint32_t before = all->keys.count;
    if (size > BUILD_ID_ROOM)
        size = BUILD_ID_ROOM;
    PFR_TRY(intern_put(all->names, path->at, path->length, &o.path, err));
    o.pid = o.kind == OBJECT_ANONYMOUS ? pid : 0;
    PFR_TRY(intern_put(&all->keys, key, make_key(key, o.path, o.pid, kernel, build_id, size), number, err));
    if (all->keys.count == before)
        return PFR_OK;
    o.build_id_size = (uint8_t)size;
    if (size)
        memcpy(o.build_id, build_id, size);
    PFR_TRY(name_object(all, &o, err));
    PFR_TRY(make_room(all, *number, err));
    all->at[*number] = o;
    return PFR_OK;
}

/* Ids without a valid length: trailing groups of four zero bytes are padding. */
static unsigned id_length(const struct pfr_rec_build_id_entry *entry) {
    unsigned length = BUILD_ID_ROOM;
    if ((entry->misc & LENGTH_VALID) && entry->length <= BUILD_ID_ROOM)
        return entry->length;
    while (length && load_u32(entry->build_id.at + length - 4, false) == 0)
        length -= 4;
    return length;
}

static bool same_object(const struct objects *all, const struct object *o, const pfr_text *name, bool kernel) {
    const struct intern_text path = intern_get(all->names, o->path);
    if (kernel && o->kind == OBJECT_KERNEL)
        return !memmem(name->at, name->length, ".ko", 3) && !begins(name->at, name->length, "[guest");
    return path.length == name->length && memcmp(path.bytes, name->at, name->length) == 0;
}

pfr_status objects_learn(struct objects *all, const struct pfr_rec_build_id_entry *entry, pfr_error *err) {
    const bool kernel = (entry->misc & CPUMODE) == CPUMODE_KERNEL;
    const bool vmlinux = kernel && memmem(entry->filename.at, entry->filename.length, "vmlinux", 7);
    const unsigned length = id_length(entry);
    all->vmlinux = all->vmlinux || vmlinux;
    for (uint32_t i = 0; i < all->keys.count; i++) {
        struct object *o = &all->at[i];
        if (!same_object(all, o, &entry->filename, kernel))
            continue;
        if (o->build_id_size == 0 && length) {
            memcpy(o->build_id, entry->build_id.at, length);
            o->build_id_size = (uint8_t)length;
        }
        if (vmlinux && o->kind == OBJECT_KERNEL)
            PFR_TRY(name_object(all, o, err));
    }
    return PFR_OK;
}
