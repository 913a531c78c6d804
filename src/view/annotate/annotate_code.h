/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_CODE_H
#define PFR_VIEW_ANNOTATE_CODE_H
/* The code of functions, in the objects that the recording names. */
#include "view/annotate/annotate_parts.h"

struct code_file {
    int fd; /* -1: not open */
    struct elf_object elf;
    struct named_object named; /* for source lines */
    struct name_limits limits;
    struct jit_dump *jit; /* if set, `elf` and `named` are not used */
    uint64_t size;        /* bytes of the jitdump */
    bool is_core;         /* the running kernel's memory */
};

/* Opens the object of a symbol. FOUND: `file` is open and is the recorded build. Other results state the reason, and
   nothing is open. */
enum symbol_result code_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* Like code_file_open, for code at a kernel address: opens the kernel's file, or else the kernel's memory. */
enum symbol_result code_file_open_at(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                     struct code_file *file);
/* Reads bytes of the file into a buffer from a->memory. */
enum symbol_result code_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                  uint8_t **bytes);
/* Gets the virtual address that the program headers give to a byte of the file, and the number of bytes from there to
   the end of its segment. */
bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address, uint64_t *left);
void code_file_close(struct code_file *file);

#endif
