/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the hooks that compilers left in a program (perfray/tracing.h). */
#include <perfray/tracing.h>

#include "base/memory/fail.h"
#include "base/io/exact_io.h"
#include "symbol/elf/elf_symbols.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOOK "__cyg_profile_func_enter"
#define RUNTIME_FUNCTION "pfr_rt_start"
#define RUNTIME_LIBRARY "libperfray-rt.so"

static void look_at_symbol(const char *name, bool defined, pfr_tracing_hooks *hooks) {
    hooks->has_symbols = true;
    hooks->calls |= strcmp(name, HOOK) == 0;
    hooks->has_runtime |= defined && strcmp(name, RUNTIME_FUNCTION) == 0;
}

static void look_at_symbols(const struct elf_symbols *symbols, struct elf_form form, pfr_tracing_hooks *hooks) {
    for (size_t i = 0; i < symbols->count; i++) {
        struct elf_symbol symbol;
        elf_symbol_load(symbols->bytes + i * elf_symbol_bytes(form), form, &symbol);
        const char *name = elf_symbols_name(symbols, symbol.name);
        if (name)
            look_at_symbol(name, symbol.section != SHN_UNDEF, hooks);
    }
}

static enum symbol_result look_at_table(const struct elf_object *object, uint32_t type, pfr_tracing_hooks *hooks) {
    const struct elf_section *section = elf_section_of_type(object, type);
    struct elf_symbols symbols;
    const enum symbol_result result = elf_symbols_read(object, section, object->memory, &symbols);
    look_at_symbols(&symbols, object->form, hooks);
    elf_symbols_free(&symbols, object->memory);
    return result;
}

static bool is_runtime(const struct elf_object *object, const struct elf_section *names, uint64_t at) {
    char name[sizeof RUNTIME_LIBRARY] = "";
    const size_t length = strlen(RUNTIME_LIBRARY);
    return names && elf_section_is_inside(object, names) && at < names->size && length < names->size - at &&
           read_exactly(object->fd, name, length, names->offset + at) && strcmp(name, RUNTIME_LIBRARY) == 0;
}

static enum symbol_result look_at_needed(const struct elf_object *object, pfr_tracing_hooks *hooks) {
    const struct elf_section *section = elf_section_of_type(object, SHT_DYNAMIC);
    const size_t each = elf_dynamic_bytes(object->form);
    const uint64_t count = section ? elf_entries(object, section, each) : 0;
    uint8_t *bytes;
    hooks->is_dynamic = section != NULL;
    if (count == 0)
        return SYMBOL_FOUND;
    const struct elf_section *names = section->link < object->section_count ? &object->sections[section->link] : NULL;
    const enum symbol_result result = elf_read(object, section->offset, count * each, object->memory, &bytes);
    for (uint64_t i = 0; i < count && result == SYMBOL_FOUND && !hooks->has_runtime; i++) {
        struct elf_dynamic entry;
        elf_dynamic_load(bytes + i * each, object->form, &entry);
        hooks->has_runtime = entry.tag == DT_NEEDED && is_runtime(object, names, entry.value);
    }
    if (result == SYMBOL_FOUND)
        mem_free(object->memory, bytes, count * each, 1);
    return result;
}

static enum symbol_result look_at_elf(const struct elf_object *object, pfr_tracing_hooks *hooks) {
    hooks->is_elf = true;
    hooks->sleds = elf_section_named(object, "xray_instr_map") != NULL;
    enum symbol_result result = look_at_table(object, SHT_SYMTAB, hooks);
    if (result == SYMBOL_FOUND)
        result = look_at_table(object, SHT_DYNSYM, hooks);
    return result == SYMBOL_FOUND ? look_at_needed(object, hooks) : result;
}

static enum symbol_result look_at_file(int fd, uint64_t size, pfr_tracing_hooks *hooks) {
    struct memory memory;
    struct elf_object object;
    memory_init(&memory, NULL, 0);
    enum symbol_result result = elf_object_start(&object, fd, size, &memory);
    if (result == SYMBOL_FOUND)
        result = look_at_elf(&object, hooks);
    elf_object_end(&object);
    return result == SYMBOL_NOT_ELF ? SYMBOL_FOUND : result;
}

pfr_status pfr_tracing_look(const char *path, pfr_tracing_hooks *hooks, pfr_error *err) {
    *hooks = (pfr_tracing_hooks){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "cannot be read: %s", strerror(errno));
    struct stat facts = {0};
    if (fstat(fd, &facts) == 0)
        hooks->other_rights = ((facts.st_mode & S_ISUID) && facts.st_uid != getuid()) ||
                              ((facts.st_mode & S_ISGID) && facts.st_gid != getgid());
    const enum symbol_result result =
        S_ISREG(facts.st_mode) ? look_at_file(fd, (uint64_t)facts.st_size, hooks) : SYMBOL_FOUND;
    close(fd);
    if (result == SYMBOL_FOUND)
        return PFR_OK;
    return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "cannot be examined: %s", symbol_result_text(result));
}
