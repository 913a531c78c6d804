/* SPDX-License-Identifier: Apache-2.0 */
/* Objects and their short names: see objects.h. The rules of names are those of perf's `dso` column. */
#include "model/state/objects.h"

#include "base/memory/cursor.h"
#include "base/memory/fail.h"

#include <string.h>

#define LENGTH_VALID 0x8000u
#define KEY_OF_KSYMBOL 2u

void objects_init(struct objects *all, struct memory *memory, struct intern_table *names) {
    *all = (struct objects){.memory = memory, .names = names, .newest_kernel = NO_OBJECT, .oldest_kernel = NO_OBJECT};
    intern_init(&all->keys, memory);
    u64_map_init(&all->newest_of, memory);
    u64_map_init(&all->learned_of, memory);
}

void objects_free(struct objects *all) {
    mem_free(all->memory, all->at, all->room, sizeof *all->at);
    mem_free(all->memory, all->learned, all->learned_room, sizeof *all->learned);
    u64_map_free(&all->newest_of);
    u64_map_free(&all->learned_of);
    intern_free(&all->keys);
}

static bool begins(const char *text, size_t length, const char *with) {
    const size_t n = strlen(with);
    return length >= n && memcmp(text, with, n) == 0;
}

static bool is_in_no_file(const char *path, size_t length) {
    static const char *const names[] = {"//anon", "/dev/zero", "/anon_hugepage", "[stack", "[heap]", "/SYSV"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins(path, length, names[i]))
            return true;
    return false;
}

static enum object_kind kind_of(const char *path, size_t length, enum map_use use) {
    if (use == MAP_OF_KERNEL)
        return begins(path, length, "[kernel") || begins(path, length, "[guest.kernel") ? OBJECT_KERNEL : OBJECT_MODULE;
    if (is_in_no_file(path, length))
        return use == MAP_OF_CODE ? OBJECT_ANONYMOUS : OBJECT_MEMORY;
    if (begins(path, length, "[vdso") || begins(path, length, "[vsyscall"))
        return OBJECT_VDSO;
    return length && path[0] == '/' ? OBJECT_FILE : OBJECT_OTHER;
}

/* The part of a path after its last slash. */
static const char *base_name(const char *path, size_t *length) {
    const char *slash = memrchr(path, '/', *length);
    if (!slash)
        return path;
    *length -= (size_t)(slash + 1 - path);
    return slash + 1;
}

/* Writes the name of a module: [x_y] for x-y.ko.gz. */
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

/* Formats the number without printf, because there is one such name per process. */
static size_t name_of_made_code(char *to, uint32_t pid) {
    static const char begin[] = "[JIT] tid ";
    char digits[10];
    size_t length = sizeof begin - 1, count = 0;
    memcpy(to, begin, length);
    if ((int32_t)pid < 0)
        to[length++] = '-';
    for (uint32_t left = (int32_t)pid < 0 ? -pid : pid; left || count == 0; left /= 10)
        digits[count++] = (char)('0' + left % 10);
    while (count)
        to[length++] = digits[--count];
    return length;
}

static pfr_status name_object(struct objects *all, struct object *o, pfr_error *err) {
    char made[320];
    const struct intern_text path = intern_get(all->names, o->path);
    const char *name = (const char *)path.bytes;
    size_t length = path.length, n = 0;
    if (o->kind == OBJECT_KERNEL) {
        name = begins(name, length, "[guest") ? "[guest.kernel.kallsyms]"
               : all->vmlinux                 ? "[kernel.vmlinux]"
                                              : "[kernel.kallsyms]";
        length = strlen(name);
    } else if (o->kind == OBJECT_ANONYMOUS) {
        length = name_of_made_code(made, o->pid);
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

/* Makes the key of an object: path, pid of anonymous memory, kernel or KSYMBOL or neither, and build id, as bytes. */
static size_t make_key(uint8_t *key, uint32_t path, uint32_t pid, uint8_t kernel, const uint8_t *build_id,
                       unsigned size) {
    memcpy(key, &path, 4);
    memcpy(key + 4, &pid, 4);
    key[8] = kernel;
    if (size)
        memcpy(key + 9, build_id, size);
    return 9 + size;
}

/* Applies an entry of the list of build ids, which may be read before or after the object. */
static void fill(struct object *o, const struct learned_id *id) {
    o->listed = true;
    if (o->build_id_size > 0 || id->size == 0)
        return;
    memcpy(o->build_id, id->bytes, id->size);
    o->build_id_size = id->size;
}

/* Links the object to the other objects of its path, which are found that way. Kernels, whose paths differ, have a list
   of their own. */
static pfr_status enlist(struct objects *all, uint32_t number, pfr_error *err) {
    struct object *o = &all->at[number];
    uint64_t learned;
    if (o->kind == OBJECT_KERNEL) {
        o->sibling = all->newest_kernel;
        all->newest_kernel = number;
        if (all->oldest_kernel == NO_OBJECT)
            all->oldest_kernel = number;
        fill(o, &all->kernel_id);
    }
    if (u64_map_get(&all->learned_of, o->path, &learned))
        fill(o, &all->learned[learned]);
    if (o->kind == OBJECT_KERNEL)
        return PFR_OK;
    uint64_t *newest = u64_map_at(&all->newest_of, o->path, NO_OBJECT, NULL);
    if (!newest)
        return mem_fail(all->memory, err, "objects");
    o->sibling = (uint32_t)*newest;
    *newest = number;
    return PFR_OK;
}

pfr_status objects_of_ksymbol(struct objects *all, const pfr_text *name, uint32_t *number, pfr_error *err) {
    uint8_t key[9 + BUILD_ID_ROOM];
    struct object o = {.kind = OBJECT_KSYMBOL, .sibling = NO_OBJECT};
    const uint32_t before = all->keys.count;
    PFR_TRY(intern_put(all->names, name->at, name->length, &o.path, err));
    o.short_name = o.path;
    PFR_TRY(intern_put(&all->keys, key, make_key(key, o.path, 0, KEY_OF_KSYMBOL, NULL, 0), number, err));
    if (all->keys.count == before)
        return PFR_OK;
    PFR_TRY(make_room(all, *number, err));
    all->at[*number] = o;
    return PFR_OK;
}

/* The cache entry for maps of this path. */
static struct object_memo *memo_of(struct objects *all, const pfr_text *path) {
    const uint32_t skip = path->length > 8 ? path->length - 8 : 0;
    uint64_t tail = 0;
    if (path->length)
        memcpy(&tail, path->at + skip, path->length - skip);
    const uint64_t h = (tail ^ path->length) * 0x9e3779b97f4a7c15u;
    return &all->memos[h >> 32 & (OBJECT_MEMOS - 1)];
}

/* Whether the entry matches, except for the process. */
static bool is_memo_of(const struct object_memo *memo, const pfr_text *path, enum map_use use, const uint8_t *build_id,
                       unsigned size) {
    return memo->path && path->length && memo->length == path->length && memo->use == use &&
           memo->build_id_size == size && memcmp(memo->path, path->at, path->length) == 0 &&
           (size == 0 || memcmp(memo->build_id, build_id, size) == 0);
}

static void keep_memo(struct objects *all, struct object_memo *memo, const struct object *o, enum map_use use,
                      const uint8_t *build_id, unsigned size, uint32_t number) {
    const struct intern_text path = intern_get(all->names, o->path);
    *memo = (struct object_memo){.path = path.bytes,
                                 .length = path.length,
                                 .name = o->path,
                                 .pid = o->pid,
                                 .object = number,
                                 .use = (uint8_t)use,
                                 .build_id_size = (uint8_t)size,
                                 .of_one_process = o->kind == OBJECT_ANONYMOUS};
    if (size)
        memcpy(memo->build_id, build_id, size);
}

/* Finds the object with this path, kind and pid, or adds it. */
static pfr_status find_object(struct objects *all, struct object *o, enum map_use use, const uint8_t *build_id,
                              unsigned size, uint32_t *number, pfr_error *err) {
    uint8_t key[9 + BUILD_ID_ROOM];
    const uint32_t before = all->keys.count;
    PFR_TRY(
        intern_put(&all->keys, key, make_key(key, o->path, o->pid, use == MAP_OF_KERNEL, build_id, size), number, err));
    if (all->keys.count == before)
        return PFR_OK;
    o->build_id_size = (uint8_t)size;
    if (size)
        memcpy(o->build_id, build_id, size);
    PFR_TRY(name_object(all, o, err));
    PFR_TRY(make_room(all, *number, err));
    all->at[*number] = *o;
    return enlist(all, *number, err);
}

pfr_status objects_of_map(struct objects *all, const pfr_text *path, uint32_t pid, enum map_use use,
                          const uint8_t *build_id, unsigned size, uint32_t *number, pfr_error *err) {
    struct object_memo *memo = memo_of(all, path);
    struct object o = {.kind = OBJECT_ANONYMOUS};
    if (size > BUILD_ID_ROOM)
        size = BUILD_ID_ROOM;
    const bool is_known = is_memo_of(memo, path, use, build_id, size);
    if (is_known && (!memo->of_one_process || memo->pid == pid))
        return *number = memo->object, PFR_OK;
    if (is_known) {
        o.path = memo->name;
    } else {
        o.kind = (uint8_t)kind_of(path->at, path->length, use);
        PFR_TRY(intern_put(all->names, path->at, path->length, &o.path, err));
    }
    o.pid = o.kind == OBJECT_ANONYMOUS ? pid : 0;
    PFR_TRY(find_object(all, &o, use, build_id, size, number, err));
    keep_memo(all, memo, &o, use, build_id, size, *number);
    return PFR_OK;
}

/* Length of a build id. If the entry states no valid length, trailing groups of four zero bytes are padding. */
static unsigned id_length(const struct pfr_rec_build_id_entry *entry) {
    unsigned length = BUILD_ID_ROOM;
    if ((entry->misc & LENGTH_VALID) && entry->length <= BUILD_ID_ROOM)
        return entry->length;
    while (length && load_u32(entry->build_id.at + length - 4, false) == 0)
        length -= 4;
    return length;
}

/* Sets the build id of a path. If a path has several entries, the first one applies. */
static pfr_status learn_path(struct objects *all, uint32_t path, const struct learned_id *id, pfr_error *err) {
    uint64_t number;
    bool is_new;
    if (!u64_map_at(&all->learned_of, path, all->nr_learned, &is_new))
        return mem_fail(all->memory, err, "objects");
    if (!is_new)
        return PFR_OK;
    if (all->nr_learned == all->learned_room) {
        void *more = mem_grow(all->memory, all->learned, all->nr_learned, &all->learned_room, 64, sizeof *all->learned);
        if (!more)
            return mem_fail(all->memory, err, "objects");
        all->learned = more;
    }
    all->learned[all->nr_learned++] = *id;
    if (u64_map_get(&all->newest_of, path, &number))
        for (uint32_t i = (uint32_t)number; i != NO_OBJECT; i = all->at[i].sibling)
            fill(&all->at[i], id);
    return PFR_OK;
}

/* Applies the entry of the kernel to every kernel. An entry that names vmlinux, the file of the kernel, also changes
   the name. */
static pfr_status learn_kernel(struct objects *all, const struct learned_id *id, bool vmlinux, pfr_error *err) {
    const bool renames = vmlinux && !all->vmlinux, fills = all->kernel_id.size == 0 && id->size > 0;
    all->vmlinux = all->vmlinux || vmlinux;
    if (fills)
        all->kernel_id = *id;
    if (!renames && !fills)
        return PFR_OK;
    for (uint32_t i = all->newest_kernel; i != NO_OBJECT; i = all->at[i].sibling) {
        fill(&all->at[i], &all->kernel_id);
        if (renames)
            PFR_TRY(name_object(all, &all->at[i], err));
    }
    return PFR_OK;
}

pfr_status objects_learn(struct objects *all, const struct pfr_rec_build_id_entry *entry, pfr_error *err) {
    const char *name = entry->filename.at;
    const size_t length = entry->filename.length;
    const bool kernel = (entry->misc & PFR_CPUMODE_MASK) == PFR_CPUMODE_KERNEL && !memmem(name, length, ".ko", 3) &&
                        !begins(name, length, "[guest");
    struct learned_id id = {.size = (uint8_t)id_length(entry)};
    uint32_t path;
    if (id.size)
        memcpy(id.bytes, entry->build_id.at, id.size);
    if (kernel)
        PFR_TRY(learn_kernel(all, &id, memmem(name, length, "vmlinux", 7), err));
    PFR_TRY(intern_put(all->names, name, length, &path, err));
    return learn_path(all, path, &id, err);
}
