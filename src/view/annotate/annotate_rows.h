/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_ROWS_H
#define PFR_VIEW_ANNOTATE_ROWS_H
/* The instructions of a function as rows. */
#include "view/annotate/annotate_code.h"

struct annotate_row {
    uint64_t address; /* virtual address as in the object's headers; for code of the kernel and of a JIT compiler, the
                         recorded address */
    uint64_t target;
    const char *text; /* "": the code was not found */
    const char *file; /* source file of the innermost function; NULL: not known */
    uint32_t line;
    uint8_t kind;               /* enum insn_kind */
    bool is_inlined;            /* the line belongs to a function that was inlined here */
    struct annotate_sum sums[]; /* nr_events entries: see function_row */
};

struct function_rows {
    const pfr_model_symbol *symbol;
    const pfr_model_object *object;
    struct annotate_sum totals[EVENTS_MOST];
    struct code code;
    struct code_file file;
    uint64_t load_shift; /* address of a row minus that in the file's headers, or minus the offset in the jitdump */
    uint8_t *rows;       /* of row_size bytes each */
    size_t count, room, row_size;
    enum symbol_result why; /* FOUND: the code was read; otherwise the reason why not */
};

static inline struct annotate_row *function_row(const struct function_rows *rows, size_t index) {
    return (struct annotate_row *)(void *)(rows->rows + index * rows->row_size);
}

/* Errors: MEMORY, LIMIT. function_rows_free must be called after every outcome. */
pfr_status function_rows_make(struct annotate *a, struct disasm *disasm, uint32_t symbol, struct function_rows *rows,
                              pfr_error *err);
void function_rows_free(struct annotate *a, struct function_rows *rows);
/* Returns the reason why there are no instructions. */
const char *function_rows_why(const struct annotate *a, const struct function_rows *rows);
/* Passes a note to options->note: the reason of function_rows_why, or the number of instructions that could not be
   decoded. */
void function_rows_note(struct annotate *a, const struct function_rows *rows);

#endif
