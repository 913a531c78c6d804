/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frames_of OBJECT: reads hexadecimal addresses, one per line, and prints for each the unwind rule that
 * src/symbol/unwind/unwind_table.h finds: "7+16 3=c-16 16=c-8" is a CFA 16 above register 7, with two registers saved
 * below it. `e` is an expression, `v-8` a value instead of a location, `u` undefined; a single "-": the address has no
 * rule.
 */
#include "symbol/unwind/unwind_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static void print_rule(const struct unwind_rule *rule) {
    printf(" %u=", rule->of);
    switch ((enum unwind_how)rule->how) {
    case UNWIND_AT_OFFSET:
        printf("c%+" PRId64, rule->value);
        break;
    case UNWIND_IS_OFFSET:
        printf("v%+" PRId64, rule->value);
        break;
    case UNWIND_REGISTER:
        printf("r%u", rule->from);
        break;
    case UNWIND_AT_EXPRESSION:
        printf("e");
        break;
    case UNWIND_IS_EXPRESSION:
        printf("ve");
        break;
    default:
        printf("u");
    }
}

static void print_plan(const struct unwind_plan *plan) {
    if (!plan) {
        puts("-");
        return;
    }
    if (plan->cfa.how == UNWIND_REGISTER)
        printf("%u%+" PRId64, plan->cfa.from, plan->cfa.value);
    else
        printf("e");
    for (unsigned i = 0; i < plan->count; i++)
        print_rule(&plan->rules[i]);
    putchar('\n');
}

int main(int count, char **words) {
    struct memory memory;
    struct unwind_table *table;
    char line[64];
    memory_init(&memory, NULL, (uint64_t)2 << 30);
    const struct symbol_object object = {.kind = SYMBOL_USER, .path = count > 1 ? words[1] : ""};
    const enum symbol_result result = unwind_table_open(&object, NULL, &memory, &table);
    if (result != SYMBOL_FOUND) {
        fprintf(stderr, "frames_of: %s\n", symbol_result_text(result));
        return 1;
    }
    while (fgets(line, sizeof line, stdin))
        print_plan(unwind_table_find(table, strtoull(line, NULL, 16)));
    fprintf(stderr, "%" PRIu64 " bytes\n", memory.peak);
    unwind_table_close(table);
    return memory.used != 0;
}
