/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_OWN_VDSO_H
#define PFR_SYMBOL_OWN_VDSO_H
/* The code that this kernel maps into every process and that is in no file: the copy of our own process. */
#include "symbol/table/symbol_source.h"

/* FOUND fills *fd (the caller's, in memory, close-on-exec) and *size. NO_FILE: there is none; IO. */
enum symbol_result open_own_vdso(int *fd, uint64_t *size);

#endif
