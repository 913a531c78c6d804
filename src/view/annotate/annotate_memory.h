/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_MEMORY_H
#define PFR_VIEW_ANNOTATE_MEMORY_H
/* Code that is in no object file: the running kernel's memory, and jitdumps. */
#include "view/annotate/annotate_code.h"

/* Gets by how many bytes (*shift) the kernel at this address was loaded above the addresses in its file. False: the
   recording does not contain this fact. */
bool kernel_file_shift(const struct annotate *a, const struct code_file *file, uint64_t address, uint64_t *shift);
/* Opens the memory of the running kernel, if this is the recorded kernel and still at the same address; root only. */
enum symbol_result kernel_core_open(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                    struct code_file *file);
enum symbol_result core_file_open(const struct annotate *a, const char *path, struct code_file *file);
enum symbol_result jit_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* Gets the address at which the code of a symbol was loaded, and the size of the code. False: the jitdump has other
   code there. */
bool jit_file_place(const struct code_file *file, const pfr_model_symbol *symbol, uint64_t *address, uint64_t *left);
enum symbol_result jit_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                 uint8_t **bytes);

#endif
