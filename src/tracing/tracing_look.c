/* SPDX-License-Identifier: Apache-2.0 */
/* What of a program can be recorded: the hooks that compilers left in it (perfray/tracing.h). */
#include <perfray/tracing.h>

#include "base/fail.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOOK "__cyg_profile_func_enter"
#define RUNTIME_FUNCTION "pfr_rt_start"
#define RUNTIME_LIBRARY "libperfray-rt.so"

static void look_at_symbol(const char *name, bool defined, pfr_tracing_hooks *hooks) {
    hooks->has_symbols = true;
    hooks->calls |= strcmp(name, HOOK) == 0;
    hooks->has_runtime |= defined && strcmp(name, RUNTIME_FUNCTION) == 0;
}

static void look_at_symbols(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, pfr_tracing_hooks *hooks) {
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Sym symbol;
        const char *name = gelf_getsym(data, (int)i, &symbol) ? elf_strptr(elf, header->sh_link, symbol.st_name) : NULL;
        if (name)
            look_at_symbol(name, symbol.st_shndx != SHN_UNDEF, hooks);
    }
}

static void look_at_needed(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, pfr_tracing_hooks *hooks) {
    Elf_Data *data = elf_getdata(section, NULL);
    const size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    hooks->is_dynamic = true;
    for (size_t i = 0; i < count && i < INT32_MAX; i++) {
        GElf_Dyn entry;
        if (!gelf_getdyn(data, (int)i, &entry) || entry.d_tag != DT_NEEDED)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        hooks->has_runtime |= name && strncmp(name, RUNTIME_LIBRARY, strlen(RUNTIME_LIBRARY)) == 0;
    }
}

static void look_at_elf(Elf *elf, pfr_tracing_hooks *hooks) {
    size_t names;
    hooks->is_elf = elf_kind(elf) == ELF_K_ELF && elf_getshdrstrndx(elf, &names) == 0;
    for (Elf_Scn *section = NULL; hooks->is_elf && (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        const char *name = elf_strptr(elf, names, header.sh_name);
        hooks->sleds |= name && strcmp(name, "xray_instr_map") == 0;
        if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM)
            look_at_symbols(elf, section, &header, hooks);
        else if (header.sh_type == SHT_DYNAMIC)
            look_at_needed(elf, section, &header, hooks);
    }
}

pfr_status pfr_tracing_look(const char *path, pfr_tracing_hooks *hooks, pfr_error *err) {
    *hooks = (pfr_tracing_hooks){0};
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pfr_fail(err, PFR_ERR_IO, PFR_NO_OFFSET, 0, "program", "cannot be read: %s", strerror(errno));
    struct stat facts;
    if (fstat(fd, &facts) == 0)
        hooks->other_rights = ((facts.st_mode & S_ISUID) && facts.st_uid != getuid()) ||
                              ((facts.st_mode & S_ISGID) && facts.st_gid != getgid());
    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf)
        look_at_elf(elf, hooks);
    elf_end(elf);
    close(fd);
    return PFR_OK;
}
