/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the names of an object's functions, for selection by name. Uses the symbol table in the object's file, which is
 * mapped, and an open-addressing index by address. The file is mapped and the index is made once, when the first
 * function of the object is called.
 */
#include "runtime/rt_symbols.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct rt_symbols {
    const uint8_t *file;
    uint64_t file_size;
    const ElfW(Sym) * symbols;
    uint64_t nr_symbols;
    const char *names;
    uint64_t names_size;
    uint64_t room;    /* bytes of the mapping of this struct */
    uint64_t mask;    /* size of the index - 1 */
    uint32_t place[]; /* number of a symbol + 1; 0: free */
};

static const struct rt_symbols none;

RT_PLAIN static bool is_within(const struct rt_symbols *s, uint64_t offset, uint64_t size) {
    return offset <= s->file_size && size <= s->file_size - offset;
}

RT_PLAIN static void take_symbols(struct rt_symbols *s, const ElfW(Shdr) * sections, unsigned count, unsigned type) {
    for (unsigned i = 0; i < count && !s->symbols; i++) {
        const ElfW(Shdr) *at = &sections[i], *names = at->sh_link < count ? &sections[at->sh_link] : NULL;
        if (at->sh_type != type || !names || !is_within(s, at->sh_offset, at->sh_size) ||
            !is_within(s, names->sh_offset, names->sh_size) || names->sh_size == 0 ||
            s->file[names->sh_offset + names->sh_size - 1] != 0 || at->sh_size / sizeof *s->symbols >= UINT32_MAX / 4)
            continue;
        s->symbols = (const void *)(s->file + at->sh_offset);
        s->nr_symbols = at->sh_size / sizeof *s->symbols;
        s->names = (const char *)s->file + names->sh_offset;
        s->names_size = names->sh_size;
    }
}

RT_RARE static bool map_file(struct rt_symbols *s, const char *path) {
    struct stat facts;
    rt_zero(&facts, sizeof facts);
    const long fd = RT_CALL3(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return false;
    const bool sized =
        RT_CALL3(SYS_fstat, fd, &facts, 0) == 0 && S_ISREG(facts.st_mode) && facts.st_size > (long)sizeof(ElfW(Ehdr));
    const long at = sized ? rt_syscall(SYS_mmap, 0, facts.st_size, PROT_READ, MAP_PRIVATE, fd, 0) : -1;
    RT_CALL3(SYS_close, fd, 0, 0);
    if (at < 0 && at > -4096)
        return false;
    s->file = (const uint8_t *)at;
    s->file_size = (uint64_t)facts.st_size;
    return true;
}

RT_RARE static bool find_table(struct rt_symbols *s) {
    const ElfW(Ehdr) *header = (const void *)s->file;
    if (!rt_same((const char *)header->e_ident, ELFMAG, SELFMAG) || header->e_shentsize != sizeof(ElfW(Shdr)) ||
        !is_within(s, header->e_shoff, (uint64_t)header->e_shnum * sizeof(ElfW(Shdr))))
        return false;
    take_symbols(s, (const void *)(s->file + header->e_shoff), header->e_shnum, SHT_SYMTAB);
    take_symbols(s, (const void *)(s->file + header->e_shoff), header->e_shnum, SHT_DYNSYM);
    return s->symbols != NULL;
}

/* Returns the position of the address in the index; if the address is not there, its free position. At most half of the
 * index is used, so the loop ends. */
RT_PLAIN static uint64_t place_of(const struct rt_symbols *s, uint64_t address) {
    uint64_t at = (address >> 4 ^ address >> 21) & s->mask;
    while (s->place[at] && s->symbols[s->place[at] - 1].st_value != address)
        at = (at + 1) & s->mask;
    return at;
}

/* Makes the index; if several symbols have one address, the first one is used. */
RT_RARE static struct rt_symbols *make_index(const struct rt_symbols *found) {
    uint64_t places = 64;
    while (places < 2 * found->nr_symbols)
        places *= 2;
    const uint64_t room = sizeof *found + places * sizeof(uint32_t);
    const long at = rt_syscall(SYS_mmap, 0, (long)room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at < 0 && at > -4096)
        return NULL;
    struct rt_symbols *s = (struct rt_symbols *)at;
    rt_copy(s, found, sizeof *found);
    s->room = room;
    s->mask = places - 1;
    for (uint32_t i = 0; i < s->nr_symbols; i++) {
        const ElfW(Sym) *symbol = &s->symbols[i];
        if (ELF64_ST_TYPE(symbol->st_info) != STT_FUNC || symbol->st_name >= s->names_size)
            continue;
        const uint64_t place = place_of(s, symbol->st_value);
        if (!s->place[place])
            s->place[place] = i + 1;
    }
    return s;
}

RT_RARE const struct rt_symbols *rt_symbols_open(const char *path) {
    struct rt_symbols found;
    rt_zero(&found, sizeof found);
    if (!map_file(&found, path))
        return &none;
    const struct rt_symbols *made = find_table(&found) ? make_index(&found) : NULL;
    if (!made)
        RT_CALL3(SYS_munmap, found.file, found.file_size, 0);
    return made ? made : &none;
}

RT_RARE void rt_symbols_close(const struct rt_symbols *s) {
    if (!s || !s->room)
        return;
    RT_CALL3(SYS_munmap, s->file, s->file_size, 0);
    RT_CALL3(SYS_munmap, s, s->room, 0);
}

RT_PLAIN const char *rt_symbols_name(const struct rt_symbols *s, uint64_t address) {
    const uint32_t number = s->room ? s->place[place_of(s, address)] : 0;
    return number ? s->names + s->symbols[number - 1].st_name : NULL;
}
