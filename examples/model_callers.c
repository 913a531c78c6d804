/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the callers of the function with the largest self weight, and their shares: model_callers RECORDING. */
#include <perfray/perfray.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(const pfr_model *m, uint32_t id) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(m, id);
    if (!symbol)
        return "[outermost]";
    return symbol->name ? symbol->name : pfr_model_get_object(m, symbol->object)->name;
}

static uint32_t hottest(const pfr_model *m, const uint64_t *self, uint64_t *sums) {
    uint32_t most = 0;
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_STACK); id++)
        sums[pfr_model_get_stack(m, id)->symbol] += self[id];
    for (uint32_t id = 1; id <= pfr_model_count(m, PFR_TABLE_SYMBOL); id++)
        most = sums[id] > sums[most] ? id : most;
    return most;
}

static pfr_status callers(const pfr_model *m, pfr_error *err) {
    const uint32_t stacks = pfr_model_count(m, PFR_TABLE_STACK), symbols = pfr_model_count(m, PFR_TABLE_SYMBOL);
    uint64_t *self = (uint64_t *)calloc((size_t)stacks + 1, sizeof *self);
    uint64_t *sums = (uint64_t *)calloc((size_t)symbols + 1, sizeof *sums);
    const pfr_status st = pfr_model_weights(m, 1, self, NULL, err);
    const uint32_t hot = hottest(m, self, sums);
    char text[200];
    pfr_escape(text, sizeof text, name_of(m, hot), strlen(name_of(m, hot)));
    printf("# callers of %s\n", text);
    memset(sums, 0, ((size_t)symbols + 1) * sizeof *sums);
    for (uint32_t id = 1; id <= stacks; id++) {
        const pfr_stack *stack = pfr_model_get_stack(m, id), *caller = pfr_model_get_stack(m, stack->parent);
        if (stack->symbol == hot)
            sums[caller ? caller->symbol : 0] += self[id];
    }
    for (uint32_t id = 0; id <= symbols; id++)
        if (sums[id]) {
            pfr_escape(text, sizeof text, name_of(m, id), strlen(name_of(m, id)));
            printf("%14" PRIu64 "  %s\n", sums[id], text);
        }
    free(self);
    free(sums);
    return st;
}

int main(int argc, char **argv) {
    pfr_error err = {PFR_OK, 0, 0, "", "model_callers RECORDING"};
    pfr_reader *reader = argc == 2 ? pfr_open(argv[1], NULL, &err) : NULL;
    pfr_model *model = reader ? pfr_model_open(reader, NULL, &err) : NULL;
    const pfr_status st = model ? callers(model, &err) : PFR_ERR_USAGE;
    if (st < 0)
        fprintf(stderr, "%s\n", err.text);
    pfr_model_close(model);
    pfr_close(reader);
    return st < 0;
}
