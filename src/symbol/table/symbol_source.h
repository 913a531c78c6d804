/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_SOURCE_H
#define PFR_SYMBOL_SYMBOL_SOURCE_H
/*
 * Where the names of addresses come from. A source is a table of functions; a caller asks through it alone and never
 * sees how the object is read, so that reading untrusted objects can move into a process of its own.
 *
 *     struct symbol_handle *h;
 *     struct symbol_object object = {.kind = SYMBOL_USER, .path = "/usr/bin/true"};
 *     enum symbol_result result = source->open(&object, memory, &h);
 *     if (result == SYMBOL_FOUND) {
 *         uint64_t address;
 *         if (segments_to_address(source->segments(h), file_offset, &address))
 *             result = source->find(h, address, &symbol);
 *         source->close(h);
 *     }
 *
 * Every outcome is a symbol_result, because "why has this address no name" is a question of its own;
 * symbol_result_text answers it. A handle belongs to one thread at a time. Nothing here knows of profiles.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/memory/memory.h"

enum symbol_result {
    SYMBOL_FOUND,
    SYMBOL_NO_MATCH,      /* the object was read; no symbol covers the address */
    SYMBOL_NO_FILE,       /* nothing at that path */
    SYMBOL_NOT_PERMITTED, /* may not be read, or belongs to somebody it must not belong to */
    SYMBOL_NOT_REGULAR,   /* a folder, device, FIFO, socket, symbolic link or a file of /proc */
    SYMBOL_NOT_ELF,       /* not an object file, or one cut short in its headers */
    SYMBOL_OTHER_BUILD,   /* its build-id is not the one asked for */
    SYMBOL_NO_BUILD_ID,   /* a build-id was asked for and it has none */
    SYMBOL_NO_SYMBOLS,    /* stripped: no symbol that names anything in it */
    SYMBOL_HIDDEN,        /* the kernel gave only zero addresses (kptr_restrict) */
    SYMBOL_DAMAGED,       /* contents that contradict themselves */
    SYMBOL_LIMIT,         /* larger than a limit allows */
    SYMBOL_NO_MEMORY,     /* an allocation failed */
    SYMBOL_IO,            /* a read failed */
    SYMBOL_RESULTS
};

/* One clause, "no such file"; static, never NULL. */
const char *symbol_result_text(enum symbol_result result);

enum symbol_object_kind { SYMBOL_USER, SYMBOL_KERNEL, SYMBOL_MODULE, SYMBOL_VDSO, SYMBOL_JIT };

/* What is looked for. Everything is read during open only and may go afterwards. */
struct symbol_object {
    enum symbol_object_kind kind;
    const char *path;  /* as the profile says it; for JIT and kallsyms the text file itself; VDSO: our own process's */
    const char *symfs; /* put before path, NULL or "": nothing */
    const uint8_t *build_id; /* must be the object's when build_id_size > 0 */
    size_t build_id_size;
    uint32_t owner;      /* JIT: the user the process ran as */
    const uint32_t *crc; /* NULL, or what the bytes of an ELF file must add up to where it has no build-id asked for */
    const char *debug_folder; /* lines: where separate files are; NULL: /usr/lib/debug below symfs */
    const char *cache; /* lines, kallsyms: the folder of what was found out before (cache_folder.h), which must outlive
                          the handle; NULL: none */
    bool may_be_bare;  /* an ELF file without symbols is FOUND, too: they may be in another file */
};

#define DEBUG_LINK_ROOM 256u

/* The file that an object says its symbols and debugging information were put into. */
struct debug_link {
    char name[DEBUG_LINK_ROOM]; /* without a folder; "": none */
    uint32_t crc;               /* of its bytes */
};

#define BUILD_ID_MOST 64 /* longer ones are taken for damage */
#define BUILD_ID_TEXT_ROOM (2 * BUILD_ID_MOST + 1)

/* "69226968102145ff"; of an id that is too long its first bytes. */
void build_id_text(char to[BUILD_ID_TEXT_ROOM], const uint8_t *id, size_t size);

struct symbol {
    const char *name; /* NUL-terminated and as the object has it (mangled); the handle's */
    size_t name_length;
    const char *module; /* kallsyms: "ext4"; "" for the kernel itself and everywhere else */
    uint64_t start, size;
    uint64_t from, end; /* around the address: [from, end) gives this symbol throughout */
    bool is_cut;        /* the name is longer in the object */
};

/* One loadable part of an object: bytes [offset, offset + size) of the file stand at `address`. */
struct symbol_segment {
    uint64_t offset, address, size;
    bool executable;
};

struct symbol_segments {
    const struct symbol_segment *at;
    size_t count;
};

struct symbol_handle;

struct symbol_source {
    const char *name; /* "elf", "kallsyms", "perf-map" */

    /* SYMBOL_FOUND: *handle is the caller's until close. Otherwise it is NULL. memory must outlive the handle. */
    enum symbol_result (*open)(const struct symbol_object *object, struct memory *memory,
                               struct symbol_handle **handle);

    /* `address` counts as the object's own headers do. FOUND fills *symbol; NO_MATCH fills `from` and `end` alone,
       around which nothing is known either; everything else leaves it alone. */
    enum symbol_result (*find)(struct symbol_handle *handle, uint64_t address, struct symbol *symbol);

    /* Empty for text sources, whose addresses are those of the process. */
    struct symbol_segments (*segments)(const struct symbol_handle *handle);

    /* *size 0: it has none. */
    const uint8_t *(*build_id)(const struct symbol_handle *handle, size_t *size);

    /* Bytes that its names come from: of the file, or what is known of it by now. */
    uint64_t (*size)(const struct symbol_handle *handle);

    /* NULL for text sources. */
    const struct debug_link *(*debug_link)(const struct symbol_handle *handle);

    /* NULL is fine. */
    void (*close)(struct symbol_handle *handle);
};

extern const struct symbol_source elf_symbol_source;      /* elf_symbols.c */
extern const struct symbol_source kallsyms_symbol_source; /* kallsyms.c */
extern const struct symbol_source perf_map_symbol_source; /* perf_map.c */

/* The address of a byte of the file; executable segments are asked first. What no segment holds lies behind the last
   one before it: variables that begin as zeros, and the rest of a page, are mapped so. False: it lies before all of
   them. */
bool segments_to_address(struct symbol_segments segments, uint64_t offset, uint64_t *address);

#endif
