/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and compiles the sections with call frame information; see unwind_table.h. */
#include "symbol/unwind/unwind_table.h"
#include "base/io/exact_io.h"

#include "symbol/elf/debug_link.h"
#include "symbol/jit/jit_dump.h"
#include "symbol/elf/own_vdso.h"
#include "symbol/table/regular_file.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define HEADER_MOST 12u /* bytes of .eh_frame_hdr up to the address of .eh_frame */
#define ENCODING_HERE 0x1bu

struct unwind_table {
    struct memory *memory;
    const struct unwind_machine *machine;
    struct unwind_plans plans;
    struct unwind_rows frames, debug; /* of .eh_frame, which takes precedence, and of .debug_frame */
    struct symbol_segment *segments;
    size_t segment_count;
    int fd;
    bool swap;
    bool is_dump; /* addresses are offsets in the dump */
    bool is_cut;  /* .debug_frame exceeded a limit */
};

/* State while an object is opened. */
struct source {
    struct elf_object object;
    int fd;
    uint64_t size;
    struct frame_section frames, debug;
    bool is_cut; /* .debug_frame exceeded a limit */
};

static uint8_t address_size(const struct elf_object *object) {
    return object->form.wide ? 8 : 4;
}

/* Loads only the first section of a kind, as in debug_sections.h; address_size is set as soon as a section was tried.
 */
static enum symbol_result load(struct source *s, const struct elf_section *section, bool is_zdebug, bool is_debug,
                               struct frame_section *into) {
    if (into->address_size || section->size == 0 || !elf_section_is_inside(&s->object, section))
        return SYMBOL_FOUND;
    *into = (struct frame_section){.address = section->address,
                                   .address_size = address_size(&s->object),
                                   .swap = s->object.form.swap,
                                   .is_debug = is_debug};
    const enum symbol_result result =
        section_load(&s->object, s->fd, section, is_zdebug, s->object.memory, &into->bytes);
    return result == SYMBOL_LIMIT || result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
}

/* Loads .debug_frame. If it exceeds a limit, .eh_frame is used without it. */
static enum symbol_result load_debug(struct source *s, const struct elf_section *section, bool is_zdebug) {
    const enum symbol_result result = load(s, section, is_zdebug, true, &s->debug);
    s->is_cut |= result == SYMBOL_LIMIT;
    return result == SYMBOL_LIMIT ? SYMBOL_FOUND : result;
}

static enum symbol_result load_named(struct source *s) {
    enum symbol_result result = SYMBOL_FOUND;
    for (size_t i = 1; i < s->object.section_count && result == SYMBOL_FOUND; i++) {
        const struct elf_section *section = &s->object.sections[i];
        const char *name = elf_section_name(&s->object, section);
        if (strcmp(name, ".eh_frame") == 0)
            result = load(s, section, false, false, &s->frames);
        else if (strcmp(name, ".debug_frame") == 0 || strcmp(name, ".zdebug_frame") == 0)
            result = load_debug(s, section, name[1] == 'z');
    }
    return result;
}

/* Finds the address of .eh_frame in .eh_frame_hdr (LSB Core, 10.6.2); supports only the encoding that linkers write. */
static bool find_place(const struct source *s, const struct elf_segment *segment, uint64_t *address) {
    uint8_t bytes[HEADER_MOST];
    if (segment->size < sizeof bytes || !read_exactly(s->fd, bytes, sizeof bytes, segment->offset))
        return false;
    const struct frame_section section = {.address = segment->address, .address_size = address_size(&s->object)};
    struct cursor in = cursor_on(bytes, sizeof bytes, 0, s->object.form.swap);
    const uint8_t *kinds;
    return take_bytes(&in, 4, &kinds) && kinds[0] == 1 && kinds[1] == ENCODING_HERE &&
           take_encoded(&in, &section, kinds[1], address);
}

/* Loads the bytes from an address to the end of its segment. */
static enum symbol_result load_from(struct source *s, uint64_t address) {
    for (size_t i = 0; i < s->object.segment_count; i++) {
        const struct elf_segment *of = &s->object.segments[i];
        if (of->type != PT_LOAD || address < of->address || address - of->address >= of->size)
            continue;
        const uint64_t skip = address - of->address;
        const struct elf_section made = {.address = address, .offset = of->offset + skip, .size = of->size - skip};
        s->frames = (struct frame_section){0};
        return load(s, &made, false, false, &s->frames);
    }
    return SYMBOL_FOUND;
}

static enum symbol_result load_by_header(struct source *s) {
    uint64_t address;
    for (size_t i = 0; i < s->object.segment_count; i++)
        if (s->object.segments[i].type == PT_GNU_EH_FRAME)
            return find_place(s, &s->object.segments[i], &address) ? load_from(s, address) : SYMBOL_FOUND;
    return SYMBOL_FOUND;
}

static void forget(struct frame_section *section, struct memory *memory) {
    mem_free(memory, (uint8_t *)(uintptr_t)section->bytes.bytes, section->bytes.size, 1);
    section->bytes = (struct section_bytes){0};
}

static enum symbol_result compile_sections(struct unwind_table *t, const struct source *s) {
    enum symbol_result result = SYMBOL_FOUND;
    if (s->frames.bytes.bytes)
        result = unwind_rows_make(&t->frames, &t->plans, &s->frames, t->machine);
    if (result == SYMBOL_FOUND && s->debug.bytes.bytes)
        result = unwind_rows_make(&t->debug, &t->plans, &s->debug, t->machine);
    if (result == SYMBOL_FOUND)
        result = unwind_plans_seal(&t->plans);
    if (result == SYMBOL_FOUND)
        result = unwind_rows_trim(&t->frames, t->memory);
    if (result == SYMBOL_FOUND)
        result = unwind_rows_trim(&t->debug, t->memory);
    return result;
}

static void forget_rows(struct unwind_table *t) {
    unwind_rows_free(&t->frames, t->memory);
    unwind_rows_free(&t->debug, t->memory);
    unwind_plans_free(&t->plans);
    unwind_plans_init(&t->plans, t->memory);
}

/* Compiles both sections; if together they exceed the limit, only .eh_frame. */
static enum symbol_result compile(struct unwind_table *t, struct source *s) {
    enum symbol_result result = compile_sections(t, s);
    if (result == SYMBOL_LIMIT && s->frames.bytes.bytes && s->debug.bytes.bytes) {
        s->is_cut = true;
        forget(&s->debug, t->memory);
        forget_rows(t);
        result = compile_sections(t, s);
    }
    t->is_cut = s->is_cut;
    if (result == SYMBOL_FOUND && t->frames.count + t->debug.count == 0)
        return t->is_cut ? SYMBOL_LIMIT : SYMBOL_NO_SYMBOLS;
    return result;
}

static enum symbol_result read_segments(struct unwind_table *t, struct source *s) {
    struct symbol_handle handle = {.memory = t->memory};
    const enum symbol_result result = elf_read_segments(&s->object, &handle);
    t->segments = handle.segments;
    t->segment_count = handle.segment_count;
    return result;
}

static enum symbol_result check(struct unwind_table *t, struct source *s, const struct symbol_object *asked) {
    struct build_id id;
    enum symbol_result result = elf_object_start(&s->object, s->fd, s->size, t->memory);
    if (result != SYMBOL_FOUND)
        return result;
    elf_read_build_id(&s->object, &id);
    t->machine = unwind_machine_of_elf(s->object.header.machine);
    t->swap = s->object.form.swap;
    result = build_id_check(&id, asked);
    return result == SYMBOL_FOUND && (!t->machine || s->object.header.type == ET_REL) ? SYMBOL_NO_SYMBOLS : result;
}

static enum symbol_result open_file(const struct symbol_object *asked, struct source *s) {
    struct stat facts;
    if (asked->kind == SYMBOL_VDSO && !asked->path)
        return open_own_vdso(&s->fd, &s->size);
    const enum symbol_result result = open_regular_under(asked->symfs, asked->path, &s->fd, &facts);
    s->size = result == SYMBOL_FOUND ? (uint64_t)facts.st_size : 0;
    return result;
}

/* Reads .debug_frame of a separate file if the file belongs to the requested build. */
static enum symbol_result read_apart(struct source *apart, const struct symbol_object *asked, struct memory *memory) {
    struct build_id id;
    enum symbol_result result = elf_object_start(&apart->object, apart->fd, apart->size, memory);
    if (result == SYMBOL_FOUND)
        result = load_named(apart);
    if (result != SYMBOL_FOUND || !apart->debug.bytes.bytes)
        return result;
    elf_read_build_id(&apart->object, &id);
    result = elf_build_check(asked, &id, apart->fd, apart->size);
    if (result != SYMBOL_FOUND)
        forget(&apart->debug, memory);
    return result;
}

static enum symbol_result load_apart(struct source *s, const struct symbol_object *asked) {
    struct source apart = {.fd = -1};
    struct memory *memory = s->object.memory;
    enum symbol_result result = open_file(asked, &apart);
    if (result != SYMBOL_FOUND)
        return result;
    result = read_apart(&apart, asked, memory);
    const bool is_same = apart.debug.bytes.bytes && apart.object.header.machine == s->object.header.machine &&
                         apart.object.form.swap == s->object.form.swap;
    if (is_same)
        s->debug = apart.debug;
    else
        forget(&apart.debug, memory);
    s->is_cut |= apart.is_cut || result == SYMBOL_LIMIT;
    forget(&apart.frames, memory);
    elf_object_end(&apart.object);
    close(apart.fd);
    return result;
}

/* Reads .debug_frame from the object's separate debug file. */
static enum symbol_result load_from_places(struct source *s, const struct unwind_places *places) {
    struct debug_link link;
    struct build_id id;
    struct symbol_object at;
    enum symbol_result result = SYMBOL_FOUND;
    elf_read_debug_link(&s->object, &link);
    elf_read_build_id(&s->object, &id);
    for (unsigned i = 0; i < places->count && !s->debug.bytes.bytes && result != SYMBOL_NO_MEMORY; i++)
        if (places->find(places->context, i, &link, &id, &at))
            result = load_apart(s, &at);
    s->is_cut = s->is_cut && !s->debug.bytes.bytes;
    return result == SYMBOL_NO_MEMORY ? result : SYMBOL_FOUND;
}

static enum symbol_result read_object(struct unwind_table *t, struct source *s, const struct symbol_object *asked,
                                      const struct unwind_places *places) {
    enum symbol_result result = check(t, s, asked);
    if (result == SYMBOL_FOUND)
        result = read_segments(t, s);
    if (result == SYMBOL_FOUND)
        result = load_named(s);
    if (result == SYMBOL_FOUND && !s->frames.bytes.bytes)
        result = load_by_header(s);
    if (result == SYMBOL_FOUND && places && !s->debug.bytes.bytes)
        result = load_from_places(s, places);
    if (result == SYMBOL_FOUND)
        result = compile(t, s);
    forget(&s->frames, t->memory);
    forget(&s->debug, t->memory);
    elf_object_end(&s->object);
    return result;
}

enum symbol_result unwind_table_open(const struct symbol_object *asked, const struct unwind_places *places,
                                     struct memory *memory, struct unwind_table **table) {
    struct source s = {.fd = -1};
    *table = NULL;
    enum symbol_result result = open_file(asked, &s);
    if (result != SYMBOL_FOUND)
        return result;
    struct unwind_table *made = mem_zeroed(memory, 1, sizeof *made);
    if (!made) {
        close(s.fd);
        return table_memory_result(memory);
    }
    made->memory = memory;
    made->fd = s.fd;
    unwind_plans_init(&made->plans, memory);
    result = read_object(made, &s, asked, places);
    if (result == SYMBOL_FOUND)
        *table = made;
    else
        unwind_table_close(made);
    return result;
}

/* Addresses are offsets in the dump, where the frames of each code follow the code. Rows for addresses outside the code
   are dropped, because rows must be sorted. */
static enum symbol_result add_code(struct unwind_table *t, const struct jit_code *code) {
    const struct frame_section section = {.bytes = {.bytes = code->frames, .size = code->frames_size},
                                          .address = code->offset + (code->size + 7) / 8 * 8,
                                          .address_size = 8,
                                          .swap = t->swap};
    const size_t before = t->frames.count;
    const enum symbol_result result = unwind_rows_make(&t->frames, &t->plans, &section, t->machine);
    for (size_t i = before; i < t->frames.count; i++)
        if (t->frames.from[i] - code->offset > code->size)
            t->frames.count = before;
    return result;
}

enum symbol_result unwind_table_of_dump(const struct jit_dump *dump, struct memory *memory,
                                        struct unwind_table **table) {
    const struct unwind_machine *machine = unwind_machine_of_elf(dump->machine);
    *table = NULL;
    if (!machine)
        return SYMBOL_NO_SYMBOLS;
    struct unwind_table *made = mem_zeroed(memory, 1, sizeof *made);
    if (!made)
        return table_memory_result(memory);
    *made = (struct unwind_table){.memory = memory, .machine = machine, .fd = -1, .swap = dump->swap, .is_dump = true};
    unwind_plans_init(&made->plans, memory);
    enum symbol_result result = SYMBOL_FOUND;
    for (size_t i = 0; result == SYMBOL_FOUND && i < dump->nr_codes; i++)
        if (dump->codes[i].frames_size)
            result = add_code(made, &dump->codes[i]);
    if (result == SYMBOL_FOUND)
        result = unwind_plans_seal(&made->plans);
    if (result == SYMBOL_FOUND && made->frames.count == 0)
        result = SYMBOL_NO_SYMBOLS;
    if (result == SYMBOL_FOUND)
        *table = made;
    else
        unwind_table_close(made);
    return result;
}

void unwind_table_close(struct unwind_table *t) {
    if (!t)
        return;
    unwind_rows_free(&t->frames, t->memory);
    unwind_rows_free(&t->debug, t->memory);
    unwind_plans_free(&t->plans);
    mem_free(t->memory, t->segments, t->segment_count, sizeof *t->segments);
    unwind_table_let_go(t);
    mem_free(t->memory, t, 1, sizeof *t);
}

const struct unwind_machine *unwind_table_machine(const struct unwind_table *t) {
    return t->machine;
}

bool unwind_table_address(const struct unwind_table *t, uint64_t offset, uint64_t *address) {
    if (t->is_dump)
        return *address = offset, true;
    return segments_to_address((struct symbol_segments){t->segments, t->segment_count}, offset, address);
}

const struct unwind_plan *unwind_table_find(const struct unwind_table *t, uint64_t address) {
    uint32_t plan = unwind_rows_find(&t->frames, address);
    if (plan == UNWIND_NO_PLAN)
        plan = unwind_rows_find(&t->debug, address);
    return plan == UNWIND_NO_PLAN ? NULL : t->plans.at[plan];
}

struct intern_text unwind_table_expression(const struct unwind_table *t, int64_t number) {
    return intern_get(&t->plans.expressions, (uint32_t)number);
}

bool unwind_table_is_cut(const struct unwind_table *t) {
    return t->is_cut;
}

bool unwind_table_swaps(const struct unwind_table *t) {
    return t->swap;
}

void unwind_table_let_go(struct unwind_table *t) {
    if (t->fd >= 0)
        close(t->fd);
    t->fd = -1;
}

bool unwind_table_read(const struct unwind_table *t, uint64_t offset, void *to, size_t length) {
    return t->fd >= 0 && read_exactly(t->fd, to, length, offset);
}
