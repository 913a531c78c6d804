/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_OWN_VDSO_H
#define PFR_SYMBOL_OWN_VDSO_H
/* The vdso: code that the kernel maps into every process, and that no file contains. This file opens the copy in
 * perfray's own process. */
#include "symbol/table/symbol_source.h"

/* FOUND: *fd is a memory file of *size bytes, which belongs to the caller and is close-on-exec. NO_FILE: there is no
   vdso; IO. */
enum symbol_result open_own_vdso(int *fd, uint64_t *size);

#endif
