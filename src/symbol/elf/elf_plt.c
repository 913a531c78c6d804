/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names PLT entries, which have no symbols. The n-th relocation of .rela.plt (or .rel.plt) belongs to the n-th entry
 * after the head of .plt; the entry is called NAME@plt, as in perf. The size of entries is the section's entry size; on
 * ARM and AArch64, head and entries have the sizes of the ABI.
 */
#include "symbol/elf/elf_plt.h"
#include "symbol/elf/elf_symbols.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>

#define NAME_ROOM 4096
#define COMMON_STUB 16u

struct plt {
    const struct elf_section *stubs, *relocations;
    uint64_t head, stub;
};

static bool find_sections(const struct elf_object *object, struct plt *plt) {
    for (size_t i = 1; i < object->section_count; i++) {
        const struct elf_section *s = &object->sections[i];
        const char *name = elf_section_name(object, s);
        if (s->type == SHT_PROGBITS && strcmp(name, ".plt") == 0)
            plt->stubs = s;
        else if ((s->type == SHT_RELA && strcmp(name, ".rela.plt") == 0) ||
                 (s->type == SHT_REL && strcmp(name, ".rel.plt") == 0))
            plt->relocations = s;
    }
    return plt->stubs && plt->relocations;
}

static void measure_stubs(const struct elf_object *object, struct plt *plt) {
    plt->head = plt->stub = plt->stubs->entry_size ? plt->stubs->entry_size : COMMON_STUB;
    if (object->header.machine == EM_ARM)
        plt->head = 20, plt->stub = 12;
    else if (object->header.machine == EM_AARCH64)
        plt->head = 32, plt->stub = 16;
}

static uint64_t count_stubs(const struct plt *plt, uint64_t relocations) {
    const uint64_t size = plt->stubs->size;
    const uint64_t places = size > plt->head ? (size - plt->head - 1) / plt->stub + 1 : 0;
    return places < relocations ? places : relocations;
}

/* Finds the symbol table of the relocations: one of the object's tables, or a table that is read only for this purpose.
 */
static enum symbol_result find_symbols(struct elf_names *names, const struct elf_object *object, uint32_t section) {
    struct elf_stubs *stubs = &names->stubs;
    for (unsigned i = 0; i < ELF_TABLES; i++)
        if (names->parts[0].tables[i].count && names->parts[0].tables[i].section == section)
            return stubs->symbols = &names->parts[0].tables[i], SYMBOL_FOUND;
    if (section == 0 || section >= object->section_count)
        return SYMBOL_FOUND;
    stubs->symbols = &stubs->own;
    return elf_symbols_read(object, &object->sections[section], names->memory, &stubs->own);
}

static size_t relocation_bytes(struct elf_form form, bool has_addends) {
    return has_addends ? elf_rela_bytes(form) : elf_rel_bytes(form);
}

enum symbol_result elf_stubs_read(struct elf_names *names, const struct elf_object *object) {
    struct elf_stubs *stubs = &names->stubs;
    struct plt plt = {0};
    if (names->part_count == 0 || !find_sections(object, &plt))
        return SYMBOL_FOUND;
    measure_stubs(object, &plt);
    stubs->has_addends = plt.relocations->type == SHT_RELA;
    const size_t each = relocation_bytes(object->form, stubs->has_addends);
    stubs->count = count_stubs(&plt, elf_entries(object, plt.relocations, each));
    if (stubs->count > SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    if (stubs->count == 0)
        return SYMBOL_FOUND;
    stubs->address = plt.stubs->address + plt.head;
    stubs->each = plt.stub;
    stubs->size = stubs->count * each;
    const enum symbol_result result =
        elf_read(object, plt.relocations->offset, stubs->size, names->memory, &stubs->relocations);
    return result == SYMBOL_FOUND ? find_symbols(names, object, plt.relocations->link) : result;
}

void elf_stubs_free(struct elf_stubs *stubs, struct memory *memory) {
    mem_free(memory, stubs->relocations, stubs->size, 1);
    elf_symbols_free(&stubs->own, memory);
    *stubs = (struct elf_stubs){0};
}

void elf_stubs_add(struct elf_names *names) {
    struct elf_stubs *stubs = &names->stubs;
    stubs->first = (uint32_t)elf_names_count(names);
    for (uint64_t i = 0; stubs->symbols && i < stubs->count; i++)
        groups_add(&names->groups, stubs->first + (uint32_t)i, stubs->address + i * stubs->each, stubs->each);
}

void elf_stubs_extent(const struct elf_names *names, uint32_t number, uint64_t *start, uint64_t *size) {
    const struct elf_stubs *stubs = &names->stubs;
    *start = stubs->address + (uint64_t)(number - stubs->first) * stubs->each;
    *size = stubs->each;
}

/* Finds the name of a relocation's symbol; NULL: it has no name. FOUND, LIMIT, NO_MEMORY, IO. */
static enum symbol_result find_name(const struct elf_names *names, uint32_t index, const char **name) {
    const struct elf_stubs *stubs = &names->stubs;
    const struct elf_form form = names->parts[0].form;
    struct elf_rel relocation; /* both kinds begin with these members */
    struct elf_symbol symbol;
    elf_rel_load(stubs->relocations + index * relocation_bytes(form, stubs->has_addends), form, &relocation);
    const uint64_t number = form.wide ? ELF64_R_SYM(relocation.info) : ELF32_R_SYM(relocation.info);
    *name = NULL;
    if (number >= stubs->symbols->count)
        return SYMBOL_FOUND;
    elf_symbol_load(stubs->symbols->bytes + number * elf_symbol_bytes(form), form, &symbol);
    return elf_symbols_find_name(stubs->symbols, symbol.name, name);
}

enum symbol_result elf_stubs_put(const struct elf_names *names, uint32_t number, struct symbol_table *table) {
    char text[NAME_ROOM];
    const uint32_t index = number - names->stubs.first;
    const char *name;
    const enum symbol_result result = find_name(names, index, &name);
    if (result != SYMBOL_FOUND)
        return result;
    const int length = snprintf(text, sizeof text, "%s@plt", name ? name : "");
    if (length <= 0 || (size_t)length >= sizeof text)
        return SYMBOL_FOUND;
    const struct table_entry entry = {.name = text,
                                      .module = "",
                                      .start = names->stubs.address + index * names->stubs.each,
                                      .name_length = (uint32_t)length};
    return table_add(table, entry, names->stubs.each);
}
