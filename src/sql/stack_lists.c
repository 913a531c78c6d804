/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of the stacks with the same symbol or the same parent, for joins on these columns. Ids ascend in each list. */
#include "sql/stack_lists.h"
#include "sql/sql_tables.h"

static bool make_lists(struct sql_source *source, size_t stacks, size_t symbols) {
    struct memory *memory = &source->sql->memory;
    source->of_symbol = mem_zeroed(memory, symbols, sizeof(uint32_t));
    source->next_of_symbol = mem_zeroed(memory, stacks, sizeof(uint32_t));
    source->of_parent = mem_zeroed(memory, stacks, sizeof(uint32_t));
    source->next_of_parent = mem_zeroed(memory, stacks, sizeof(uint32_t));
    return source->of_symbol && source->next_of_symbol && source->of_parent && source->next_of_parent;
}

/* Puts each stack at the head of its lists, from the last stack to the first. */
static void fill_lists(struct sql_source *source, uint32_t stacks) {
    const pfr_stack *at = pfr_model_stacks(source->model);
    for (uint32_t i = stacks; i > 0; i--) {
        source->next_of_symbol[i] = source->of_symbol[at[i].symbol];
        source->of_symbol[at[i].symbol] = i;
        source->next_of_parent[i] = source->of_parent[at[i].parent];
        source->of_parent[at[i].parent] = i;
    }
}

pfr_status stack_lists_need(struct sql_source *source, pfr_error *err) {
    const uint32_t stacks = pfr_model_count(source->model, PFR_TABLE_STACK);
    const uint32_t symbols = pfr_model_count(source->model, PFR_TABLE_SYMBOL);
    if (source->of_symbol && source->next_of_parent)
        return PFR_OK;
    stack_lists_free(source);
    if (!make_lists(source, stacks + (size_t)1, symbols + (size_t)1))
        return mem_fail(&source->sql->memory, err, "stack");
    fill_lists(source, stacks);
    return PFR_OK;
}

void stack_lists_free(struct sql_source *source) {
    struct memory *memory = &source->sql->memory;
    if (!source->model)
        return;
    const size_t stacks = pfr_model_count(source->model, PFR_TABLE_STACK) + (size_t)1;
    mem_free(memory, source->of_symbol, pfr_model_count(source->model, PFR_TABLE_SYMBOL) + (size_t)1, sizeof(uint32_t));
    mem_free(memory, source->next_of_symbol, stacks, sizeof(uint32_t));
    mem_free(memory, source->of_parent, stacks, sizeof(uint32_t));
    mem_free(memory, source->next_of_parent, stacks, sizeof(uint32_t));
    source->of_symbol = source->next_of_symbol = source->of_parent = source->next_of_parent = NULL;
}
