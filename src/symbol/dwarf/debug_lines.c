/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds units by the address ranges in their first entries. A unit without ranges, or of a version that cannot list all
 * of them, is found by its line number program; these programs run when an address is looked up that is in no other
 * unit.
 */
#include "symbol/dwarf/debug_lines.h"

#include "symbol/dwarf/dwarf_scopes.h"
#include "symbol/dwarf/line_cache.h"
#include "symbol/dwarf/line_table.h"
#include "symbol/table/regular_file.h"
#include "symbol/dwarf/shared_debug.h"
#include "symbol/dwarf/split_files.h"

#include <elf.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH_MOST PATH_TEXT_MOST

/* Data of a unit, read when it is first needed. */
struct unit_part {
    struct dwarf_scopes scopes;
    struct line_table lines;
    const char **paths;       /* indexed by file number; NULL: the path is not composed yet */
    struct dwarf_info *split; /* split unit that has the entries; NULL: the object has them */
    bool has_scopes, has_lines;
};

struct debug_lines {
    struct memory *memory;
    struct debug_sections sections;
    struct dwarf_info info;
    struct debug_home home;
    struct dwarf_names names;
    struct shared_debug shared;
    struct split_files split;
    struct unit_part **parts; /* indexed by unit number; NULL: not needed yet */
    struct range_map units;
    struct arena paths;
    struct source_frame *frames;
    size_t frame_room;
    uint64_t lines_left; /* bytes of line number programs that may still be run */
    bool all_units;      /* `units` includes the units without ranges */
    bool lacks_files;    /* files are missing that might give more results, so nothing is cached */
    struct debug_missed missed;
    struct line_cache cache;
    char *path; /* path of the object below symfs; NULL: the sections were read, or cannot be read */
    size_t path_size;
    struct stat facts;
};

/* Checks that the object is the recorded build, and that it is linked. */
static enum symbol_result check_object(struct elf_object *object, const struct symbol_object *asked,
                                       struct build_id *id) {
    elf_read_build_id(object, id);
    const enum symbol_result result = elf_build_check(asked, id, object->fd, object->file_size);
    return result == SYMBOL_FOUND && object->header.type == ET_REL ? SYMBOL_NO_SYMBOLS : result;
}

static enum symbol_result read_units(struct debug_lines *d) {
    enum symbol_result result = dwarf_info_open(&d->info, &d->sections, shared_debug_info(&d->shared), d->memory);
    if (result == SYMBOL_FOUND)
        result = ranges_flatten(&d->info.ranges, d->memory, &d->units);
    if (result != SYMBOL_FOUND)
        return result;
    dwarf_names_add(&d->names, &d->sections);
    if (shared_debug_info(&d->shared))
        dwarf_names_add(&d->names, shared_debug_info(&d->shared)->sections);
    d->lines_left = 4 * (uint64_t)d->sections.at[DEBUG_LINE].size;
    d->parts = mem_zeroed(d->memory, d->info.unit_count, sizeof *d->parts);
    return d->parts ? SYMBOL_FOUND : table_memory_result(d->memory);
}

static enum symbol_result read_object(struct debug_lines *d, struct elf_object *object) {
    enum symbol_result result = debug_sections_load(&d->sections, DEBUG_OF_OBJECT, object, object->fd, d->memory);
    if (result == SYMBOL_FOUND)
        result = shared_debug_open(&d->shared, object, &d->home, d->memory);
    const char *missing = shared_debug_missing(&d->shared);
    d->lacks_files = missing;
    if (missing)
        snprintf(d->missed.shared, sizeof d->missed.shared, "%s", missing);
    return result == SYMBOL_FOUND ? read_units(d) : result;
}

/* Keeps only the path; the sections are read later, if the cache has no answer. */
static enum symbol_result keep_path(struct debug_lines *d, const struct symbol_object *asked) {
    const char *symfs = asked->symfs && *asked->symfs ? asked->symfs : NULL;
    d->path_size = (symfs ? strlen(symfs) + 1 : 0) + strlen(asked->path) + 1;
    d->path = mem_alloc(d->memory, d->path_size, 1);
    if (!d->path)
        return table_memory_result(d->memory);
    snprintf(d->path, d->path_size, "%s%s%s", symfs ? symfs : "", symfs ? "/" : "", asked->path);
    return SYMBOL_FOUND;
}

static bool keep_text(struct debug_lines *d, const char *text, const char **kept) {
    *kept = text && *text ? arena_text(&d->paths, text, strlen(text)) : NULL;
    return *kept || !text || !*text;
}

static enum symbol_result keep_home(struct debug_lines *d, const struct symbol_object *asked) {
    const bool is_kept = keep_text(d, asked->path, &d->home.path) && keep_text(d, asked->symfs, &d->home.symfs) &&
                         keep_text(d, asked->debug_folder, &d->home.folder);
    return is_kept ? SYMBOL_FOUND : table_memory_result(d->memory);
}

static enum symbol_result open_object(struct debug_lines *d, const struct symbol_object *asked, int fd) {
    struct elf_object object;
    struct line_key key = {.size = (uint64_t)d->facts.st_size,
                           .changed_ns =
                               (uint64_t)d->facts.st_mtim.tv_sec * 1000000000u + (uint64_t)d->facts.st_mtim.tv_nsec};
    enum symbol_result result = elf_object_start(&object, fd, key.size, d->memory);
    if (result == SYMBOL_FOUND)
        result = check_object(&object, asked, &key.id);
    if (result == SYMBOL_FOUND)
        line_cache_open(&d->cache, asked->cache, &key, d->memory);
    if (result == SYMBOL_FOUND)
        result = d->cache.bytes ? keep_path(d, asked) : read_object(d, &object);
    elf_object_end(&object);
    return result;
}

/* If a limit was exceeded, makes PFR_ERR_LIMIT the failure of the memory. */
static enum symbol_result mark_limit(struct memory *memory, enum symbol_result result) {
    if (result == SYMBOL_LIMIT && memory->failed == PFR_OK)
        memory->failed = PFR_ERR_LIMIT;
    return result;
}

enum symbol_result debug_lines_open(const struct symbol_object *asked, struct memory *memory,
                                    struct debug_lines **lines) {
    struct stat facts;
    int fd;
    *lines = NULL;
    enum symbol_result result = open_regular_under(asked->symfs, asked->path, &fd, &facts);
    if (result != SYMBOL_FOUND)
        return result;
    struct debug_lines *made = mem_zeroed(memory, 1, sizeof *made);
    result = table_memory_result(memory);
    if (made) {
        made->memory = memory;
        made->sections.memory = memory;
        made->facts = facts;
        arena_init(&made->paths, memory);
        dwarf_names_init(&made->names, memory);
        split_files_init(&made->split, &made->home, &made->sections, &made->names, memory);
        result = keep_home(made, asked);
        if (result == SYMBOL_FOUND)
            result = open_object(made, asked, fd);
    }
    close(fd);
    if (result == SYMBOL_FOUND)
        *lines = made;
    else
        debug_lines_close(made);
    return mark_limit(memory, result);
}

static void forget_path(struct debug_lines *d) {
    mem_free(d->memory, d->path, d->path ? d->path_size : 0, 1);
    d->path = NULL;
}

static bool is_same_file(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Reads the sections if they have not been read yet. */
static enum symbol_result read_sections(struct debug_lines *d) {
    struct elf_object object;
    struct stat facts;
    int fd;
    if (!d->path)
        return d->parts ? SYMBOL_FOUND : SYMBOL_NO_MATCH;
    enum symbol_result result = open_regular(d->path, 0, &fd, &facts);
    forget_path(d);
    if (result != SYMBOL_FOUND)
        return SYMBOL_NO_MATCH;
    result = is_same_file(&facts, &d->facts) ? elf_object_start(&object, fd, (uint64_t)facts.st_size, d->memory)
                                             : SYMBOL_OTHER_BUILD;
    if (result != SYMBOL_OTHER_BUILD) {
        if (result == SYMBOL_FOUND)
            result = read_object(d, &object);
        elf_object_end(&object);
    }
    close(fd);
    return result == SYMBOL_FOUND || result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY ? result : SYMBOL_NO_MATCH;
}

static void free_part(struct debug_lines *d, struct unit_part *part) {
    if (!part)
        return;
    mem_free(d->memory, part->paths, part->lines.file_count, sizeof *part->paths);
    dwarf_scopes_free(&part->scopes, d->memory);
    line_table_free(&part->lines);
    if (part->split)
        dwarf_info_close(part->split);
    mem_free(d->memory, part->split, part->split ? 1 : 0, sizeof *part->split);
    mem_free(d->memory, part, 1, sizeof *part);
}

void debug_lines_close(struct debug_lines *d) {
    if (!d)
        return;
    for (size_t i = 0; d->parts && i < d->info.unit_count; i++)
        free_part(d, d->parts[i]);
    mem_free(d->memory, d->parts, d->info.unit_count, sizeof *d->parts);
    mem_free(d->memory, d->frames, d->frame_room, sizeof *d->frames);
    range_map_free(&d->units, d->memory);
    line_cache_close(&d->cache);
    forget_path(d);
    arena_free(&d->paths);
    dwarf_info_close(&d->info);
    dwarf_names_free(&d->names);
    split_files_free(&d->split);
    shared_debug_close(&d->shared);
    debug_sections_free(&d->sections);
    mem_free(d->memory, d, 1, sizeof *d);
}

/* Drops the lines of a unit if there is no memory for its paths, because rows are not used without paths. */
static enum symbol_result forget_lines(struct debug_lines *d, struct unit_part *part) {
    const enum symbol_result result = table_memory_result(d->memory);
    line_table_free(&part->lines);
    return result;
}

static enum symbol_result read_lines(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part) {
    const struct section_bytes section = d->sections.at[DEBUG_LINE];
    uint64_t taken;
    if (!unit->has_lines || unit->lines >= section.size)
        return SYMBOL_FOUND;
    const enum symbol_result result = line_table_read(&part->lines, &d->sections, unit->lines, &unit->unit,
                                                      unit->str_offsets, d->lines_left, d->memory, &taken);
    d->lines_left -= taken;
    if (result != SYMBOL_FOUND && result != SYMBOL_DAMAGED) {
        line_table_free(&part->lines);
        return result;
    }
    part->paths = mem_zeroed(d->memory, part->lines.file_count, sizeof *part->paths);
    return part->paths ? SYMBOL_FOUND : forget_lines(d, part);
}

/* Reads the lines of a unit, without its entries. */
static enum symbol_result part_lines(struct debug_lines *d, uint32_t number, struct unit_part **part) {
    if (!d->parts[number])
        d->parts[number] = mem_zeroed(d->memory, 1, sizeof **part);
    *part = d->parts[number];
    if (!*part)
        return table_memory_result(d->memory);
    if ((*part)->has_lines)
        return SYMBOL_FOUND;
    (*part)->has_lines = true;
    return read_lines(d, &d->info.units[number], *part);
}

static void note_missed(struct debug_missed *m, const struct info_unit *unit) {
    const bool whole = !unit->folder || *unit->split_name == '/';
    if (m->units++ == 0)
        snprintf(m->split, sizeof m->split, "%s%s%s", whole ? "" : unit->folder, whole ? "" : "/", unit->split_name);
}

/* Opens the split part of a unit. If the split part is missing, the unit still has lines, and the functions that the
 * compiler left in the skeleton. */
static enum symbol_result open_split(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part) {
    struct dwarf_info info;
    const enum symbol_result result = split_files_find(&d->split, unit, &info);
    d->info.ranges.left += d->split.ranges_more;
    d->split.ranges_more = 0;
    if (result != SYMBOL_FOUND) {
        d->lacks_files = true;
        if (result == SYMBOL_NO_FILE)
            note_missed(&d->missed, unit);
        return result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
    }
    part->split = mem_alloc(d->memory, 1, sizeof *part->split);
    if (part->split)
        *part->split = info;
    else
        dwarf_info_close(&info);
    return part->split ? SYMBOL_FOUND : table_memory_result(d->memory);
}

static enum symbol_result read_scopes(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part) {
    if (!part->split)
        return dwarf_scopes_read(&part->scopes, &d->info, unit);
    part->split->ranges.left = d->info.ranges.left;
    const enum symbol_result result = dwarf_scopes_read(&part->scopes, part->split, &part->split->units[0]);
    d->info.ranges.left = part->split->ranges.left;
    return result;
}

static enum symbol_result part_of(struct debug_lines *d, uint32_t number, struct unit_part **part) {
    enum symbol_result result = part_lines(d, number, part);
    if (result != SYMBOL_FOUND || (*part)->has_scopes)
        return result;
    (*part)->has_scopes = true;
    const struct info_unit *unit = &d->info.units[number];
    if (unit->split_name)
        result = open_split(d, unit, *part);
    return result == SYMBOL_FOUND ? read_scopes(d, unit, *part) : result;
}

static enum symbol_result add_lines_as_ranges(struct debug_lines *d, uint32_t number) {
    struct unit_part *part;
    enum symbol_result result = part_lines(d, number, &part);
    for (size_t i = 0; result == SYMBOL_FOUND && i < part->lines.sequence_count; i++)
        result = range_add(&d->info.ranges, d->memory,
                           (struct address_range){part->lines.sequences[i].from, part->lines.sequences[i].to,
                                                  UINT32_MAX - number, number});
    return result;
}

/* Whether the first entry lists all ranges of the unit: version 2 cannot express more than one. */
static bool lists_all_ranges(const struct info_unit *unit) {
    return unit->has_ranges && unit->unit.shape.version > 2;
}

static enum symbol_result find_all_units(struct debug_lines *d) {
    enum symbol_result result = SYMBOL_FOUND;
    const size_t before = d->info.ranges.count;
    d->all_units = true;
    for (size_t i = 0; result == SYMBOL_FOUND && i < d->info.unit_count; i++)
        if (d->info.units[i].has_lines && !lists_all_ranges(&d->info.units[i]))
            result = add_lines_as_ranges(d, (uint32_t)i);
    if (result != SYMBOL_FOUND || d->info.ranges.count == before)
        return result;
    range_map_free(&d->units, d->memory);
    return ranges_flatten(&d->info.ranges, d->memory, &d->units);
}

static enum symbol_result unit_at(struct debug_lines *d, uint64_t address, uint32_t *unit,
                                  struct source_frames *frames) {
    *unit = range_find(&d->units, address, &frames->from, &frames->end);
    if (*unit != RANGE_NONE || d->all_units)
        return SYMBOL_FOUND;
    const enum symbol_result result = find_all_units(d);
    *unit = range_find(&d->units, address, &frames->from, &frames->end);
    return result;
}

static void narrow(struct source_frames *frames, uint64_t from, uint64_t end) {
    frames->from = from > frames->from ? from : frames->from;
    frames->end = end < frames->end ? end : frames->end;
}

/* Appends a component to a path, or replaces the path if the component is absolute. */
static void join(char path[PATH_MOST], const char *part) {
    if (!part || !*part)
        return;
    size_t length = *part == '/' ? 0 : strlen(path);
    const size_t more = strnlen(part, PATH_MOST);
    if (length && path[length - 1] != '/' && length + 1 < PATH_MOST)
        path[length++] = '/';
    if (more >= PATH_MOST - length)
        return;
    memcpy(path + length, part, more + 1);
}

static bool file_path(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part, uint32_t file,
                      const char **path) {
    struct line_path parts;
    char joined[PATH_MOST] = "";
    *path = NULL;
    if (!line_table_file(&part->lines, file, &parts))
        return true;
    if (!part->paths[file]) {
        join(joined, parts.in_unit ? unit->folder : NULL);
        join(joined, parts.folder);
        join(joined, parts.name);
        part->paths[file] = arena_text(&d->paths, joined, strlen(joined));
    }
    *path = part->paths[file];
    return *path != NULL;
}

static bool room_for_frame(struct debug_lines *d, size_t count) {
    struct source_frame *grown = mem_grow(d->memory, d->frames, count, &d->frame_room, 16, sizeof *grown);
    if (grown)
        d->frames = grown;
    return grown != NULL;
}

/* Adds the frame of a scope, with a position as file and line. */
static enum symbol_result add_frame(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part,
                                    struct dwarf_scope *scope, uint32_t file, uint32_t line, size_t *count) {
    struct source_frame frame = {.line = line, .is_inlined = scope && scope->is_inlined};
    enum symbol_result result = SYMBOL_FOUND;
    if (scope)
        result = dwarf_scope_name(scope, &d->names, part->split ? part->split : &d->info, &frame.function);
    if (result != SYMBOL_FOUND)
        return result;
    if (!file_path(d, unit, part, file, &frame.file) || !room_for_frame(d, *count))
        return table_memory_result(d->memory);
    d->frames[(*count)++] = frame;
    return SYMBOL_FOUND;
}

static enum symbol_result make_frames(struct debug_lines *d, const struct info_unit *unit, struct unit_part *part,
                                      const struct line_row *row, uint32_t scope, struct source_frames *frames) {
    uint32_t file = row ? row->file : 0, line = row ? row->line : 0;
    struct dwarf_scope *at = scope == SCOPE_NONE ? NULL : &part->scopes.at[scope];
    enum symbol_result result = add_frame(d, unit, part, at, row ? file : UINT32_MAX, line, &frames->count);
    while (result == SYMBOL_FOUND && at && at->is_inlined && at->parent != SCOPE_NONE) {
        file = at->file;
        line = at->line;
        at = &part->scopes.at[at->parent];
        result = add_frame(d, unit, part, at, file, line, &frames->count);
    }
    frames->at = d->frames;
    return result;
}

static enum symbol_result find_in_sections(struct debug_lines *d, uint64_t address, struct source_frames *frames) {
    uint32_t number;
    uint64_t from, end;
    struct unit_part *part;
    *frames = (struct source_frames){0};
    enum symbol_result result = unit_at(d, address, &number, frames);
    if (result != SYMBOL_FOUND)
        return result;
    if (number == RANGE_NONE)
        return SYMBOL_NO_MATCH;
    result = part_of(d, number, &part);
    if (result != SYMBOL_FOUND)
        return result;
    const struct line_row *row = line_table_find(&part->lines, address, &from, &end);
    narrow(frames, from, end);
    const uint32_t scope = range_find(&part->scopes.map, address, &from, &end);
    narrow(frames, from, end);
    if (!row && scope == RANGE_NONE)
        return SYMBOL_NO_MATCH;
    return make_frames(d, &d->info.units[number], part, row, scope, frames);
}

enum symbol_result debug_lines_find(struct debug_lines *d, uint64_t address, struct source_frames *frames) {
    *frames = (struct source_frames){0};
    if (line_cache_find(&d->cache, address, frames))
        return frames->count ? SYMBOL_FOUND : SYMBOL_NO_MATCH;
    enum symbol_result result = read_sections(d);
    if (result != SYMBOL_FOUND)
        return mark_limit(d->memory, result);
    result = find_in_sections(d, address, frames);
    if (!d->lacks_files && !d->names.is_cut && (result == SYMBOL_FOUND || result == SYMBOL_NO_MATCH))
        line_cache_add(&d->cache, frames);
    return mark_limit(d->memory, result);
}

bool debug_lines_cut(const struct debug_lines *d) {
    return d->names.is_cut;
}

uint64_t debug_lines_size(const struct debug_lines *d) {
    return (uint64_t)d->facts.st_size;
}

const struct debug_missed *debug_lines_missed(const struct debug_lines *d) {
    return &d->missed;
}

enum line_cache_state debug_lines_cache(const struct debug_lines *d) {
    return d->cache.state;
}
