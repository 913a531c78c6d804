/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_OWN_VDSO_H
#define PFR_SYMBOL_OWN_VDSO_H
/* The vdso: code that the kernel maps into every process and that is in no file. This is the copy of our own
 * process. */
#include "symbol/table/symbol_source.h"

/* FOUND: *fd is a memory file (the caller's, close-on-exec), *size its size. NO_FILE: no vdso; IO. */
enum symbol_result open_own_vdso(int *fd, uint64_t *size);

#endif
