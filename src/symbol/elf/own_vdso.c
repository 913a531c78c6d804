/* SPDX-License-Identifier: Apache-2.0 */
/* Copies the vdso of this process. getauxval(3) has its address. Its size follows from the ELF header: the section
 * table is at its end. */
#include "symbol/elf/own_vdso.h"
#include "base/io/exact_io.h"

#include "symbol/elf/elf_object.h"

#include <link.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#define VDSO_MOST ((uint64_t)1 << 20)

static uint64_t image_size(const ElfW(Ehdr) * header) {
    const uint64_t end = (uint64_t)header->e_shoff + (uint64_t)header->e_shnum * header->e_shentsize;
    const bool is_elf = memcmp(header->e_ident, ELFMAG, SELFMAG) == 0;
    return is_elf && header->e_shoff && end <= VDSO_MOST ? end : 0;
}

enum symbol_result open_own_vdso(int *fd, uint64_t *size) {
    const uint8_t *image =
        (const uint8_t *)(uintptr_t)getauxval(AT_SYSINFO_EHDR); /* NOLINT: getauxval returns an address */
    *size = image ? image_size((const void *)image) : 0;
    if (*size == 0)
        return SYMBOL_NO_FILE;
    *fd = memfd_create("vdso", MFD_CLOEXEC);
    if (*fd < 0)
        return SYMBOL_IO;
    if (write_exactly(*fd, image, *size))
        return SYMBOL_FOUND;
    close(*fd);
    return SYMBOL_IO;
}
