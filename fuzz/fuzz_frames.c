/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An object file with call frame information. The addresses to look up are the aligned words of the file, because it
 * contains the addresses of its code. Laws: an unwind plan names existing registers and stored expressions, and
 * evaluating these terminates.
 */
#include "fuzz_symbols.h"
#include "base/memory/cursor.h"
#include "symbol/unwind/unwind_expression.h"
#include "symbol/unwind/unwind_table.h"

#define WORDS_MOST 1024u

static bool read_word(void *context, uint64_t address, unsigned size, uint64_t *value) {
    (void)context;
    *value = address * size;
    return address % 7 != 0;
}

static void check_expression(const struct unwind_table *table, int64_t number) {
    static const uint64_t registers[UNWIND_REGISTERS] = {1, 2, 3};
    const struct unwind_view view = {.registers = registers, .known = 0xff, .read = read_word, .address_size = 8};
    const struct intern_text text = unwind_table_expression(table, number);
    uint64_t value;
    unwind_evaluate(text.bytes, text.length, &view, registers, &value);
}

static void check_rule(const struct unwind_table *table, const struct unwind_rule *rule) {
    LAW(rule->of < UNWIND_REGISTERS && rule->from < UNWIND_REGISTERS, "register %u", rule->of);
    LAW(rule->how <= UNWIND_IS_EXPRESSION, "rule %u", rule->how);
    if (rule->how == UNWIND_IS_EXPRESSION || rule->how == UNWIND_AT_EXPRESSION)
        check_expression(table, rule->value);
}

static void check_plan(const struct unwind_table *table, uint64_t address) {
    const struct unwind_plan *plan = unwind_table_find(table, address);
    if (!plan)
        return;
    LAW(plan->cfa.how == UNWIND_REGISTER || plan->cfa.how == UNWIND_IS_EXPRESSION, "no CFA at %#jx",
        (uintmax_t)address);
    LAW(plan->count <= UNWIND_REGISTERS && plan->return_register < UNWIND_REGISTERS, "%u rules", plan->count);
    check_rule(table, &plan->cfa);
    for (unsigned i = 0; i < plan->count; i++)
        check_rule(table, &plan->rules[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length) {
    struct memory memory;
    struct unwind_table *table;
    struct fuzz_file file;
    fuzz_file_open(&file, bytes, length);
    memory_init(&memory, NULL, (uint64_t)64 << 20);
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = file.path};
    if (unwind_table_open(&object, NULL, &memory, &table) == SYMBOL_FOUND) {
        for (size_t at = 0; at + 8 <= length && at / 8 < WORDS_MOST; at += 8)
            check_plan(table, load_u64(bytes + at, false));
        for (uint64_t address = 0; address < 0x4000; address += 5)
            check_plan(table, address);
    }
    unwind_table_close(table);
    LAW(memory.used == 0, "%ju bytes are left", (uintmax_t)memory.used);
    fuzz_file_close(&file);
    return 0;
}
