/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the hottest functions by self and inclusive weight: model_top RECORDING. */
#include <perfray/perfray.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sum {
    uint32_t symbol;
    uint64_t self, total;
};

static int by_total(const void *a, const void *b) {
    const struct sum *x = (const struct sum *)a, *y = (const struct sum *)b;
    return x->total == y->total ? (x->symbol > y->symbol) - (x->symbol < y->symbol) : x->total < y->total ? 1 : -1;
}

static void print(const pfr_model *m, const struct sum *sum) {
    const pfr_model_symbol *symbol = pfr_model_get_symbol(m, sum->symbol);
    const char *name = symbol->name ? symbol->name : pfr_model_get_object(m, symbol->object)->name;
    char text[200];
    pfr_escape(text, sizeof text, name, strlen(name));
    printf("%14" PRIu64 " %14" PRIu64 "  %s\n", sum->total, sum->self, text);
}

static pfr_status top(const pfr_model *m, uint32_t event, pfr_error *err) {
    const uint32_t symbols = pfr_model_count(m, PFR_TABLE_SYMBOL);
    uint64_t *self = (uint64_t *)calloc(2 * ((size_t)symbols + 1), sizeof *self), *total = self + symbols + 1;
    struct sum *sums = (struct sum *)calloc((size_t)symbols + 1, sizeof *sums);
    const pfr_status st = pfr_model_symbol_weights(m, event, self, total, err);
    for (uint32_t id = 1; id <= symbols; id++) {
        const struct sum sum = {id, self[id], total[id]};
        sums[id] = sum;
    }
    qsort(sums + 1, symbols, sizeof *sums, by_total);
    printf("# %s: total, self\n", pfr_model_get_event(m, event)->name);
    for (uint32_t i = 1; i <= symbols && i <= 10 && sums[i].total; i++)
        print(m, &sums[i]);
    free(self);
    free(sums);
    return st;
}

int main(int argc, char **argv) {
    pfr_error err = {PFR_OK, 0, 0, "", "model_top RECORDING"};
    pfr_reader *reader = argc == 2 ? pfr_open(argv[1], NULL, &err) : NULL;
    pfr_model *model = reader ? pfr_model_open(reader, NULL, &err) : NULL;
    pfr_status st = model ? PFR_OK : PFR_ERR_USAGE;
    for (uint32_t event = 1; st >= 0 && event <= pfr_model_count(model, PFR_TABLE_EVENT); event++)
        st = top(model, event, &err);
    if (st < 0)
        fprintf(stderr, "%s\n", err.text);
    pfr_model_close(model);
    pfr_close(reader);
    return st < 0;
}
