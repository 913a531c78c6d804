/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the object of an address. glibc's _dl_find_object works without locks and in signal handlers (The GNU C
 * Library, "Dynamic Linker Introspection"); the program itself is found by its own headers, whose address the kernel
 * passes. An object is registered when its first function is called, and removed after dlclose has unmapped it.
 *
 * If functions are selected by name, the object's symbol table is read (rt_symbols.c).
 */
#include "runtime/rt_objects.h"
#include "runtime/rt_functions.h"
#include "runtime/rt_notes.h"
#include "runtime/rt_pool.h"
#include "runtime/rt_start.h"
#include "runtime/rt_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/auxv.h>

#define OBJECTS 1024u
#define PATH_ROOM sizeof(((struct rtf_object *)0)->path)
#define NOTE_BUILD_ID 3u

/* As in glibc's <dlfcn.h> since 2.35. */
struct found_object {
    unsigned long long flags;
    void *start, *end;
    struct link_map *map;
    void *frame;
    unsigned long long spare[7];
};
extern int find_loaded(void *address, struct found_object *found) __asm__("_dl_find_object") __attribute__((weak));

struct rt_object {
    uint64_t start, end, base;
    uint32_t state;      /* enum state */
    uint32_t number;     /* number in the trace; 0: there was no room for the object */
    uint32_t first;      /* number of the object's first load in any process; its functions refer to this number */
    uint64_t first_base; /* base of that first load */
    const struct rt_symbols *symbols; /* NULL: not read yet */
};

enum state { FREE, BEING_MADE, KNOWN };

static struct rt_object objects[OBJECTS];
static uint32_t nr_objects;

/* --- Lookup. */

RT_PLAIN static uint64_t base_of(const ElfW(Ehdr) * header, const ElfW(Phdr) * at) {
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (at[i].p_type == PT_LOAD)
            return (uint64_t)(uintptr_t)header - (at[i].p_vaddr - at[i].p_offset);
    return 0;
}

/* Finds the program itself, which glibc may not find if it is static. Its ELF header is assumed to directly precede its
 * program headers. */
RT_PLAIN static bool find_program(uint64_t address, struct found_object *found) {
    const ElfW(Phdr) *at = (const void *)(uintptr_t)getauxval(AT_PHDR);
    if (!at)
        return false;
    const ElfW(Ehdr) *header = (const void *)((uintptr_t)at - sizeof(ElfW(Ehdr)));
    const uint64_t base = base_of(header, at);
    uint64_t end = 0;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (at[i].p_type == PT_LOAD && at[i].p_vaddr + at[i].p_memsz > end)
            end = at[i].p_vaddr + at[i].p_memsz;
    found->start = (void *)(uintptr_t)header;
    found->end = (void *)(uintptr_t)(base + end);
    found->map = NULL;
    return address >= (uint64_t)(uintptr_t)header && address < base + end;
}

RT_PLAIN static bool find_object(uint64_t address, struct found_object *found) {
    if (find_program(address, found))
        return true;
    return find_loaded && find_loaded((void *)(uintptr_t)address, found) == 0;
}

/* --- Entries of the trace. */

RT_PLAIN static void read_build_id(struct rtf_object *to, const uint8_t *note, uint64_t size) {
    while (size >= sizeof(ElfW(Nhdr))) {
        const ElfW(Nhdr) *n = (const void *)note;
        const uint64_t name = (n->n_namesz + 3) & ~(uint64_t)3, body = (n->n_descsz + 3) & ~(uint64_t)3;
        if (name > size || body > size || sizeof *n + name + body > size)
            return;
        if (n->n_type == NOTE_BUILD_ID && n->n_namesz == 4 && rt_same((const char *)(n + 1), "GNU", 4) &&
            n->n_descsz <= sizeof to->build_id) {
            to->build_id_size = (uint8_t)n->n_descsz;
            rt_copy(to->build_id, note + sizeof *n + name, n->n_descsz);
            return;
        }
        note += sizeof *n + name + body;
        size -= sizeof *n + name + body;
    }
}

/* Reads the object's ELF headers, which are mapped at its start. */
RT_PLAIN static void read_headers(struct rtf_object *to, const struct found_object *found) {
    const ElfW(Ehdr) *header = found->start;
    const ElfW(Phdr) *at = (const void *)((const char *)found->start + header->e_phoff);
    to->base = base_of(header, at);
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (at[i].p_type == PT_NOTE && to->build_id_size == 0)
            read_build_id(to, (const uint8_t *)(uintptr_t)(to->base + at[i].p_vaddr), at[i].p_memsz);
}

/* Sets an absolute path, truncated to the field. Without /proc, the program's path is the path with which it was
 * executed. */
RT_PLAIN static void set_path(struct rtf_object *to, const struct found_object *found) {
    const char *name = found->map ? found->map->l_name : "";
    size_t at = 0;
    if (!*name && rt_syscall(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)to->path, PATH_ROOM - 1, 0, 0) > 0)
        return;
    if (!*name)
        name = (const char *)getauxval(AT_EXECFN);
    if (!name)
        return;
    if (*name != '/') {
        const long size = RT_CALL3(SYS_getcwd, to->path, PATH_ROOM - 1, 0);
        at = size > 0 ? (size_t)size - 1 : 0;
        to->path[at++] = '/';
    }
    const size_t length = rt_length(name), room = PATH_ROOM - 1 - at;
    rt_copy(to->path + at, name, length < room ? length : room);
}

RT_PLAIN static struct rtf_object *next_entry(uint32_t *number) {
    struct rtf_control *c = rt.control;
    *number = __atomic_fetch_add(&c->next_object, 1, __ATOMIC_RELAXED) + 1;
    return rt_note_entry(c->object_slots, RTF_OBJECT_SLOTS, RTF_OBJECTS, *number, sizeof(struct rtf_object));
}

RT_PLAIN static struct rtf_object *object_at(uint32_t number) {
    return rt_note_entry(rt.control->object_slots, RTF_OBJECT_SLOTS, RTF_OBJECTS, number, sizeof(struct rtf_object));
}

/* Compares build-ids and paths; if there are no build-ids, also compares sizes. */
RT_PLAIN static bool is_same_object(const struct rtf_object *a, const struct rtf_object *b) {
    return a->build_id_size == b->build_id_size &&
           rt_same((const char *)a->build_id, (const char *)b->build_id, a->build_id_size) &&
           rt_same(a->path, b->path, rt_length(b->path) + 1) &&
           (a->build_id_size || a->end - a->start == b->end - b->start);
}

/* The number of the first entry before `end` that is the same object (at the same address, if is_here); 0: no such
 * entry. */
RT_RARE static uint32_t find_same(const struct rtf_object *like, uint32_t end, bool is_here) {
    for (uint32_t number = 1; number < end; number++) {
        const struct rtf_object *o = object_at(number);
        if (!o)
            return 0;
        if (__atomic_load_n(&o->kind, __ATOMIC_ACQUIRE) != like->kind || (is_here && o->start != like->start))
            continue;
        if (like->kind == RTF_SCOPE ? rt_same(o->path, like->path, rt_length(like->path) + 1) : is_same_object(o, like))
            return number;
    }
    return 0;
}

/* Lists an object, once for each address at which it is loaded. Returns its number, 0 if there is no room. *first is
 * the number of the first entry of the same object. */
RT_RARE static uint32_t put_object(const struct rtf_object *what, uint32_t *first) {
    uint32_t number, end = __atomic_load_n(&rt.control->next_object, __ATOMIC_ACQUIRE) + 1;
    *first = find_same(what, end, false);
    number = *first ? find_same(what, end, true) : 0;
    if (number) {
        object_at(number)->until = 0;
        return number;
    }
    struct rtf_object *to = next_entry(&number);
    if (!to)
        return 0;
    rt_copy((uint8_t *)to + sizeof to->kind, (const uint8_t *)what + sizeof what->kind, sizeof *to - sizeof to->kind);
    __atomic_store_n(&to->kind, what->kind, __ATOMIC_RELEASE);
    *first = *first ? *first
                    : find_same(what, number + 1,
                                false); /* the lower number if another process listed the object at the same time */
    return number;
}

RT_RARE static void register_object(struct rt_object *o, const struct found_object *found) {
    struct rtf_object what;
    rt_zero(&what, sizeof what);
    what.kind = RTF_MAPPED;
    what.pid = rt.pid;
    what.start = o->start = (uint64_t)(uintptr_t)found->start;
    what.end = o->end = (uint64_t)(uintptr_t)found->end;
    what.from = rt_clock();
    read_headers(&what, found);
    set_path(&what, found);
    o->number = put_object(&what, &o->first);
    o->base = what.base;
    o->first_base = o->first ? object_at(o->first)->base : what.base;
}

uint32_t rt_object_scope(const char *name) {
    struct rtf_object what;
    uint32_t first;
    rt_zero(&what, sizeof what);
    const size_t length = rt_length(name);
    what.kind = RTF_SCOPE;
    what.pid = rt.pid;
    rt_copy(what.path, name, length < PATH_ROOM ? length : PATH_ROOM - 1);
    put_object(&what, &first);
    return first;
}

/* --- Objects of this process. */

RT_PLAIN static struct rt_object *known_object(uint64_t address) {
    uint32_t count = __atomic_load_n(&nr_objects, __ATOMIC_ACQUIRE);
    for (uint32_t i = count < OBJECTS ? count : OBJECTS; i-- > 0;)
        if (__atomic_load_n(&objects[i].state, __ATOMIC_ACQUIRE) == KNOWN && address >= objects[i].start &&
            address < objects[i].end)
            return &objects[i];
    return NULL;
}

RT_RARE static struct rt_object *free_object(void) {
    for (uint32_t i = 0; i < OBJECTS; i++) {
        uint32_t before = FREE;
        if (!__atomic_compare_exchange_n(&objects[i].state, &before, BEING_MADE, false, __ATOMIC_ACQ_REL,
                                         __ATOMIC_RELAXED))
            continue;
        uint32_t count = __atomic_load_n(&nr_objects, __ATOMIC_RELAXED);
        while (count <= i &&
               !__atomic_compare_exchange_n(&nr_objects, &count, i + 1, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            ;
        return &objects[i];
    }
    return NULL;
}

RT_PLAIN static struct rt_place place_in(const struct rt_object *o, uint64_t address) {
    return (struct rt_place){.address = address - o->base + o->first_base, .object = o->first};
}

/* If two threads register an object at once, it may be listed twice. */
RT_RARE struct rt_place rt_place_of(uint64_t address) {
    struct found_object found;
    const struct rt_object *known = known_object(address);
    if (known)
        return place_in(known, address);
    rt_zero(&found, sizeof found);
    if (!find_object(address, &found))
        return (struct rt_place){.address = address};
    struct rt_object *o = free_object();
    if (!o)
        return (struct rt_place){.is_lost = true};
    register_object(o, &found);
    __atomic_store_n(&o->state, KNOWN, __ATOMIC_RELEASE);
    return place_in(o, address);
}

RT_RARE static void forget(struct rt_object *o) {
    struct rtf_object *listed = o->number ? object_at(o->number) : NULL;
    if (listed && listed->pid == rt.pid)
        listed->until = rt_clock();
    rt_forget_range(o->start, o->end);
    rt_symbols_close(o->symbols);
    o->symbols = NULL;
    __atomic_store_n(&o->state, FREE, __ATOMIC_RELEASE);
}

RT_RARE void rt_objects_check(void) {
    struct found_object found;
    const uint32_t count = __atomic_load_n(&nr_objects, __ATOMIC_ACQUIRE);
    rt_revive(&rt_here);
    for (uint32_t i = 0; rt.control && i < count && i < OBJECTS; i++) {
        rt_zero(&found, sizeof found);
        if (__atomic_load_n(&objects[i].state, __ATOMIC_ACQUIRE) == KNOWN &&
            (!find_object(objects[i].start, &found) || (uint64_t)(uintptr_t)found.end != objects[i].end))
            forget(&objects[i]);
    }
}

/* --- Functions selected by name. */

/* If two threads read the symbols at once, the first result is used. */
RT_RARE static const struct rt_symbols *symbols_of(struct rt_object *o) {
    const struct rt_symbols *before = __atomic_load_n(&o->symbols, __ATOMIC_ACQUIRE);
    const struct rtf_object *listed = o->first ? object_at(o->first) : NULL;
    if (before || !listed)
        return before;
    const struct rt_symbols *mine = rt_symbols_open(listed->path);
    if (__atomic_compare_exchange_n(&o->symbols, &before, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    rt_symbols_close(mine);
    return before;
}

RT_RARE static const char *name_of(uint64_t address) {
    struct rt_object *o = known_object(address);
    const struct rt_symbols *symbols = o ? symbols_of(o) : NULL;
    return symbols ? rt_symbols_name(symbols, address - o->base) : NULL;
}

struct names {
    const char *mangled; /* NULL: the function has no symbol */
    char plain[256];     /* unmangled name; "": there is no other name */
};

RT_PLAIN static bool fits(const struct names *n, enum rt_filter_kind kind) {
    const struct rt_patterns *p = &rt.options.patterns[kind];
    for (size_t i = 0; n->mangled && i < p->count; i++)
        if (rt_glob(p->at[i], n->mangled) || (n->plain[0] && rt_glob(p->at[i], n->plain)))
            return true;
    return false;
}

RT_RARE uint32_t rt_filter_flags(uint64_t address, uint32_t object) {
    if (!rt.by_name)
        return 0;
    const struct rtf_object *listed = object ? object_at(object) : NULL;
    struct names n;
    n.mangled = listed && listed->kind == RTF_SCOPE ? listed->path : name_of(address);
    if (!n.mangled || !rt_unmangle(n.mangled, n.plain, sizeof n.plain))
        n.plain[0] = 0;
    if ((rt.options.patterns[RT_INCLUDE].count && !fits(&n, RT_INCLUDE)) || fits(&n, RT_EXCLUDE))
        return RT_SKIP;
    return (fits(&n, RT_FOCUS_ON) ? RT_FOCUS : 0) | (fits(&n, RT_NOTRACE) ? RT_AVOID : 0) |
           (fits(&n, RT_WITH_ARGUMENT) ? RT_ARGUMENT : 0);
}
