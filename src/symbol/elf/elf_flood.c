/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Refuses tables whose names together are much longer than the section of texts. Linkers let symbols share the end of a
 * name ("area" in "subarea"), so in a normal table all names together are about as long as that section. In a crafted
 * table, a thousand symbols can begin in one text of a megabyte. Then a file of one megabyte has a gigabyte of names,
 * which would take all memory from the rest of the recording.
 */
#include "symbol/elf/elf_flood.h"

#include <string.h>

#define FLOOD_TIMES 4u  /* maximum bytes of names per byte of the text; normal tables need up to about 1.3 */
#define FLOOD_LEAST 64u /* added to the maximum: the memory limit divided by this */

static uint64_t longest_name(const struct elf_symbols *table) {
    uint64_t longest = 0;
    for (const char *at = table->text, *end = at + table->text_size; at < end;) {
        const size_t length = strlen(at); /* the text ends with a NUL */
        longest = length > longest ? length : longest;
        at += length + 1;
    }
    return longest;
}

/* Sums the lengths of all names; stops above `most`. */
static uint64_t sum_of_names(const struct elf_symbols *table, struct elf_form form, uint64_t most) {
    const size_t each = elf_symbol_bytes(form);
    uint64_t sum = 0;
    for (size_t i = 0; i < table->count && sum <= most; i++) {
        struct elf_symbol symbol;
        elf_symbol_load(table->bytes + i * each, form, &symbol);
        const char *name = elf_symbols_name(table, symbol.name);
        sum += name ? strlen(name) : 0;
    }
    return sum;
}

bool elf_names_flood(const struct elf_symbols *table, struct elf_form form, const struct memory *memory) {
    const uint64_t most = memory->limit / FLOOD_LEAST + FLOOD_TIMES * (uint64_t)table->text_size;
    if (!table->text_size || longest_name(table) <= most / table->count)
        return false;
    return sum_of_names(table, form, most) > most;
}
