/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reads the symbols of an ELF object: .symtab, and .dynsym, which may have names that were stripped from .symtab.
 *
 * The selection is that of perf (checked with perf 6.1): functions, including indirect ones (STT_GNU_IFUNC); data
 * objects; and symbols without a type, as assembly produces them, if they are not hidden and the name of their section
 * contains "text" or "data". All these symbols must be in sections that are loaded. Mapping symbols are skipped: "$a $t
 * $d $x", with or without ".suffix", on ARM, AArch64 and RISC-V, and ".L" labels on RISC-V. The address of a Thumb
 * function (32-bit ARM) has bit 0 set, which is cleared here. On 64-bit PowerPC (ELFv1), the value of a symbol is the
 * address of a descriptor in .opd, whose first word is the address of the function.
 *
 * Addresses in a relocatable object (a kernel module) count from the first byte of its code; executable sections are
 * laid out in file order, as the kernel's loader does.
 */
#include "symbol/elf/elf_symbols.h"
#include "symbol/elf/elf_flood.h"
#include "symbol/elf/elf_plt.h"

#include <elf.h>
#include <string.h>

#include "base/memory/sizes.h"

#define SECTION_NAME_MOST 4096u /* bytes of a section name that are searched */

static const struct elf_form own_form = {.wide = true, .swap = false};

void elf_names_init(struct elf_names *names, struct memory *memory) {
    *names = (struct elf_names){.memory = memory};
    names->groups.memory = memory;
}

void elf_symbols_free(struct elf_symbols *table, struct memory *memory) {
    mem_free(memory, table->bytes, table->size, 1);
    mem_free(memory, table->long_indices, table->long_size, 1);
    mem_free(memory, table->text, table->text_room, 1);
    late_text_close(table->late);
    *table = (struct elf_symbols){0};
}

void elf_names_free(struct elf_names *names) {
    for (size_t i = 0; i < names->part_count; i++) {
        struct elf_part *part = &names->parts[i];
        for (unsigned k = 0; k < ELF_TABLES; k++)
            elf_symbols_free(&part->tables[k], names->memory);
        mem_free(names->memory, part->sections, part->section_count, sizeof *part->sections);
        mem_free(names->memory, part->descriptors, part->descriptors_size, 1);
    }
    names->part_count = 0;
    elf_stubs_free(&names->stubs, names->memory);
    groups_free(&names->groups);
}

/* --- Sections. */

static uint64_t align_up(uint64_t at, uint64_t align) {
    if (align < 2 || (align & (align - 1)) != 0 || at > UINT64_MAX - align)
        return at;
    return (at + align - 1) & ~(align - 1);
}

static bool has_labels(const char *name) {
    const size_t length = strnlen(name, SECTION_NAME_MOST);
    return memmem(name, length, "text", 4) || memmem(name, length, "data", 4);
}

static void widen(struct elf_part *part, uint64_t start, uint64_t size) {
    const uint64_t end = size > UINT64_MAX - start ? UINT64_MAX : start + size;
    const bool is_first = part->low >= part->high;
    part->low = is_first || start < part->low ? start : part->low;
    part->high = is_first || end > part->high ? end : part->high;
}

static void look_at_section(struct elf_part *part, const struct elf_object *object, size_t i, uint64_t *next) {
    const struct elf_section *s = &object->sections[i];
    const bool code = (s->flags & SHF_EXECINSTR) != 0, relocatable = object->header.type == ET_REL;
    struct named_section *named = &part->sections[i];
    named->is_placed = (s->flags & SHF_ALLOC) != 0 && (code || !relocatable);
    named->has_labels = has_labels(elf_section_name(object, s));
    if (relocatable && code) {
        named->base = *next = align_up(*next, s->align);
        *next = s->size > UINT64_MAX - *next ? UINT64_MAX : *next + s->size;
    }
    if (code && named->is_placed)
        widen(part, relocatable ? named->base : s->address, s->size);
}

static enum symbol_result look_at_sections(struct elf_part *part, const struct elf_object *object,
                                           struct memory *memory) {
    uint64_t next = 0;
    part->sections = mem_zeroed(memory, object->section_count, sizeof *part->sections);
    if (!part->sections)
        return table_memory_result(memory);
    part->section_count = object->section_count;
    for (size_t i = 1; i < object->section_count; i++)
        look_at_section(part, object, i, &next);
    return SYMBOL_FOUND;
}

static enum symbol_result read_descriptors(struct elf_part *part, const struct elf_object *object,
                                           struct memory *memory) {
    const struct elf_section *s = part->machine == EM_PPC64 ? elf_section_named(object, ".opd") : NULL;
    if (!s || !elf_section_is_inside(object, s) || s->size == 0)
        return SYMBOL_FOUND;
    part->descriptors_section = (size_t)(s - object->sections);
    part->descriptors_address = s->address;
    const enum symbol_result result = elf_read(object, s->offset, s->size, memory, &part->descriptors);
    part->descriptors_size = part->descriptors ? s->size : 0;
    return result;
}

/* --- Tables. */

static enum symbol_result read_long_indices(const struct elf_object *object, struct memory *memory,
                                            struct elf_symbols *table) {
    for (size_t i = 1; i < object->section_count; i++) {
        const struct elf_section *s = &object->sections[i];
        if (s->type != SHT_SYMTAB_SHNDX || s->link != table->section)
            continue;
        if (!elf_section_is_inside(object, s) || s->size < table->count * 4)
            return SYMBOL_FOUND;
        const enum symbol_result result = elf_read(object, s->offset, table->count * 4, memory, &table->long_indices);
        table->long_size = table->long_indices ? table->count * 4 : 0;
        return result;
    }
    return SYMBOL_FOUND;
}

/* Returns the section with the names of a table, or NULL. */
static const struct elf_section *text_section(const struct elf_object *object, uint32_t section) {
    const struct elf_section *s = section < object->section_count ? &object->sections[section] : NULL;
    const bool is_there = s && s->type == SHT_STRTAB && s->size > 0 && !(s->flags & SHF_COMPRESSED);
    return is_there && elf_section_is_inside(object, s) ? s : NULL;
}

/* Reads names up to the last NUL. */
static enum symbol_result read_text(const struct elf_object *object, uint32_t section, struct memory *memory,
                                    struct elf_symbols *table) {
    const struct elf_section *s = text_section(object, section);
    uint8_t *bytes;
    if (!s)
        return SYMBOL_FOUND;
    const enum symbol_result result = elf_read(object, s->offset, s->size, memory, &bytes);
    if (result != SYMBOL_FOUND)
        return result;
    const uint8_t *last = memrchr(bytes, '\0', s->size);
    table->text = (char *)bytes;
    table->text_room = s->size;
    table->text_size = last ? (size_t)(last - bytes) + 1 : 0;
    return SYMBOL_FOUND;
}

enum symbol_result elf_symbols_read_bare(const struct elf_object *object, const struct elf_section *section,
                                         struct memory *memory, struct elf_symbols *table) {
    const size_t each = elf_symbol_bytes(object->form);
    const uint64_t count = section ? elf_entries(object, section, each) : 0;
    *table = (struct elf_symbols){0};
    if (count == 0)
        return SYMBOL_FOUND;
    if (count > SYMBOL_COUNT_MOST)
        return SYMBOL_LIMIT;
    const enum symbol_result result = elf_read(object, section->offset, count * each, memory, &table->bytes);
    if (result != SYMBOL_FOUND)
        return result;
    table->section = (uint32_t)(section - object->sections);
    table->count = count;
    table->size = count * each;
    return SYMBOL_FOUND;
}

static enum symbol_result read_all_but_text(const struct elf_object *object, const struct elf_section *section,
                                            struct memory *memory, struct elf_symbols *table) {
    const enum symbol_result result = elf_symbols_read_bare(object, section, memory, table);
    return result == SYMBOL_FOUND && table->count ? read_long_indices(object, memory, table) : result;
}

enum symbol_result elf_symbols_read(const struct elf_object *object, const struct elf_section *section,
                                    struct memory *memory, struct elf_symbols *table) {
    const enum symbol_result result = read_all_but_text(object, section, memory, table);
    return result == SYMBOL_FOUND && table->count ? read_text(object, section->link, memory, table) : result;
}

static bool has_marks(const struct elf_part *part) {
    return part->machine == EM_ARM || part->machine == EM_AARCH64 || part->machine == EM_RISCV;
}

/* Reads a table of a part. If there are very many names, they are read on demand, unless all of them must be checked
   for mapping symbols. */
static enum symbol_result read_table(const struct elf_object *object, const struct elf_section *section,
                                     struct memory *memory, const struct elf_part *part, struct elf_symbols *table) {
    enum symbol_result result = read_all_but_text(object, section, memory, table);
    if (result != SYMBOL_FOUND || table->count == 0)
        return result;
    const struct elf_section *text = text_section(object, section->link);
    if (text && text->size >= sizes.late_text && !has_marks(part))
        result = late_text_open(object, text, memory, &table->late);
    if (result == SYMBOL_FOUND && !table->late)
        result = read_text(object, section->link, memory, table);
    return result == SYMBOL_FOUND && elf_names_flood(table, part->form, memory) ? SYMBOL_LIMIT : result;
}

enum symbol_result elf_names_read(struct elf_names *names, const struct elf_object *object) {
    static const uint32_t types[ELF_TABLES] = {SHT_SYMTAB, SHT_DYNSYM};
    if (object->section_count == 0)
        return SYMBOL_FOUND;
    struct elf_part *part = &names->parts[names->part_count++];
    *part = (struct elf_part){.form = object->form, .machine = object->header.machine};
    enum symbol_result result = look_at_sections(part, object, names->memory);
    if (result == SYMBOL_FOUND)
        result = read_descriptors(part, object, names->memory);
    for (unsigned i = 0; i < ELF_TABLES && result == SYMBOL_FOUND; i++)
        result = read_table(object, elf_section_of_type(object, types[i]), names->memory, part, &part->tables[i]);
    return result;
}

uint64_t elf_names_count(const struct elf_names *names) {
    uint64_t count = 0;
    for (size_t i = 0; i < names->part_count; i++)
        for (unsigned k = 0; k < ELF_TABLES; k++)
            count += names->parts[i].tables[k].count;
    return count;
}

/* --- Symbols. */

/* The section of a symbol; 0 for undefined, absolute and common symbols. */
static inline size_t section_of(const struct elf_part *part, const struct elf_symbols *table, uint32_t index,
                                const struct elf_symbol *symbol) {
    size_t section = symbol->section;
    if (section == SHN_XINDEX && table->long_indices)
        section = load_u32(table->long_indices + (size_t)index * 4, part->form.swap);
    else if (section >= SHN_LORESERVE)
        return 0;
    return section < part->section_count ? section : 0;
}

static inline bool names_something(const struct named_section *section, const struct elf_symbol *symbol) {
    const unsigned type = ELF64_ST_TYPE(symbol->info), visibility = ELF64_ST_VISIBILITY(symbol->other);
    if (!section->is_placed)
        return false;
    if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_OBJECT)
        return true;
    return type == STT_NOTYPE && section->has_labels && visibility != STV_HIDDEN && visibility != STV_INTERNAL;
}

static bool find_descriptor(const struct elf_part *part, uint64_t value, uint64_t *address) {
    struct cursor in = cursor_on(part->descriptors, part->descriptors_size, 0, part->form.swap);
    const uint8_t *skipped;
    return part->descriptors && take_bytes(&in, value - part->descriptors_address, &skipped) && take_u64(&in, address);
}

static inline uint64_t address_of(const struct elf_part *part, const struct elf_symbol *symbol, size_t section) {
    uint64_t address;
    if (part->descriptors_section && section == part->descriptors_section &&
        find_descriptor(part, symbol->value, &address))
        return address;
    const bool thumb = part->machine == EM_ARM && ELF64_ST_TYPE(symbol->info) == STT_FUNC;
    return part->sections[section].base + (thumb ? symbol->value & ~UINT64_C(1) : symbol->value);
}

static bool is_mark(const struct elf_part *part, const char *name) {
    if (!has_marks(part))
        return false;
    if (part->machine == EM_RISCV && strncmp(name, ".L", 2) == 0)
        return true;
    return name[0] == '$' && name[1] && strchr("atdx", name[1]) && (name[2] == '\0' || name[2] == '.');
}

/* Finds the name of a symbol. *name is NULL if the symbol has no name or is a mapping symbol. */
static enum symbol_result find_name(const struct elf_part *part, const struct elf_symbols *table,
                                    const struct elf_symbol *symbol, const char **name) {
    const enum symbol_result result = elf_symbols_find_name(table, symbol->name, name);
    if (result == SYMBOL_FOUND && *name && (!**name || is_mark(part, *name)))
        *name = NULL;
    return result;
}

static bool has_name(const struct elf_part *part, const struct elf_symbols *table, const struct elf_symbol *symbol) {
    const char *name;
    return find_name(part, table, symbol, &name) == SYMBOL_FOUND && name;
}

/* Adds a table's symbols to the groups. Names are read only to detect mapping symbols, and only until the first mapping
   symbol is found. Symbols without a name are skipped later. */
static inline bool add_table(struct symbol_groups *groups, const struct elf_part *part, const struct elf_symbols *table,
                             struct elf_form form) {
    const size_t each = elf_symbol_bytes(form);
    const bool marks = has_marks(part);
    bool any = false;
    for (uint32_t i = 0; i < table->count; i++) {
        struct elf_symbol symbol;
        elf_symbol_load(table->bytes + i * each, form, &symbol);
        const size_t section = section_of(part, table, i, &symbol);
        if (section == 0 || !names_something(&part->sections[section], &symbol))
            continue;
        if ((marks || !any) && !has_name(part, table, &symbol))
            continue;
        any = true;
        groups_add(groups, table->first + i, address_of(part, &symbol, section), symbol.size);
    }
    return any;
}

/* Calls the same function twice, so that the compiler specializes one of the calls for the usual class and byte
   order. */
static bool add_any_table(struct symbol_groups *groups, const struct elf_part *part, const struct elf_symbols *table) {
    if (part->form.wide == own_form.wide && part->form.swap == own_form.swap)
        return add_table(groups, part, table, own_form);
    return add_table(groups, part, table, part->form);
}

bool elf_names_add(struct elf_names *names) {
    uint64_t first = 0;
    bool any = false;
    for (size_t i = 0; i < names->part_count; i++)
        for (unsigned k = 0; k < ELF_TABLES; k++) {
            struct elf_symbols *table = &names->parts[i].tables[k];
            table->first = (uint32_t)first;
            first += table->count;
            any = add_any_table(&names->groups, &names->parts[i], table) || any;
        }
    return any;
}

static enum symbol_binding binding_of(const struct elf_symbol *symbol) {
    switch (ELF64_ST_BIND(symbol->info)) {
    case STB_WEAK:
        return BINDING_WEAK;
    case STB_GLOBAL:
        return BINDING_GLOBAL;
    default:
        return BINDING_LOCAL;
    }
}

static enum symbol_result put_symbol(const struct elf_part *part, const struct elf_symbols *table, uint32_t index,
                                     struct symbol_table *into) {
    struct elf_symbol symbol;
    elf_symbol_load(table->bytes + index * elf_symbol_bytes(part->form), part->form, &symbol);
    const char *name;
    const enum symbol_result result = find_name(part, table, &symbol, &name);
    if (result != SYMBOL_FOUND || !name)
        return result;
    const size_t section = section_of(part, table, index, &symbol);
    const struct table_entry entry = {.name = name,
                                      .name_length = NOT_MEASURED,
                                      .start = address_of(part, &symbol, section),
                                      .binding = (uint8_t)binding_of(&symbol)};
    return table_add_kept(into, entry, symbol.size);
}

/* Finds the table of a symbol number, and the part of the table; NULL: this is the number of a PLT entry. */
static const struct elf_symbols *table_of(const struct elf_names *names, uint32_t number,
                                          const struct elf_part **part) {
    for (size_t i = 0; i < names->part_count; i++)
        for (unsigned k = 0; k < ELF_TABLES; k++) {
            const struct elf_symbols *table = &names->parts[i].tables[k];
            *part = &names->parts[i];
            if (number >= table->first && number - table->first < table->count)
                return table;
        }
    return NULL;
}

void elf_names_extent(const struct elf_names *names, uint32_t number, uint64_t *start, uint64_t *size) {
    const struct elf_part *part;
    const struct elf_symbols *table = table_of(names, number, &part);
    struct elf_symbol symbol;
    if (!table) {
        elf_stubs_extent(names, number, start, size);
        return;
    }
    const uint32_t index = number - table->first;
    elf_symbol_load(table->bytes + index * elf_symbol_bytes(part->form), part->form, &symbol);
    *start = address_of(part, &symbol, section_of(part, table, index, &symbol));
    *size = symbol.size;
}

enum symbol_result elf_names_put(const struct elf_names *names, uint32_t number, struct symbol_table *into) {
    const struct elf_part *part;
    const struct elf_symbols *table = table_of(names, number, &part);
    return table ? put_symbol(part, table, number - table->first, into) : elf_stubs_put(names, number, into);
}
