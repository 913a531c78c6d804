/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds code that no object file has at the recorded address: code of a kernel that was loaded at other addresses than
 * those in its file; kernel code that is only in /proc/kcore; and code of a JIT compiler, which is in the jitdump. See
 * annotate_parts.h.
 */
#include "view/annotate/annotate_memory.h"

#include "model/open/model_parts.h"
#include "model/profile/result/profile.h"
#include "symbol/table/regular_file.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define DUMP_MEMORY ((uint64_t)64 << 20) /* maximum bytes of memory for the index of a jitdump */
#define NOTES_MOST 4096u

/* --- The kernel. */

static const struct map *kernel_map(const struct annotate *a, uint64_t address) {
    static const struct record_key last = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const struct profile *profile = a->model->profile;
    return profile ? space_find(&profile->state.spaces, profile->state.kernel, address, last) : NULL;
}

/* The map states the address at which the first executable segment of the file was loaded. */
bool kernel_file_shift(const struct annotate *a, const struct code_file *f, uint64_t address, uint64_t *shift) {
    const struct map *map = kernel_map(a, address);
    for (size_t i = 0; map && i < f->elf.segment_count; i++)
        if (f->elf.segments[i].type == PT_LOAD && f->elf.segments[i].flags & PF_X) {
            *shift = map->pgoff - f->elf.segments[i].address;
            return true;
        }
    return false;
}

/* Whether the build-id is that of the running kernel (/sys/kernel/notes). */
static bool runs_now(const uint8_t *id, size_t size) {
    uint8_t notes[NOTES_MOST];
    FILE *file = size ? fopen("/sys/kernel/notes", "re") : NULL;
    const size_t got = file ? fread(notes, 1, sizeof notes, file) : 0;
    if (file)
        fclose(file);
    for (size_t at = 0; got >= 16 && at + 16 + size <= got; at += 4) {
        uint32_t head[3];
        memcpy(head, notes + at, sizeof head);
        if (head[0] == 4 && head[1] == size && head[2] == NT_GNU_BUILD_ID && memcmp(notes + at + 12, "GNU", 4) == 0 &&
            memcmp(notes + at + 16, id, size) == 0)
            return true;
    }
    return false;
}

/* Whether the kernel is still where it was during the recording: after a reboot it may be loaded elsewhere, and
   /proc/kallsyms then has other addresses than the recording. */
static bool is_where_it_was(const struct annotate *a, uint64_t address) {
    const struct map *map = kernel_map(a, address);
    char line[256], name[128], type;
    unsigned long long at;
    bool found = false;
    FILE *list = map ? fopen("/proc/kallsyms", "re") : NULL;
    while (list && !found && fgets(line, sizeof line, list))
        found = sscanf(line, "%llx %c %127s", &at, &type, name) == 3 && at == map->pgoff && at &&
                (strcmp(name, "_text") == 0 || strcmp(name, "_stext") == 0);
    if (list)
        fclose(list);
    return found;
}

enum symbol_result core_file_open(const struct annotate *a, const char *path, struct code_file *f) {
    struct stat facts;
    memset(f, 0, sizeof *f);
    f->fd = -1;
    enum symbol_result result = open_regular(path, OPEN_PROC | OPEN_NO_LINK, &f->fd, &facts);
    if (result != SYMBOL_FOUND) {
        f->fd = -1;
        return result;
    }
    result = elf_object_start(&f->elf, f->fd, (uint64_t)facts.st_size, a->memory);
    if (result == SYMBOL_FOUND && f->elf.header.type != ET_CORE)
        result = SYMBOL_NOT_ELF;
    f->is_core = result == SYMBOL_FOUND;
    if (result != SYMBOL_FOUND) {
        elf_object_end(&f->elf);
        close(f->fd);
        f->fd = -1;
    }
    return result;
}

/* Works only for root, only for the recorded kernel, and only if the kernel is still where it was. */
enum symbol_result kernel_core_open(const struct annotate *a, const pfr_model_object *o, uint64_t address,
                                    struct code_file *f) {
    if (geteuid() != 0 || a->naming.symfs || !runs_now(o->build_id, o->build_id_size) || !is_where_it_was(a, address))
        return SYMBOL_NO_FILE;
    return core_file_open(a, "/proc/kcore", f);
}

/* --- JIT. */

enum symbol_result jit_file_open(const struct annotate *a, const pfr_model_object *o, struct code_file *f) {
    const struct symbol_object wanted = {
        .kind = SYMBOL_JIT, .path = o->path, .symfs = a->naming.symfs, .owner = (uint32_t)getuid()};
    struct stat facts;
    enum symbol_result result = jit_dump_open(&wanted, a->memory, DUMP_MEMORY, &f->jit);
    if (result != SYMBOL_FOUND) {
        f->jit = NULL;
        return result;
    }
    result = open_regular_under(wanted.symfs, wanted.path, &f->fd, &facts);
    f->size = result == SYMBOL_FOUND ? (uint64_t)facts.st_size : 0;
    if (result == SYMBOL_FOUND)
        return result;
    jit_dump_close(f->jit);
    f->jit = NULL;
    f->fd = -1;
    return result;
}

bool jit_file_place(const struct code_file *f, const pfr_model_symbol *symbol, uint64_t *address, uint64_t *left) {
    const struct jit_code *code = jit_dump_code(f->jit, symbol->address);
    if (!code || !symbol->name || code->offset != symbol->address || code->size < symbol->size)
        return false;
    const char *recorded = symbol->mangled ? symbol->mangled : symbol->name;
    *address = code->address;
    *left = code->size;
    return strcmp(intern_chars(&f->jit->names, code->name), recorded) == 0;
}

enum symbol_result jit_file_read(const struct annotate *a, const struct code_file *f, uint64_t offset, size_t size,
                                 uint8_t **bytes) {
    if (offset > f->size || size > f->size - offset)
        return SYMBOL_DAMAGED;
    *bytes = mem_alloc(a->memory, size, 1);
    if (!*bytes)
        return SYMBOL_NO_MEMORY;
    if (pread(f->fd, *bytes, size, (off_t)offset) == (ssize_t)size)
        return SYMBOL_FOUND;
    mem_free(a->memory, *bytes, size, 1);
    return SYMBOL_IO;
}
