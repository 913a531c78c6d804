/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and opens the files with split units; see split_files.h. */
#include "symbol/dwarf/split_files.h"

#include "symbol/table/regular_file.h"
#include "symbol/dwarf/split_package.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RANGES_OF_A_BYTE 4u
#define HEADERS_MOST (1u << 22) /* unit headers read in all files, including units that are not needed */

struct split_file {
    struct debug_sections sections; /* includes the object's sections with addresses and old ranges */
    bool is_there;
};

void split_files_init(struct split_files *f, const struct debug_home *home, const struct debug_sections *object,
                      struct dwarf_names *names, struct memory *memory) {
    *f = (struct split_files){
        .memory = memory, .names = names, .object = object, .home = home, .budget.headers = HEADERS_MOST};
    u64_map_init(&f->by_inode, memory);
}

static void lend(struct split_file *file, const struct debug_sections *object) {
    file->sections.at[DEBUG_ADDR] = object ? object->at[DEBUG_ADDR] : (struct section_bytes){0};
    file->sections.at[DEBUG_RANGES] = object ? object->at[DEBUG_RANGES] : (struct section_bytes){0};
}

void split_files_free(struct split_files *f) {
    if (!f->memory)
        return;
    for (size_t i = 0; i < f->count; i++) {
        lend(f->files[i], NULL);
        debug_sections_free(&f->files[i]->sections);
        mem_free(f->memory, f->files[i], 1, sizeof **f->files);
    }
    mem_free(f->memory, f->files, f->room, sizeof *f->files);
    u64_map_free(&f->by_inode);
    *f = (struct split_files){0};
}

static bool is_memory_result(enum symbol_result result) {
    return result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY;
}

/* Reads the sections. A file that is not an object, or has no split sections, is remembered, too. */
static enum symbol_result read_file(struct split_files *f, int fd, uint64_t size, struct split_file *file) {
    struct elf_object object;
    enum symbol_result result = elf_object_start(&object, fd, size, f->memory);
    if (result == SYMBOL_FOUND)
        result = debug_sections_load(&file->sections, DEBUG_SPLIT, &object, fd, f->memory);
    elf_object_end(&object);
    file->is_there = result == SYMBOL_FOUND && file->sections.swap == f->object->swap;
    if (!file->is_there) {
        debug_sections_free(&file->sections);
        return result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
    }
    const struct section_bytes *at = file->sections.at;
    f->budget.abbrevs += 2 * (uint64_t)at[DEBUG_ABBREV].size;
    f->info_left += 2 * (uint64_t)at[DEBUG_INFO].size;
    f->ranges_more += RANGES_OF_A_BYTE * ((uint64_t)at[DEBUG_INFO].size + at[DEBUG_RNGLISTS].size);
    dwarf_names_add(f->names, &file->sections);
    lend(file, f->object);
    return SYMBOL_FOUND;
}

static struct split_file *add_file(struct split_files *f) {
    struct split_file **grown = mem_grow(f->memory, f->files, f->count, &f->room, 8, sizeof *grown);
    if (!grown)
        return NULL;
    f->files = grown;
    struct split_file *made = mem_zeroed(f->memory, 1, sizeof *made);
    if (made) {
        made->sections.memory = f->memory;
        f->files[f->count++] = made;
    }
    return made;
}

/* Keeps the file of a descriptor. Each file is read once, however many names lead to it. */
static enum symbol_result keep_file(struct split_files *f, int fd, const struct stat *facts, struct split_file **file) {
    const uint64_t key = (uint64_t)facts->st_ino ^ (uint64_t)facts->st_dev << 48;
    uint64_t number;
    if (u64_map_get(&f->by_inode, key, &number)) {
        *file = f->files[number];
        return SYMBOL_FOUND;
    }
    *file = add_file(f);
    if (!*file || u64_map_put(&f->by_inode, key, f->count - 1, NULL) != PFR_OK)
        return table_memory_result(f->memory);
    return read_file(f, fd, (uint64_t)facts->st_size, *file);
}

/* Sets *file, or NULL if the path has no usable file. */
static enum symbol_result open_at(struct split_files *f, const char *path, struct split_file **file) {
    struct stat facts;
    int fd;
    *file = NULL;
    if (open_regular_under(f->home->symfs, path, &fd, &facts) != SYMBOL_FOUND)
        return SYMBOL_FOUND;
    const enum symbol_result result = keep_file(f, fd, &facts, file);
    close(fd);
    if (*file && !(*file)->is_there)
        *file = NULL;
    return result;
}

static bool join(char to[PATH_MAX], const char *folder, size_t length, const char *slash, const char *name) {
    const int made = length < PATH_MAX ? snprintf(to, PATH_MAX, "%.*s%s%s", (int)length, folder, slash, name) : -1;
    return made > 0 && made < PATH_MAX;
}

static enum symbol_result open_package(struct split_files *f) {
    char path[PATH_MAX];
    if (f->package_asked)
        return SYMBOL_FOUND;
    f->package_asked = true;
    return join(path, f->home->path, strlen(f->home->path), "", ".dwp") ? open_at(f, path, &f->package) : SYMBOL_FOUND;
}

/* Takes a unit at its place in a file, within the budget. */
static enum symbol_result take_unit_of(struct split_files *f, const struct split_file *file,
                                       const struct split_place *place, const struct info_unit *skeleton,
                                       struct dwarf_info *info) {
    enum symbol_result result = dwarf_info_open_split(info, &file->sections, place, skeleton, f->memory, &f->budget);
    const uint64_t length = result == SYMBOL_FOUND ? info->units[0].unit.end - info->units[0].unit.offset : 0;
    if (length > f->info_left)
        result = SYMBOL_LIMIT;
    if (result == SYMBOL_FOUND)
        f->info_left -= length;
    else
        dwarf_info_close(info);
    return result;
}

static enum symbol_result find_in_package(struct split_files *f, const struct info_unit *skeleton,
                                          struct dwarf_info *info) {
    struct split_place place;
    enum symbol_result result = open_package(f);
    if (result != SYMBOL_FOUND || !f->package || !split_package_find(&f->package->sections, skeleton->split_id, &place))
        return is_memory_result(result) ? result : SYMBOL_NO_MATCH;
    return take_unit_of(f, f->package, &place, skeleton, info);
}

static enum symbol_result find_in_file(struct split_files *f, const char *path, const struct info_unit *skeleton,
                                       struct dwarf_info *info) {
    struct split_file *file;
    const enum symbol_result result = open_at(f, path, &file);
    if (result != SYMBOL_FOUND || !file)
        return is_memory_result(result) ? result : SYMBOL_NO_MATCH;
    const struct split_place place = {.info_end = file->sections.at[DEBUG_INFO].size};
    return take_unit_of(f, file, &place, skeleton, info);
}

/* Makes the path of a place to search: first the folder where the file was made, then the object's folder. */
static bool place_of(const struct split_files *f, const struct info_unit *skeleton, unsigned place,
                     char path[PATH_MAX]) {
    const char *name = skeleton->split_name, *last = strrchr(name, '/'), *slash = strrchr(f->home->path, '/');
    if (place == 0 && *name == '/')
        return join(path, name, strlen(name), "", "");
    if (place == 0)
        return skeleton->folder && join(path, skeleton->folder, strlen(skeleton->folder), "/", name);
    return slash && join(path, f->home->path, (size_t)(slash - f->home->path), "/", last ? last + 1 : name);
}

enum symbol_result split_files_find(struct split_files *f, const struct info_unit *skeleton, struct dwarf_info *info) {
    char path[PATH_MAX];
    enum symbol_result result = find_in_package(f, skeleton, info);
    for (unsigned place = 0; result == SYMBOL_NO_MATCH && place < 2; place++)
        if (place_of(f, skeleton, place, path))
            result = find_in_file(f, path, skeleton, info);
    return result == SYMBOL_NO_MATCH ? SYMBOL_NO_FILE : result;
}
