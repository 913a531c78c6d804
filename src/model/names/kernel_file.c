/* SPDX-License-Identifier: Apache-2.0 */
/* A vmlinux file of another kernel than the recorded one: see kernel_file.h. */
#include "model/names/kernel_file.h"

#include <stdio.h>

static struct symbol_object wanted_of(const struct address_names *n) {
    const struct objects *all = &n->state->objects;
    struct symbol_object wanted = {.kind = SYMBOL_KERNEL, .path = n->options.naming.vmlinux};
    if (all->newest_kernel != NO_OBJECT) {
        wanted.build_id = all->at[all->newest_kernel].build_id;
        wanted.build_id_size = all->at[all->newest_kernel].build_id_size;
    }
    return wanted;
}

bool kernel_file_is_refused(const struct address_names *n, struct elf_facts *facts, enum symbol_result *result) {
    if (!n->options.naming.vmlinux || n->options.naming.kallsyms || !n->kernel.open || n->kernel.handle)
        return false;
    const struct symbol_object wanted = wanted_of(n);
    *result = elf_look(&wanted, n->memory, facts);
    if (*result == SYMBOL_FOUND)
        *result = facts->has_symtab ? SYMBOL_LIMIT : SYMBOL_NO_SYMBOLS;
    return true;
}

void kernel_file_note(const struct address_names *n, void (*note)(void *context, const char *sentence), void *context) {
    char text[2 * BUILD_ID_TEXT_ROOM + 160], own[BUILD_ID_TEXT_ROOM], recorded[BUILD_ID_TEXT_ROOM];
    struct elf_facts facts;
    enum symbol_result result;
    if (!note || !kernel_file_is_refused(n, &facts, &result))
        return;
    const struct symbol_object wanted = wanted_of(n);
    build_id_text(own, facts.id.bytes, facts.id.size);
    build_id_text(recorded, wanted.build_id, wanted.build_id_size);
    if (result == SYMBOL_OTHER_BUILD || result == SYMBOL_NO_BUILD_ID)
        snprintf(text, sizeof text,
                 "the file given with --vmlinux is of another build and is not used: its build-id is %s, the recorded "
                 "kernel's %s",
                 facts.id.size ? own : "none", recorded);
    else
        snprintf(text, sizeof text, "the file given with --vmlinux is not used: %s", symbol_result_text(result));
    note(context, text);
}
