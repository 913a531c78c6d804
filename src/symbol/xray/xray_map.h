/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_XRAY_MAP_H
#define PFR_SYMBOL_XRAY_MAP_H
/*
 * Finds the functions that the ids in an XRay trace refer to. An object lists its functions in the section
 * xray_instr_map, with one entry per sled. Consecutive entries of one function share an id; ids number these groups
 * from 1. The YAML output of `llvm-xray extract` lists the functions with names. A trace does not state which object it
 * belongs to.
 *
 *  struct xray_map map;
 *  if (xray_map_open(&map, "prog", memory) == SYMBOL_FOUND)
 *      function = xray_map_find(&map, id);     the name of an ELF object's address: elf_symbol_source
 *  xray_map_close(&map);
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

struct xray_function {
    uint64_t address; /* relative to the object's headers */
    uint32_t sleds;
    const char *name; /* in YAML maps, the name as written there, mangled or demangled; else NULL */
};

struct xray_map {
    struct memory *memory;
    struct arena arena;              /* contains the names */
    struct xray_function *functions; /* ids from 1 to `dense`: functions[id - 1]; all others follow */
    size_t dense, used, room;
    struct u64_map sparse; /* id -> index in `functions` */
    size_t count;          /* the greatest id */
    bool has_names;        /* the map was read from YAML */
};

/* Detects ELF or text by content. FOUND; NO_MATCH: the object is not instrumented; DAMAGED, LIMIT, NO_MEMORY, IO, and
 * other results of opening a file. Call xray_map_close in every case. */
enum symbol_result xray_map_open(struct xray_map *map, const char *path, struct memory *memory);
void xray_map_close(struct xray_map *map);

/* NULL: no function has this id. */
const struct xray_function *xray_map_find(const struct xray_map *map, uint32_t id);

/* For code that reads maps: adds one sled of a function. ids must start at 1 and increase by at most one. ids in YAML
   may have any order, up to the limit. */
enum symbol_result xray_map_add(struct xray_map *map, uint64_t id, uint64_t address, const char *name, size_t length);

/* xray_map_yaml.c */
enum symbol_result xray_map_read_yaml(struct xray_map *map, int fd);

#endif
