/* SPDX-License-Identifier: Apache-2.0 */
/* The names of a program's functions, as the recorder's patterns match them (perfray/tracing.h). */
#include <perfray/tracing.h>

#include "base/memory/fail.h"
#include "runtime/rt_text.h"
#include "symbol/elf/elf_symbols.h"
#include "tracing/tracing_parts.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_ROOM 256

struct seen_names {
    pfr_tracing_name *see;
    void *context;
};

static void show_functions(const struct elf_symbols *symbols, struct elf_form form, const struct seen_names *sight) {
    for (size_t i = 0; i < symbols->count; i++) {
        struct elf_symbol symbol;
        char plain[PLAIN_ROOM];
        elf_symbol_load(symbols->bytes + i * elf_symbol_bytes(form), form, &symbol);
        const char *name = elf_symbols_name(symbols, symbol.name);
        if (!name || !*name || symbol.section == SHN_UNDEF || ELF64_ST_TYPE(symbol.info) != STT_FUNC)
            continue;
        const bool has_plain = rt_unmangle(name, plain, sizeof plain);
        sight->see(sight->context, name, has_plain ? plain : "");
    }
}

/* Like the recorder, uses the second table if the first is missing. */
static enum symbol_result show_table(const struct elf_object *object, const struct seen_names *sight) {
    const struct elf_section *section = elf_section_of_type(object, SHT_SYMTAB);
    struct elf_symbols symbols;
    if (!section)
        section = elf_section_of_type(object, SHT_DYNSYM);
    const enum symbol_result result = elf_symbols_read(object, section, object->memory, &symbols);
    show_functions(&symbols, object->form, sight);
    elf_symbols_free(&symbols, object->memory);
    return result;
}

static pfr_status status_of(enum symbol_result result, pfr_error *err) {
    if (result == SYMBOL_FOUND)
        return PFR_OK;
    const pfr_status st = result == SYMBOL_NO_MEMORY ? PFR_ERR_MEMORY : PFR_ERR_IO;
    return pfr_fail(err, st, PFR_NO_OFFSET, 0, "program", "has no names: %s", symbol_result_text(result));
}

pfr_status pfr_tracing_names(const char *program, pfr_tracing_name *see, void *context, pfr_error *err) {
    const struct seen_names sight = {see, context};
    struct memory memory;
    struct elf_object object;
    char path[TRACING_PROGRAM_ROOM];
    if (!tracing_find_program(program, path, sizeof path))
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "is not in PATH");
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "cannot be read: %s", strerror(errno));
    const off_t size = lseek(fd, 0, SEEK_END);
    memory_init(&memory, NULL, 0);
    enum symbol_result result = elf_object_start(&object, fd, size > 0 ? (uint64_t)size : 0, &memory);
    if (result == SYMBOL_FOUND)
        result = show_table(&object, &sight);
    elf_object_end(&object);
    close(fd);
    return status_of(result, err);
}

bool pfr_tracing_fits(const char *pattern, const char *name) {
    return rt_glob(pattern, name);
}
