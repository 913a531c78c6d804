/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_SYMBOL_SOURCE_H
#define PFR_SYMBOL_SYMBOL_SOURCE_H
/*
 * Sources of symbol names. A source is a table of functions, and callers use only these functions, so that reading
 * untrusted objects can move into a separate process.
 *
 *  struct symbol_handle *h;
 *  struct symbol_object object = {.kind = SYMBOL_USER, .path = "/usr/bin/true"};
 *  enum symbol_result result = source->open(&object, memory, &h);
 *  if (result == SYMBOL_FOUND) {
 *      uint64_t address;
 *      if (segments_to_address(source->segments(h), file_offset, &address))
 *          result = source->find(h, address, &symbol);
 *      source->close(h);
 *  }
 *
 * Every function returns a symbol_result, because users want to know why an address has no name; symbol_result_text
 * prints it. A handle belongs to one thread at a time. This folder knows nothing about profiles.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "base/memory/memory.h"

enum symbol_result {
    SYMBOL_FOUND,
    SYMBOL_NO_MATCH,      /* the object was read; no symbol covers the address */
    SYMBOL_NO_FILE,       /* the path does not exist */
    SYMBOL_NOT_PERMITTED, /* the file may not be read, or has the wrong owner */
    SYMBOL_NOT_REGULAR,   /* a folder, device, FIFO, socket, symbolic link or a file of /proc */
    SYMBOL_NOT_ELF,       /* not an object file, or one cut short in its headers */
    SYMBOL_OTHER_BUILD,   /* its build-id differs from the requested one */
    SYMBOL_NO_BUILD_ID,   /* a build-id was requested, but the object has none */
    SYMBOL_NO_SYMBOLS,    /* stripped: no usable symbols */
    SYMBOL_HIDDEN,        /* all addresses are zero (kptr_restrict) */
    SYMBOL_DAMAGED,       /* its contents contradict themselves */
    SYMBOL_LIMIT,         /* larger than a limit allows */
    SYMBOL_NO_MEMORY,     /* an allocation failed */
    SYMBOL_IO,            /* a read failed */
    SYMBOL_RESULTS
};

/* A clause such as "no such file"; static, never NULL. */
const char *symbol_result_text(enum symbol_result result);

enum symbol_object_kind { SYMBOL_USER, SYMBOL_KERNEL, SYMBOL_MODULE, SYMBOL_VDSO, SYMBOL_JIT };

/* The object to open. Unless stated otherwise, members are read only during open. */
struct symbol_object {
    enum symbol_object_kind kind;
    const char *path;        /* as in the profile; JIT, kallsyms: the text file; VDSO: unused (perfray's own is read) */
    const char *symfs;       /* prefix of path; NULL or "": no prefix */
    const uint8_t *build_id; /* if build_id_size > 0, the object must have this build-id */
    size_t build_id_size;
    uint32_t owner;           /* JIT: the user the process ran as */
    const uint32_t *crc;      /* NULL, or the CRC-32 that an ELF file must have if no build-ids can be compared */
    const char *debug_folder; /* lines: folder of separate debug files; NULL: /usr/lib/debug below symfs */
    const char *cache; /* lines, kallsyms: cache folder (cache_folder.h), must outlive the handle; NULL: no cache */
    bool may_be_bare; /* the result is FOUND even for an ELF file without symbols, because another file may have them */
};

#define DEBUG_LINK_ROOM 256u

/* The separate file with an object's symbols and debug information. */
struct debug_link {
    char name[DEBUG_LINK_ROOM]; /* file name without folder; "": no file is named */
    uint32_t crc;               /* CRC-32 of all its bytes */
};

#define BUILD_ID_MOST 64 /* longer ones are treated as damage */
#define BUILD_ID_TEXT_ROOM (2 * BUILD_ID_MOST + 1)

/* Writes the id as "69226968102145ff"; of an id that is too long, only the first bytes. */
void build_id_text(char to[BUILD_ID_TEXT_ROOM], const uint8_t *id, size_t size);

struct symbol {
    const char *name; /* NUL-terminated, as in the object (mangled); owned by the handle */
    size_t name_length;
    const char *module; /* kallsyms: for example "ext4"; "" for the kernel itself and for other sources */
    uint64_t start, size;
    uint64_t from, end; /* [from, end) is the range around the address that belongs to this symbol */
    bool is_cut;        /* the name was truncated */
};

/* A loadable part of an object: bytes [offset, offset + size) of the file are mapped at `address`. */
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

    /* FOUND: *handle belongs to the caller until close; otherwise it is NULL. `memory` must outlive the handle. */
    enum symbol_result (*open)(const struct symbol_object *object, struct memory *memory,
                               struct symbol_handle **handle);

    /* `address` is relative to the object's own headers. FOUND fills *symbol. NO_MATCH sets only `from` and `end`, the
       range without a symbol. Other results leave *symbol unchanged. */
    enum symbol_result (*find)(struct symbol_handle *handle, uint64_t address, struct symbol *symbol);

    /* Empty for text sources, whose addresses are those of the process. */
    struct symbol_segments (*segments)(const struct symbol_handle *handle);

    /* *size 0: no build-id. */
    const uint8_t *(*build_id)(const struct symbol_handle *handle, size_t *size);

    /* Size of the file, or bytes of names known so far. */
    uint64_t (*size)(const struct symbol_handle *handle);

    /* NULL for text sources. */
    const struct debug_link *(*debug_link)(const struct symbol_handle *handle);

    /* The handle may be NULL. */
    void (*close)(struct symbol_handle *handle);
};

extern const struct symbol_source elf_symbol_source;      /* elf_symbols.c */
extern const struct symbol_source kallsyms_symbol_source; /* kallsyms.c */
extern const struct symbol_source perf_map_symbol_source; /* perf_map.c */

/* Converts the offset of a byte in the file to its address; executable segments take precedence. An offset outside of
   all segments is taken as relative to the last segment before it, because zero-initialized data and the rest of a page
   are mapped like that. False: the offset is before all segments. */
bool segments_to_address(struct symbol_segments segments, uint64_t offset, uint64_t *address);

#endif
