/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names for the stubs of the procedure linkage table, which no symbol table names: the stub of the n-th relocation of
 * .rela.plt (or .rel.plt) stands n places behind the head of .plt and is called NAME@plt, as perf calls it. Sizes of
 * head and stub: the section's entry size, on ARM and AArch64 those of their ABI.
 */
#include <elf.h>
#include <stdio.h>
#include <string.h>
#include "elf_object.h"

#define NAME_ROOM 4096
#define COMMON_STUB 16u

struct plt {
    GElf_Shdr stubs, relocations, symbols;
    Elf_Scn *relocation_section;
    uint64_t head, stub;
};

static bool is_named(const struct elf_object *object, const GElf_Shdr *header, const char *name) {
    const char *own = elf_strptr(object->elf, object->names_section, header->sh_name);
    return own && strcmp(own, name) == 0;
}

static bool find_sections(const struct elf_object *object, struct plt *plt) {
    GElf_Shdr header;
    bool found = false;
    for (size_t i = 1; i < object->section_count; i++) {
        Elf_Scn *section = elf_getscn(object->elf, i);
        if (!section || !gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == SHT_PROGBITS && is_named(object, &header, ".plt")) {
            plt->stubs = header;
            found = true;
        } else if ((header.sh_type == SHT_RELA && is_named(object, &header, ".rela.plt")) ||
                   (header.sh_type == SHT_REL && is_named(object, &header, ".rel.plt"))) {
            plt->relocations = header;
            plt->relocation_section = section;
        }
    }
    return found && plt->relocation_section;
}

static void measure_stubs(const struct elf_object *object, struct plt *plt) {
    plt->head = plt->stub = plt->stubs.sh_entsize ? plt->stubs.sh_entsize : COMMON_STUB;
    if (object->header.e_machine == EM_ARM)
        plt->head = 20, plt->stub = 12;
    else if (object->header.e_machine == EM_AARCH64)
        plt->head = 32, plt->stub = 16;
}

static bool symbol_of(const struct plt *plt, Elf_Data *relocations, int index, size_t *symbol) {
    GElf_Rela rela;
    GElf_Rel rel;
    if (plt->relocations.sh_type == SHT_RELA) {
        if (!gelf_getrela(relocations, index, &rela))
            return false;
        *symbol = GELF_R_SYM(rela.r_info);
        return true;
    }
    if (!gelf_getrel(relocations, index, &rel))
        return false;
    *symbol = GELF_R_SYM(rel.r_info);
    return true;
}

static enum symbol_result name_stubs(struct elf_object *object, const struct plt *plt, Elf_Data *relocations,
                                     Elf_Data *symbols, struct symbol_table *table) {
    char text[NAME_ROOM];
    size_t number;
    uint64_t at = plt->stubs.sh_addr + plt->head;
    for (int i = 0; symbol_of(plt, relocations, i, &number) && at - plt->stubs.sh_addr < plt->stubs.sh_size; i++) {
        GElf_Sym symbol;
        const char *name = number <= INT32_MAX && gelf_getsym(symbols, (int)number, &symbol)
                               ? elf_strptr(object->elf, plt->symbols.sh_link, symbol.st_name)
                               : NULL;
        const int length = snprintf(text, sizeof text, "%s@plt", name ? name : "");
        if (length > 0 && (size_t)length < sizeof text) {
            const struct table_entry entry = {.name = text, .module = "", .start = at, .name_length = (uint32_t)length};
            const enum symbol_result result = table_add(table, entry, plt->stub);
            if (result != SYMBOL_FOUND)
                return result;
        }
        at += plt->stub;
    }
    return SYMBOL_FOUND;
}

enum symbol_result elf_read_plt(struct elf_object *object, struct symbol_handle *handle) {
    struct plt plt = {.relocation_section = NULL};
    if (object->section_count == 0 || !find_sections(object, &plt))
        return SYMBOL_FOUND;
    Elf_Scn *symbols = elf_getscn(object->elf, plt.relocations.sh_link);
    if (!symbols || !gelf_getshdr(symbols, &plt.symbols) || plt.symbols.sh_size > UINT64_MAX - plt.relocations.sh_size)
        return SYMBOL_FOUND;
    measure_stubs(object, &plt);
    const uint64_t bytes = plt.symbols.sh_size + plt.relocations.sh_size;
    if (!mem_charge(object->memory, bytes))
        return SYMBOL_LIMIT;
    Elf_Data *relocation_data = elf_getdata(plt.relocation_section, NULL), *symbol_data = elf_getdata(symbols, NULL);
    enum symbol_result result = SYMBOL_FOUND;
    if (relocation_data && symbol_data)
        result = name_stubs(object, &plt, relocation_data, symbol_data, &handle->table);
    mem_discharge(object->memory, bytes);
    return result;
}
