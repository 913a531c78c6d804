/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The section xray_instr_map (docs/xray-format.md). An entry is two words, sled and function, then kind, whether always
 * instrumented, and version, padded to four words. Versions 0 and 1 hold addresses, which in objects that may be loaded
 * anywhere are 0 until relocations fill them; version 2 counts from where the word itself stands. A relocation says the
 * address in every version: its symbol and addend.
 */
#include "xray_map.h"

#include "base/cursor.h"
#include "base/hashmap.h"
#include "elf_object.h"
#include "regular_file.h"
#include "symbol_table.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

#define IDS_MOST ((uint64_t)1 << 28) /* what a record of the flight recorder can say */
#define SECTION_MOST ((uint64_t)1 << 30)
#define RELOCATIONS_MOST ((uint64_t)1 << 24)
#define LAST_VERSION 2u

struct map_section {
    struct elf_object *object;
    size_t index;
    GElf_Shdr header;
    const uint8_t *bytes;
    unsigned word;          /* bytes of one */
    struct u64_map targets; /* offset in the section -> address, by relocations */
};

enum symbol_result xray_map_add(struct xray_map *map, uint64_t id, uint64_t address, const char *name, size_t length) {
    if (id == 0)
        return SYMBOL_DAMAGED;
    if (id > IDS_MOST)
        return SYMBOL_LIMIT;
    while (map->count < id) {
        struct xray_function *grown =
            mem_grow(map->memory, map->functions, map->count, &map->room, 64, sizeof *map->functions);
        if (!grown)
            return table_memory_result(map->memory);
        map->functions = grown;
        map->functions[map->count++] = (struct xray_function){0, 0, NULL};
    }
    struct xray_function *f = &map->functions[id - 1];
    f->address = f->sleds++ ? f->address : address;
    if (name && !f->name && !(f->name = arena_text(&map->arena, name, length)))
        return table_memory_result(map->memory);
    return SYMBOL_FOUND;
}

static bool find_section(struct elf_object *object, struct map_section *section) {
    Elf_Scn *at = NULL;
    while ((at = elf_nextscn(object->elf, at))) {
        const char *name;
        if (!gelf_getshdr(at, &section->header) ||
            !(name = elf_strptr(object->elf, object->names_section, section->header.sh_name)))
            continue;
        section->index = elf_ndxscn(at);
        if (strcmp(name, "xray_instr_map") == 0)
            return true;
    }
    return false;
}

static enum symbol_result load_section(struct map_section *section) {
    const unsigned entry = 4 * section->word;
    if (section->header.sh_size > SECTION_MOST)
        return SYMBOL_LIMIT;
    if (section->header.sh_type == SHT_NOBITS || section->header.sh_size % entry != 0)
        return SYMBOL_DAMAGED;
    Elf_Data *data = elf_rawdata(elf_getscn(section->object->elf, section->index), NULL);
    if (!data || !data->d_buf || data->d_size != section->header.sh_size)
        return SYMBOL_DAMAGED;
    section->bytes = data->d_buf;
    return SYMBOL_FOUND;
}

static uint64_t word_at(const struct map_section *section, uint64_t offset) {
    const uint8_t *at = section->bytes + offset;
    return section->word == 8 ? load_u64(at, section->object->swap) : load_u32(at, section->object->swap);
}

/* --- Relocations. */

/* The value of the symbol that a relocation names; 0 for none, and for one that is not there. */
static uint64_t symbol_value(struct elf_object *object, size_t table, size_t index) {
    Elf_Scn *scn = index ? elf_getscn(object->elf, table) : NULL;
    Elf_Data *symbols = scn ? elf_getdata(scn, NULL) : NULL;
    GElf_Sym symbol;
    if (!symbols || index > INT32_MAX || !gelf_getsym(symbols, (int)index, &symbol))
        return 0;
    return symbol.st_value;
}

/* In an executable or shared object it says an address, in a relocatable one an offset. */
static bool is_inside(const struct map_section *section, uint64_t place, uint64_t *offset) {
    *offset = place - (section->object->header.e_type == ET_REL ? 0 : section->header.sh_addr);
    return *offset <= section->header.sh_size - section->word;
}

static pfr_status take_relocation(struct map_section *section, const GElf_Shdr *of, const GElf_Rela *r,
                                  bool has_addend) {
    uint64_t offset;
    if (!is_inside(section, r->r_offset, &offset))
        return PFR_OK;
    const uint64_t addend = has_addend ? (uint64_t)r->r_addend : word_at(section, offset);
    const uint64_t value = symbol_value(section->object, of->sh_link, GELF_R_SYM(r->r_info));
    return u64_map_put(&section->targets, offset, value + addend, NULL);
}

static enum symbol_result take_relocations(struct map_section *section, Elf_Scn *scn, const GElf_Shdr *of) {
    const bool has_addend = of->sh_type == SHT_RELA;
    const uint64_t count = of->sh_entsize ? of->sh_size / of->sh_entsize : 0;
    Elf_Data *data = count ? elf_getdata(scn, NULL) : NULL;
    if (count > RELOCATIONS_MOST)
        return SYMBOL_LIMIT;
    for (int i = 0; data && i < (int)count; i++) {
        GElf_Rela rela = {0};
        GElf_Rel rel;
        const bool there = has_addend ? gelf_getrela(data, i, &rela) != NULL : gelf_getrel(data, i, &rel) != NULL;
        if (!there)
            return SYMBOL_DAMAGED;
        if (!has_addend)
            rela = (GElf_Rela){rel.r_offset, rel.r_info, 0};
        if (take_relocation(section, of, &rela, has_addend) < 0)
            return table_memory_result(section->object->memory);
    }
    return SYMBOL_FOUND;
}

static enum symbol_result read_relocations(struct map_section *section) {
    Elf_Scn *scn = NULL;
    GElf_Shdr header;
    enum symbol_result result = SYMBOL_FOUND;
    if (section->header.sh_size < section->word)
        return SYMBOL_FOUND;
    while (result == SYMBOL_FOUND && (scn = elf_nextscn(section->object->elf, scn))) {
        if (!gelf_getshdr(scn, &header) || (header.sh_type != SHT_RELA && header.sh_type != SHT_REL))
            continue;
        if (section->object->header.e_type != ET_REL || header.sh_info == section->index)
            result = take_relocations(section, scn, &header);
    }
    return result;
}

/* --- Entries. */

/* The function's address in the entry at `entry`. */
static uint64_t function_of(const struct map_section *section, uint64_t entry, unsigned version) {
    const uint64_t at = entry + section->word;
    uint64_t address;
    if (u64_map_get(&section->targets, at, &address))
        return address;
    address = word_at(section, at);
    if (version < LAST_VERSION)
        return address;
    if (section->word == 4) /* signed */
        address = (uint64_t)(int64_t)(int32_t)(uint32_t)address;
    address += section->header.sh_addr + at;
    return section->word == 4 ? (uint32_t)address : address;
}

static enum symbol_result read_entries(struct xray_map *map, const struct map_section *section) {
    const unsigned size = 4 * section->word;
    uint64_t id = 0, last = 0;
    for (uint64_t entry = 0; entry < section->header.sh_size; entry += size) {
        const unsigned version = section->bytes[entry + 2 * section->word + 2];
        if (version > LAST_VERSION)
            return SYMBOL_DAMAGED;
        const uint64_t address = function_of(section, entry, version);
        id += id == 0 || address != last;
        last = address;
        const enum symbol_result result = xray_map_add(map, id, address, NULL, 0);
        if (result != SYMBOL_FOUND)
            return result;
    }
    return SYMBOL_FOUND;
}

static enum symbol_result read_object(struct xray_map *map, struct elf_object *object) {
    struct map_section section = {.object = object, .word = gelf_getclass(object->elf) == ELFCLASS64 ? 8 : 4};
    if (!find_section(object, &section))
        return SYMBOL_NO_MATCH;
    enum symbol_result result = load_section(&section);
    if (result != SYMBOL_FOUND)
        return result;
    u64_map_init(&section.targets, map->memory);
    result = read_relocations(&section);
    if (result == SYMBOL_FOUND)
        result = read_entries(map, &section);
    u64_map_free(&section.targets);
    return result;
}

static enum symbol_result read_file(struct xray_map *map, int fd, uint64_t size) {
    struct elf_object object;
    enum symbol_result result = elf_object_start(&object, fd, size, map->memory);
    if (result == SYMBOL_FOUND)
        result = read_object(map, &object);
    elf_object_end(&object);
    return result == SYMBOL_NOT_ELF ? xray_map_read_yaml(map, fd) : result;
}

enum symbol_result xray_map_open(struct xray_map *map, const char *path, struct memory *memory) {
    struct stat facts;
    int fd;
    *map = (struct xray_map){.memory = memory};
    arena_init(&map->arena, memory);
    enum symbol_result result = open_regular(path, 0, &fd, &facts);
    if (result != SYMBOL_FOUND)
        return result;
    result = read_file(map, fd, (uint64_t)facts.st_size);
    close(fd);
    return result;
}

void xray_map_close(struct xray_map *map) {
    mem_free(map->memory, map->functions, map->room, sizeof *map->functions);
    arena_free(&map->arena);
    map->functions = NULL;
    map->count = map->room = 0;
}

const struct xray_function *xray_map_find(const struct xray_map *map, uint32_t id) {
    return id > 0 && id <= map->count && map->functions[id - 1].sleds ? &map->functions[id - 1] : NULL;
}
