/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the list of sleds of an object, section xray_instr_map. The section headers are only in the object's file, not
 * in memory. Each sled is checked: it must be inside code of the object, and look like a sled (rt_sled_patch.c).
 */
#include "runtime/rt_sleds.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>

#define SECTION "xray_instr_map"
#define SECTIONS_AT_ONCE 32u
#define ENTRY 32u
#define PAGE 4096u

RT_PLAIN static bool read_at(long fd, uint64_t at, void *to, size_t size) {
    return rt_syscall(SYS_pread64, fd, (long)to, (long)size, (long)at, 0, 0) == (long)size;
}

RT_PLAIN static bool is_map(long fd, const ElfW(Shdr) * section, uint64_t names) {
    char name[sizeof SECTION];
    return section->sh_flags & SHF_ALLOC && section->sh_size >= ENTRY &&
           read_at(fd, names + section->sh_name, name, sizeof name) && rt_same(name, SECTION, sizeof SECTION);
}

/* Finds the section in the file's section headers. */
RT_PLAIN static bool find_section(long fd, const ElfW(Ehdr) * header, ElfW(Shdr) * found) {
    ElfW(Shdr) names, sections[SECTIONS_AT_ONCE];
    const uint64_t size = sizeof *sections;
    if (!read_at(fd, header->e_shoff + header->e_shstrndx * size, &names, size))
        return false;
    for (unsigned i = 0; i < header->e_shnum; i += SECTIONS_AT_ONCE) {
        const unsigned left = header->e_shnum - i, count = left < SECTIONS_AT_ONCE ? left : SECTIONS_AT_ONCE;
        if (!read_at(fd, header->e_shoff + i * size, sections, count * size))
            return false;
        for (unsigned k = 0; k < count; k++)
            if (is_map(fd, &sections[k], names.sh_offset)) {
                rt_copy(found, &sections[k], size);
                return true;
            }
    }
    return false;
}

RT_PLAIN static bool look_into(const char *path, ElfW(Shdr) * found) {
    ElfW(Ehdr) header;
    const long fd = RT_CALL3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool is_there = read_at(fd, 0, &header, sizeof header) &&
                          rt_same((const char *)header.e_ident, ELFMAG, SELFMAG) &&
                          header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_shentsize == sizeof(ElfW(Shdr)) &&
                          header.e_shstrndx < header.e_shnum && find_section(fd, &header, found);
    RT_CALL3(SYS_close, fd, 0, 0);
    return is_there;
}

RT_PLAIN static void add_code(struct rt_sled_object *o, const ElfW(Phdr) * at, uint64_t base) {
    if (!(at->p_flags & PF_X) || o->nr_codes == RT_CODES)
        return;
    struct rt_code *code = &o->codes[o->nr_codes++];
    code->start = (base + at->p_vaddr) / PAGE * PAGE;
    code->end = (base + at->p_vaddr + at->p_memsz + PAGE - 1) / PAGE * PAGE;
    code->protection = PROT_EXEC | (at->p_flags & PF_R ? PROT_READ : 0) | (at->p_flags & PF_W ? PROT_WRITE : 0);
}

RT_PLAIN void rt_sled_map_place(struct rt_sled_object *o, const struct dl_phdr_info *info) {
    o->start = UINT64_MAX;
    o->end = 0;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *at = &info->dlpi_phdr[i];
        if (at->p_type != PT_LOAD)
            continue;
        const uint64_t start = info->dlpi_addr + at->p_vaddr, end = start + at->p_memsz;
        o->start = start < o->start ? start : o->start;
        o->end = end > o->end ? end : o->end;
        add_code(o, at, info->dlpi_addr);
    }
}

RT_PLAIN static bool is_loaded(const struct dl_phdr_info *info, uint64_t at, uint64_t size) {
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && at >= p->p_vaddr && size <= p->p_filesz && at - p->p_vaddr <= p->p_filesz - size)
            return true;
    }
    return false;
}

/* The path of an object. The program has an empty name; the vdso has a name but no file. */
RT_PLAIN static const char *path_of(const struct dl_phdr_info *info) {
    const char *name = info->dlpi_name;
    if (!name || !*name)
        return "/proc/self/exe";
    for (const char *c = name; *c; c++)
        if (*c == '/')
            return name;
    return NULL;
}

RT_RARE void rt_sled_map_find(struct rt_sled_object *o, const struct dl_phdr_info *info) {
    ElfW(Shdr) section;
    const char *path = path_of(info);
    if (!path || o->nr_codes == 0 || !look_into(path, &section) || !is_loaded(info, section.sh_addr, section.sh_size))
        return;
    o->map = (const uint8_t *)(uintptr_t)(info->dlpi_addr + section.sh_addr);
    o->count = section.sh_size / ENTRY;
}

/* Reads an entry. Since version 2, the addresses in it are relative to their own position. */
RT_PLAIN bool rt_sled_at(const struct rt_sled_object *o, uint64_t number, struct rt_sled *sled) {
    const uint8_t *at = o->map + number * ENTRY;
    const bool is_relative = at[18] >= 2;
    sled->at = *(const rt_u64 *)at + (is_relative ? (uint64_t)(uintptr_t)at : 0);
    sled->function = *(const rt_u64 *)(at + 8) + (is_relative ? (uint64_t)(uintptr_t)at + 8 : 0);
    sled->kind = at[16];
    sled->version = at[18];
    const uint64_t size = sled->kind < RT_SLED_CUSTOM ? 11 : 22;
    for (unsigned i = 0; i < o->nr_codes; i++)
        if (sled->at >= o->codes[i].start && sled->at < o->codes[i].end && size <= o->codes[i].end - sled->at)
            return sled->kind < RT_SLEDS && sled->version <= 2 && sled->at % 2 == 0;
    return false;
}
