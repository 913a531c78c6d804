/* SPDX-License-Identifier: Apache-2.0 */
/* The vdso of this process is an object with symbols and a build-id, which must be the requested one. */
#include <string.h>
#include <sys/auxv.h>
#include "test.h"
#include "symbol/table/symbol_source.h"

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ /* the emulated big-endian machine of the tests has no vdso */
static bool has_symbol(struct symbol_handle *handle, uint64_t from, uint64_t to, const char *part) {
    struct symbol symbol;
    for (uint64_t address = from; address < to; address++)
        if (elf_symbol_source.find(handle, address, &symbol) == SYMBOL_FOUND && strstr(symbol.name, part))
            return true;
    return false;
}

TEST(own_vdso_names) {
    struct memory memory;
    struct symbol_handle *handle, *again;
    struct symbol_object asked = {.kind = SYMBOL_VDSO};
    size_t size;
    if (!getauxval(AT_SYSINFO_EHDR))
        skip();
    memory_init(&memory, NULL, 0);
    assert_int_equal(elf_symbol_source.open(&asked, &memory, &handle), SYMBOL_FOUND);
    const struct symbol_segments segments = elf_symbol_source.segments(handle);
    assert_true(segments.count > 0);
    assert_true(has_symbol(handle, segments.at[0].address, segments.at[0].address + segments.at[0].size, "gettime"));

    uint8_t other[BUILD_ID_MOST];
    const uint8_t *id = elf_symbol_source.build_id(handle, &size);
    assert_true(size > 0 && size <= sizeof other);
    memcpy(other, id, size);
    asked.build_id = other;
    asked.build_id_size = size;
    assert_int_equal(elf_symbol_source.open(&asked, &memory, &again), SYMBOL_FOUND);
    elf_symbol_source.close(again);
    other[0] ^= 1;
    assert_int_equal(elf_symbol_source.open(&asked, &memory, &again), SYMBOL_OTHER_BUILD);
    assert_null(again);
    elf_symbol_source.close(handle);
}
#endif
