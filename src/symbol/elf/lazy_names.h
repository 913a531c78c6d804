/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_LAZY_NAMES_H
#define PFR_SYMBOL_LAZY_NAMES_H
/*
 * The names of an object that has very many, of which few are ever asked for: each is read when it is asked for, with
 * those around it, and kept. The file stays open for that. When it is no longer as it was, its names are not read any
 * more.
 */
#include "symbol/elf/elf_object.h"

struct late_text;

/* *text NULL, and FOUND: they must be read at once. All of them count as memory in use, as if they had been
   read, so that not many files are held open. FOUND, LIMIT, NO_MEMORY, IO. */
enum symbol_result late_text_open(const struct elf_object *object, const struct elf_section *section,
                                  struct memory *memory, struct late_text **text);
/* NULL is fine. */
void late_text_close(struct late_text *text);

/* The name at this place of the section; NULL: none that ends. It lives as long as `text`, and is cut where it is
   longer than SYMBOL_NAME_MOST. FOUND; LIMIT, also where long names that were asked for are more than all bytes of
   names; NO_MEMORY, IO. */
enum symbol_result late_text_at(struct late_text *text, uint64_t at, const char **name);

#endif
