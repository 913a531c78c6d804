/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LAZY_NAMES_H
#define PFR_SYMBOL_LAZY_NAMES_H
/*
 * Reads names on demand, for objects with very many symbols of which few are needed. A name is read together with its
 * block, and the block is kept. The file stays open meanwhile; if it changes, no more names are read.
 */
#include "symbol/elf/elf_object.h"

struct late_text;

/* If the result is FOUND and *text is NULL, names cannot be read on demand: read all of them at once. All names count
   against the memory limit as if they had been read, so that not too many files stay open. FOUND, LIMIT, NO_MEMORY, IO.
 */
enum symbol_result late_text_open(const struct elf_object *object, const struct elf_section *section,
                                  struct memory *memory, struct late_text **text);
/* `text` may be NULL. */
void late_text_close(struct late_text *text);

/* Finds the name at an offset of the section; *name is NULL if it has no end. The name is valid as long as `text`, and
 * truncated to SYMBOL_NAME_MOST. FOUND; LIMIT, also if the budget for long names is used up; NO_MEMORY, IO. */
enum symbol_result late_text_at(struct late_text *text, uint64_t at, const char **name);

#endif
