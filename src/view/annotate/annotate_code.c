/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the bytes of functions from the objects that the recording names: see annotate_parts.h. */
#include "view/annotate/annotate_memory.h"

#include "symbol/table/regular_file.h"

#include <elf.h>
#include <string.h>
#include <unistd.h>

static enum symbol_result open_elf(const struct annotate *a, const struct symbol_object *wanted, struct code_file *f) {
    struct stat facts;
    struct build_id id = {.size = 0};
    enum symbol_result result = open_regular_under(wanted->symfs, wanted->path, &f->fd, &facts);
    if (result != SYMBOL_FOUND) {
        f->fd = -1;
        return result;
    }
    result = elf_object_start(&f->elf, f->fd, (uint64_t)facts.st_size, a->memory);
    if (result == SYMBOL_FOUND) {
        elf_read_build_id(&f->elf, &id);
        result = build_id_check(&id, wanted);
    }
    if (result != SYMBOL_FOUND) {
        elf_object_end(&f->elf);
        close(f->fd);
        f->fd = -1;
    }
    return result;
}

/* Makes the path at which perf or debuginfod keeps a copy of the object. */
static bool copy_place(const struct annotate *a, unsigned place, const pfr_model_object *o, char path[DEBUG_PATH_ROOM],
                       struct symbol_object *found) {
    if (place == 0)
        return kept_object_place(o->build_id, o->build_id_size, o->kind == PFR_OBJECT_VDSO, path, found);
    return a->naming.fetched &&
           fetched_object_place(a->naming.fetched, o->build_id, o->build_id_size, "executable", path, found);
}

/* FOUND: the object is a file that is opened by its path. */
static enum symbol_result object_path(const struct annotate *a, const pfr_model_object *o, const char **path) {
    *path = o->kind == PFR_OBJECT_FILE || o->kind == PFR_OBJECT_MODULE ? o->path
            : o->kind == PFR_OBJECT_KERNEL                             ? a->naming.vmlinux
                                                                       : NULL;
    return *path ? SYMBOL_FOUND : SYMBOL_NO_FILE;
}

static void open_lines(const struct annotate *a, const struct symbol_object *wanted, struct code_file *f) {
    const struct debug_search search = {.path = wanted->path,
                                        .symfs = wanted->symfs,
                                        .folder = a->naming.debug_dir,
                                        .fetched = a->naming.fetched,
                                        .build_id = wanted->build_id,
                                        .size = wanted->build_id_size};
    name_limits_init(&f->limits, a->memory);
    named_object_begin(&f->named, &f->limits, wanted->path);
    if (named_object_open_elf(&f->named, wanted, &search) == SYMBOL_FOUND)
        named_object_open_lines(&f->named, &search, a->naming.cache_dir, a->memory);
}

enum symbol_result code_file_open(const struct annotate *a, const pfr_model_object *o, struct code_file *f) {
    char path[DEBUG_PATH_ROOM];
    struct symbol_object wanted = {.kind = SYMBOL_USER,
                                   .symfs = o->kind == PFR_OBJECT_KERNEL ? NULL : a->naming.symfs,
                                   .build_id = o->build_id,
                                   .build_id_size = o->build_id_size,
                                   .debug_folder = a->naming.debug_dir,
                                   .cache = a->naming.cache_dir,
                                   .may_be_bare = true};
    struct symbol_object copy = wanted;
    memset(f, 0, sizeof *f);
    f->fd = -1;
    if (o->kind == PFR_OBJECT_JIT)
        return jit_file_open(a, o, f);
    enum symbol_result result = object_path(a, o, &wanted.path);
    if (result == SYMBOL_FOUND)
        result = open_elf(a, &wanted, f);
    for (unsigned place = 0; f->fd < 0 && place < 2 && o->build_id_size; place++)
        if (copy_place(a, place, o, path, &copy) && open_elf(a, &copy, f) == SYMBOL_FOUND) {
            result = SYMBOL_FOUND;
            wanted = copy;
        }
    if (result == SYMBOL_FOUND)
        open_lines(a, &wanted, f);
    return result;
}

enum symbol_result code_file_open_at(const struct annotate *a, const pfr_model_object *o, uint64_t address,
                                     struct code_file *f) {
    const enum symbol_result result = code_file_open(a, o, f);
    if (result == SYMBOL_FOUND || o->kind != PFR_OBJECT_KERNEL || a->naming.vmlinux ||
        kernel_core_open(a, o, address, f) != SYMBOL_FOUND)
        return result;
    return SYMBOL_FOUND;
}

enum symbol_result code_file_read(const struct annotate *a, const struct code_file *f, uint64_t offset, size_t size,
                                  uint8_t **bytes) {
    if (f->jit)
        return jit_file_read(a, f, offset, size, bytes);
    if (offset > f->elf.file_size || size > f->elf.file_size - offset)
        return SYMBOL_DAMAGED;
    return elf_read(&f->elf, offset, size, a->memory, bytes);
}

bool code_file_address(const struct code_file *f, uint64_t offset, uint64_t *address, uint64_t *left) {
    for (size_t i = 0; i < f->elf.segment_count; i++) {
        const struct elf_segment *s = &f->elf.segments[i];
        if (s->type != PT_LOAD || offset < s->offset || offset - s->offset >= s->size)
            continue;
        *address = s->address + (offset - s->offset);
        *left = s->size - (offset - s->offset);
        if (s->flags & PF_X)
            return true;
    }
    return false;
}

void code_file_close(struct code_file *f) {
    if (f->fd < 0)
        return;
    if (f->jit) {
        jit_dump_close(f->jit);
    } else {
        if (!f->is_core)
            named_object_close(&f->named);
        elf_object_end(&f->elf);
    }
    f->jit = NULL;
    close(f->fd);
    f->fd = -1;
}
