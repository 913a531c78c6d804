/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_XRAY_MAP_H
#define PFR_SYMBOL_XRAY_MAP_H
/*
 * Which function an id of an XRay trace is. An object says it in its section xray_instr_map, one entry a sled: an id is
 * the ordinal of a run of entries of one function, from 1. What `llvm-xray extract` writes as YAML says it as well,
 * with names. Nothing in a trace tells which object it is of.
 *
 *     struct xray_map map;
 *     if (xray_map_open(&map, "prog", memory) == SYMBOL_FOUND && xray_map_address(&map, id, &address))
 *         ...                                     the name of an ELF object's address: elf_symbol_source
 *     xray_map_close(&map);
 */
#include "base/memory/arena.h"
#include "base/tables/hashmap.h"
#include "symbol/table/symbol_source.h"

struct xray_function {
    uint64_t address; /* as the object's own headers count */
    uint32_t sleds;
    const char *name; /* of a YAML map: as it stands there, demangled or not; NULL: none is said */
};

struct xray_map {
    struct memory *memory;
    struct arena arena;              /* the names */
    struct xray_function *functions; /* of the ids from 1 to `dense`: functions[id - 1]; then all others */
    size_t dense, used, room;
    struct u64_map sparse; /* id -> its place in `functions` */
    size_t count;          /* the greatest id */
    bool has_names;        /* a YAML map */
};

/* By the file's content, ELF or text. FOUND; NO_MATCH: an object that was not instrumented; DAMAGED, LIMIT, NO_MEMORY,
   IO and what opening a file may end with. xray_map_close is needed in every case. */
enum symbol_result xray_map_open(struct xray_map *map, const char *path, struct memory *memory);
void xray_map_close(struct xray_map *map);

/* NULL: no function of the map has this id. */
const struct xray_function *xray_map_find(const struct xray_map *map, uint32_t id);

/* For the readers of maps: one sled of a function, whose id is at most one above those seen (YAML: any up to the
 * limit). */
enum symbol_result xray_map_add(struct xray_map *map, uint64_t id, uint64_t address, const char *name, size_t length);

/* xray_map_yaml.c */
enum symbol_result xray_map_read_yaml(struct xray_map *map, int fd);

#endif
