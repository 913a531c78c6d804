/* SPDX-License-Identifier: Apache-2.0 */
/* Finds out which parts an ELF file has; see elf_facts.h. Notes are the only sections that are read. */
#include "symbol/elf/elf_facts.h"

#include "symbol/table/regular_file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

static bool is_debug_info(const char *name) {
    return strcmp(name, ".debug_info") == 0 || strcmp(name, ".zdebug_info") == 0;
}

static void note_section(const struct elf_object *object, const struct elf_section *header, struct elf_facts *facts) {
    if (header->size == 0 || header->type == SHT_NOBITS)
        return;
    facts->has_code = facts->has_code || header->flags & SHF_EXECINSTR;
    facts->has_symtab = facts->has_symtab || header->type == SHT_SYMTAB;
    facts->has_debug_info = facts->has_debug_info || is_debug_info(elf_section_name(object, header));
}

static enum symbol_result look(const struct symbol_object *asked, struct elf_object *object, struct elf_facts *facts) {
    elf_read_build_id(object, &facts->id);
    for (size_t i = 1; i < object->section_count; i++)
        note_section(object, &object->sections[i], facts);
    return elf_build_check(asked, &facts->id, object->fd, object->file_size);
}

enum symbol_result elf_look(const struct symbol_object *asked, struct memory *memory, struct elf_facts *facts) {
    struct stat status;
    struct elf_object object;
    int fd;
    *facts = (struct elf_facts){0};
    enum symbol_result result = open_regular_under(asked->symfs, asked->path, &fd, &status);
    if (result != SYMBOL_FOUND)
        return result;
    result = elf_object_start(&object, fd, (uint64_t)status.st_size, memory);
    if (result == SYMBOL_FOUND)
        result = look(asked, &object, facts);
    elf_object_end(&object);
    close(fd);
    return result;
}
