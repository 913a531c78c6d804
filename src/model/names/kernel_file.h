/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_KERNEL_FILE_H
#define PFR_MODEL_KERNEL_FILE_H
/*
 * Reports that the file given for the kernel's symbols (address_names_options.vmlinux) was not usable. A file of
 * another build is ignored, and a note says so.
 *
 *    if (kernel_file_is_refused(&names, &facts, &result))
 *        ... facts.id is its build-id; OTHER_BUILD: not the recorded kernel's ...
 */
#include "model/names/address_names.h"
#include "symbol/elf/elf_facts.h"

/* Returns true if a kernel address was requested and the file could not be used. *result is the reason, facts->id the
   build id of the file. */
bool kernel_file_is_refused(const struct address_names *names, struct elf_facts *facts, enum symbol_result *result);

/* If the file could not be used, reports that with both build ids. Call it when all addresses are named. */
void kernel_file_note(const struct address_names *names, void (*note)(void *context, const char *sentence),
                      void *context);

#endif
