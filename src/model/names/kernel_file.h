/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_MODEL_KERNEL_FILE_H
#define PFR_MODEL_KERNEL_FILE_H
/*
 * The file that is to name the kernel's functions (address_names_options.vmlinux), where it does not: another build is
 * passed over, and who named it is told so.
 *
 *     if (kernel_file_is_refused(&names, &facts, &result))
 *         ... facts.id is its build-id; OTHER_BUILD: not the recorded kernel's ...
 */
#include "model/names/address_names.h"
#include "symbol/elf/elf_facts.h"

/* True: an address of the kernel was asked for, and the file could not name it. *result: why; facts->id: which it is.
 */
bool kernel_file_is_refused(const struct address_names *names, struct elf_facts *facts, enum symbol_result *result);

/* Tells that, with both build-ids; to be called when all was named. */
void kernel_file_note(const struct address_names *names, void (*note)(void *context, const char *sentence),
                      void *context);

#endif
