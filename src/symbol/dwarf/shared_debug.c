/* SPDX-License-Identifier: Apache-2.0 */
/* Opens the file that several objects share; see shared_debug.h. */
#include "symbol/dwarf/shared_debug.h"

#include "symbol/table/regular_file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACES 3u
#define DEBUG_FOLDER "/usr/lib/debug"

/* Checks the file's build-id, which is in a note or in its .debug_sup. */
static bool is_wanted(struct elf_object *file, const struct shared_link *wanted) {
    struct build_id id;
    struct shared_link own;
    elf_read_build_id(file, &id);
    if (id.size)
        return id.size == wanted->id_size && memcmp(id.bytes, wanted->id, id.size) == 0;
    return elf_read_shared_link(file, true, &own) && own.id_size == wanted->id_size &&
           memcmp(own.id, wanted->id, own.id_size) == 0;
}

static enum symbol_result read_file(struct shared_debug *s, struct elf_object *file, bool swap, struct memory *memory) {
    enum symbol_result result = debug_sections_load(&s->sections, DEBUG_OF_OBJECT, file, file->fd, memory);
    if (result == SYMBOL_FOUND && s->sections.swap != swap)
        result = SYMBOL_DAMAGED;
    return result == SYMBOL_FOUND ? dwarf_info_open(&s->info, &s->sections, NULL, memory) : result;
}

static enum symbol_result open_at(struct shared_debug *s, const char *symfs, const char *path, bool swap,
                                  const struct shared_link *wanted, struct memory *memory) {
    struct elf_object file;
    struct stat facts;
    int fd;
    enum symbol_result result = open_regular_under(symfs, path, &fd, &facts);
    if (result != SYMBOL_FOUND)
        return result;
    result = elf_object_start(&file, fd, (uint64_t)facts.st_size, memory);
    if (result == SYMBOL_FOUND)
        result = is_wanted(&file, wanted) ? read_file(s, &file, swap, memory) : SYMBOL_OTHER_BUILD;
    elf_object_end(&file);
    close(fd);
    s->is_there = result == SYMBOL_FOUND;
    if (!s->is_there)
        shared_debug_close(s);
    return result;
}

static bool print(char path[PATH_MAX], const char *folder, size_t length, const char *name) {
    const int made = length < PATH_MAX ? snprintf(path, PATH_MAX, "%.*s/%s", (int)length, folder, name) : -1;
    return made > 0 && made < PATH_MAX;
}

/* Makes the path of the place to search; *symfs is its prefix. False: no such place. */
static bool place_of(const struct shared_link *link, const struct debug_home *home, unsigned place, const char **symfs,
                     char path[PATH_MAX]) {
    const char *folder = home->folder ? home->folder : DEBUG_FOLDER, *slash = strrchr(home->path, '/');
    const char *inside = strstr(link->name, "/.dwz/");
    *symfs = place && home->folder ? NULL : home->symfs;
    if (place == 0 && *link->name == '/')
        return print(path, "", 0, link->name + 1);
    if (place == 0)
        return *link->name && slash && print(path, home->path, (size_t)(slash - home->path), link->name);
    if (place == 1)
        return inside && print(path, folder, strlen(folder), inside + 1);
    return build_id_path(path, PATH_MAX, folder, link->id, link->id_size, ".debug");
}

enum symbol_result shared_debug_open(struct shared_debug *s, struct elf_object *object, const struct debug_home *home,
                                     struct memory *memory) {
    struct shared_link link;
    char path[PATH_MAX];
    const char *symfs;
    *s = (struct shared_debug){.sections.memory = memory};
    const bool is_named = elf_read_shared_link(object, false, &link);
    enum symbol_result result = SYMBOL_FOUND;
    for (unsigned place = 0; is_named && place < PLACES && !s->is_there && result != SYMBOL_NO_MEMORY; place++)
        if (place_of(&link, home, place, &symfs, path))
            result = open_at(s, symfs, path, object->form.swap, &link, memory);
    if (is_named)
        snprintf(s->name, sizeof s->name, "%s", *link.name ? link.name : "a file without a name");
    return result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
}

void shared_debug_close(struct shared_debug *s) {
    dwarf_info_close(&s->info);
    debug_sections_free(&s->sections);
    *s = (struct shared_debug){.sections.memory = s->sections.memory};
}

struct dwarf_info *shared_debug_info(struct shared_debug *s) {
    return s->is_there ? &s->info : NULL;
}

const char *shared_debug_missing(const struct shared_debug *s) {
    return *s->name && !s->is_there ? s->name : NULL;
}
