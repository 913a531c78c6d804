/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_OBJECT_H
#define PFR_SYMBOL_ELF_OBJECT_H
/*
 * One ELF file, open: its header, all headers of sections and segments, and the names of sections, read once and
 * checked; of the rest what is asked for. Files are read, never mapped: one that becomes shorter is an error.
 *
 *     struct elf_object object;
 *     if (elf_object_start(&object, fd, size, memory) == SYMBOL_FOUND)
 *         for (size_t i = 1; i < object.section_count; i++)
 *             if (strcmp(elf_section_name(&object, &object.sections[i]), ".text") == 0)
 *                 ...
 *     elf_object_end(&object);
 *
 * A table that does not lie wholly in the file, or whose entries are of another size than the class has, is as if it
 * were not there. No memory is taken but for bytes that the file has.
 */
#include "symbol/elf/elf_layout.h"
#include "symbol/table/symbol_handle.h"

struct elf_object {
    struct memory *memory;
    struct elf_header header;
    struct elf_section *sections; /* [0] says nothing of a section */
    struct elf_segment *segments;
    char *names; /* of sections */
    size_t section_count, segment_count;
    size_t names_size, names_room; /* up to the last NUL; all */
    uint64_t file_size;
    struct elf_form form;
    int fd; /* the caller's */
};

/* Takes over nothing: fd is the caller's and must stay open until elf_object_end, which is called after every outcome.
   FOUND, NOT_ELF; IO; LIMIT, NO_MEMORY. */
enum symbol_result elf_object_start(struct elf_object *object, int fd, uint64_t file_size, struct memory *memory);
void elf_object_end(struct elf_object *object);

/* "" for one without. */
const char *elf_section_name(const struct elf_object *object, const struct elf_section *section);

/* Whether its bytes are bytes of the file, as they are: not NOBITS, and not past the end. */
bool elf_section_is_inside(const struct elf_object *object, const struct elf_section *section);

/* The first with this name, or of this type, after section 0, whatever lies in it; NULL: there is none. */
const struct elf_section *elf_section_named(const struct elf_object *object, const char *name);
const struct elf_section *elf_section_of_type(const struct elf_object *object, uint32_t type);

/* A table: how many whole entries of `bytes` a section has; 0 also where it is not inside, is compressed, or says that
   its entries are of another size. */
uint64_t elf_entries(const struct elf_object *object, const struct elf_section *section, size_t bytes);

/* Some of a section's bytes into memory of `memory` (`size` bytes, to be freed by the caller); they must be inside.
   FOUND, IO, LIMIT, NO_MEMORY. */
enum symbol_result elf_read(const struct elf_object *object, uint64_t offset, uint64_t size, struct memory *memory,
                            uint8_t **bytes);

struct build_id {
    uint8_t bytes[BUILD_ID_MOST];
    size_t size; /* 0: there is none */
};

/* From the notes of sections, else of segments (elf_notes.c). */
void elf_read_build_id(struct elf_object *object, struct build_id *id);

/* Whether this is the build that was asked for; with no build-id asked for, any is. FOUND, OTHER_BUILD, NO_BUILD_ID. */
enum symbol_result build_id_check(const struct build_id *id, const struct symbol_object *asked);

/* The same, and where either says no build-id the file must have the sum that was asked for (debug_link.c). Also what
   debug_link_check gives. */
enum symbol_result elf_build_check(const struct symbol_object *asked, const struct build_id *id, int fd, uint64_t size);

/* What is loaded, to the handle. FOUND, also when there is nothing; else LIMIT or NO_MEMORY. */
enum symbol_result elf_read_segments(struct elf_object *object, struct symbol_handle *handle);

#endif
