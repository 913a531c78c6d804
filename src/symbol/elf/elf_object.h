/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_ELF_OBJECT_H
#define PFR_SYMBOL_ELF_OBJECT_H
/*
 * An open ELF file. The header, the section and segment tables and the section names are read once and checked;
 * everything else is read on request. Files are read, never mapped: a file that becomes shorter is an error.
 *
 *  struct elf_object object;
 *  if (elf_object_start(&object, fd, size, memory) == SYMBOL_FOUND)
 *      for (size_t i = 1; i < object.section_count; i++)
 *          if (strcmp(elf_section_name(&object, &object.sections[i]), ".text") == 0)
 *              ...
 *  elf_object_end(&object);
 *
 * A table that is not completely in the file, or has entries of another size than its class, is treated as missing.
 * Memory is allocated only for bytes that the file has.
 */
#include "symbol/elf/elf_layout.h"
#include "symbol/table/symbol_handle.h"

struct elf_object {
    struct memory *memory;
    struct elf_header header;
    struct elf_section *sections; /* [0] is not a section */
    struct elf_segment *segments;
    char *names; /* names of the sections */
    size_t section_count, segment_count;
    size_t names_size, names_room; /* bytes up to the last NUL; bytes allocated */
    uint64_t file_size;
    struct elf_form form;
    int fd; /* belongs to the caller */
};

/* fd belongs to the caller and must stay open until elf_object_end. elf_object_end must be called after every outcome.
   FOUND, NOT_ELF; IO; LIMIT, NO_MEMORY. */
enum symbol_result elf_object_start(struct elf_object *object, int fd, uint64_t file_size, struct memory *memory);
void elf_object_end(struct elf_object *object);

/* Returns "" if the section has no name. */
const char *elf_section_name(const struct elf_object *object, const struct elf_section *section);

/* Whether the section's bytes are in the file: it is not NOBITS and does not extend past the end. */
bool elf_section_is_inside(const struct elf_object *object, const struct elf_section *section);

/* The first section after section 0 that has this name, or this type, whatever its contents; else NULL. */
const struct elf_section *elf_section_named(const struct elf_object *object, const char *name);
const struct elf_section *elf_section_of_type(const struct elf_object *object, uint32_t type);

/* Number of complete entries of `bytes` bytes in a section; 0 also if the section is outside the file, compressed, or
 * declares another entry size. */
uint64_t elf_entries(const struct elf_object *object, const struct elf_section *section, size_t bytes);

/* Reads bytes that must be inside the file into *bytes, which the caller frees (`size` bytes of `memory`). FOUND, IO,
 * LIMIT, NO_MEMORY. */
enum symbol_result elf_read(const struct elf_object *object, uint64_t offset, uint64_t size, struct memory *memory,
                            uint8_t **bytes);

struct build_id {
    uint8_t bytes[BUILD_ID_MOST];
    size_t size; /* 0: there is no build-id */
};

/* Reads the build-id from the notes of sections, else from those of segments (elf_notes.c). */
void elf_read_build_id(struct elf_object *object, struct build_id *id);

/* Compares the build-id with the requested build-id, if a build-id was requested. FOUND, OTHER_BUILD, NO_BUILD_ID. */
enum symbol_result build_id_check(const struct build_id *id, const struct symbol_object *asked);

/* Like build_id_check; but if the file or the request has no build-id, the CRC of the file must be the requested CRC
 * (debug_link.c). Also returns results of debug_link_check. */
enum symbol_result elf_build_check(const struct symbol_object *asked, const struct build_id *id, int fd, uint64_t size);

/* Copies the PT_LOAD segments to the handle. FOUND, even if there are no segments; LIMIT or NO_MEMORY. */
enum symbol_result elf_read_segments(struct elf_object *object, struct symbol_handle *handle);

#endif
