/* SPDX-License-Identifier: Apache-2.0 */
/* The rows of a function: its instructions, or the addresses that have samples if the code was not found. See
   annotate_parts.h. */
#include "view/annotate/annotate_rows.h"

#include "view/annotate/annotate_memory.h"
#include "view/annotate/annotate_source.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST DISASM_BYTES_MOST

static bool to_offset(const struct elf_object *elf, uint64_t address, uint64_t *offset, uint64_t *left) {
    for (size_t i = 0; i < elf->segment_count; i++) {
        const struct elf_segment *s = &elf->segments[i];
        if (s->type == PT_LOAD && address >= s->address && address - s->address < s->size) {
            *offset = s->offset + (address - s->address);
            *left = s->size - (address - s->address);
            return true;
        }
    }
    return false;
}

/* The range of the function's bytes, and the address at which they are shown. */
struct span {
    uint64_t offset, address, size;
};

/* The addresses of kernel symbols are those of the running kernel, not those in its file. */
static bool find_kernel_span(const struct annotate *a, struct function_rows *rows, struct span *span, uint64_t *left) {
    span->address = rows->symbol->address;
    if (!rows->file.is_core && !kernel_file_shift(a, &rows->file, span->address, &rows->load_shift))
        return false;
    return to_offset(&rows->file.elf, span->address - rows->load_shift, &span->offset, left);
}

static bool find_span(const struct annotate *a, struct function_rows *rows, struct span *span) {
    uint64_t left = 0;
    span->size = rows->symbol->size;
    if (rows->object->kind == PFR_OBJECT_KERNEL) {
        if (!find_kernel_span(a, rows, span, &left))
            return false;
    } else if (rows->file.jit) {
        span->offset = rows->symbol->address;
        if (!jit_file_place(&rows->file, rows->symbol, &span->address, &left))
            return false;
        rows->load_shift = span->address - span->offset;
    } else {
        span->offset = rows->symbol->address;
        if (!code_file_address(&rows->file, span->offset, &span->address, &left))
            return false;
    }
    span->size = span->size < left ? span->size : left;
    return span->size > 0;
}

static enum symbol_result read_code(struct annotate *a, struct disasm *disasm, struct function_rows *rows,
                                    struct span *span) {
    uint8_t *bytes = NULL;
    const struct elf_object *elf = &rows->file.elf;
    if (!find_span(a, rows, span))
        return rows->object->kind == PFR_OBJECT_FILE ? SYMBOL_NO_MATCH : SYMBOL_OTHER_BUILD;
    if (span->size > SIZE_MOST)
        return SYMBOL_LIMIT;
    const struct jit_dump *jit = rows->file.jit;
    const enum disasm_machine machine =
        jit ? disasm_machine_of(jit->machine, true) : disasm_machine_of(elf->header.machine, elf->form.wide);
    if (machine != disasm->machine) {
        disasm_end(disasm);
        disasm_begin(disasm, machine, a->options->intel);
    }
    enum symbol_result result = code_file_read(a, &rows->file, span->offset, span->size, &bytes);
    if (result != SYMBOL_FOUND)
        return result;
    result = disasm_run(disasm, span->address, bytes, span->size, a->memory, &rows->code);
    mem_free(a->memory, bytes, span->size, 1);
    return result;
}

/* --- Rows. */

static struct annotate_row *add_row(struct annotate *a, struct function_rows *rows, uint64_t address) {
    if (rows->count == rows->room) {
        void *more = mem_grow_zeroed(a->memory, rows->rows, rows->count, &rows->room, 64, rows->row_size);
        if (!more)
            return NULL;
        rows->rows = more;
    }
    struct annotate_row *row = function_row(rows, rows->count++);
    row->address = address;
    row->text = "";
    return row;
}

static void set_jit_line(const struct function_rows *rows, struct annotate_row *row) {
    const struct jit_line *line = jit_dump_line(rows->file.jit, row->address - rows->load_shift);
    row->file = line ? intern_chars(&rows->file.jit->names, line->file) : NULL;
    row->line = line ? line->line : 0;
}

static void set_line(struct function_rows *rows, struct annotate_row *row) {
    struct source_frames frames;
    const uint64_t address = row->address - rows->load_shift;
    if (rows->file.jit)
        set_jit_line(rows, row);
    if (!rows->file.named.lines || debug_lines_find(rows->file.named.lines, address, &frames) != SYMBOL_FOUND ||
        !frames.count)
        return;
    row->file = frames.at[0].file;
    row->line = frames.at[0].line;
    row->is_inlined = frames.at[0].is_inlined;
}

static bool add_instructions(struct annotate *a, struct function_rows *rows) {
    for (size_t i = 0; i < rows->code.count; i++) {
        const struct insn *insn = &rows->code.at[i];
        struct annotate_row *row = add_row(a, rows, insn->address);
        if (!row)
            return false;
        row->text = code_text(&rows->code, i);
        row->target = insn->target;
        row->kind = insn->kind;
        set_line(rows, row);
    }
    return true;
}

/* Finds the row for an address. If no instruction covers the address, adds a row; equal rows are merged after
   sorting. */
static struct annotate_row *row_of(struct annotate *a, struct function_rows *rows, uint64_t address) {
    const size_t found = code_find(&rows->code, address);
    return found < rows->code.count ? function_row(rows, found) : add_row(a, rows, address);
}

static void add_row_sums(const struct annotate *a, struct annotate_row *to, const struct annotate_sum *sums) {
    for (uint32_t i = 0; i < a->nr_events; i++) {
        to->sums[i].samples += sums[i].samples;
        to->sums[i].weight += sums[i].weight;
    }
}

static bool add_sums(struct annotate *a, struct function_rows *rows, uint32_t symbol, uint64_t shift) {
    for (uint32_t id = 1; id <= pfr_model_count(a->model, PFR_TABLE_FRAME); id++) {
        const pfr_model_frame *frame = pfr_model_get_frame(a->model, id);
        const struct annotate_sum *sums = annotate_sums_of(a, id);
        uint64_t any = 0;
        for (uint32_t i = 0; i < a->nr_events; i++)
            any |= sums[i].samples;
        if (frame->symbol != symbol || !any)
            continue;
        struct annotate_row *row = row_of(a, rows, frame->address + shift);
        if (!row)
            return false;
        add_row_sums(a, row, sums);
        for (uint32_t i = 0; i < a->nr_events; i++) {
            rows->totals[i].samples += sums[i].samples;
            rows->totals[i].weight += sums[i].weight;
        }
    }
    return true;
}

static int by_address(const void *left, const void *right) {
    const struct annotate_row *x = left, *y = right;
    return x->address < y->address ? -1 : x->address > y->address;
}

static void put_in_order(const struct annotate *a, struct function_rows *rows) {
    size_t kept = 0;
    qsort(rows->rows, rows->count, rows->row_size, by_address);
    for (size_t i = 1; i < rows->count; i++)
        if (function_row(rows, i)->address == function_row(rows, kept)->address)
            add_row_sums(a, function_row(rows, kept), function_row(rows, i)->sums);
        else if (++kept != i)
            memcpy(function_row(rows, kept), function_row(rows, i), rows->row_size);
    rows->count = kept + 1;
}

pfr_status function_rows_make(struct annotate *a, struct disasm *disasm, uint32_t symbol, struct function_rows *rows,
                              pfr_error *err) {
    struct span span = {0};
    *rows = (struct function_rows){.symbol = pfr_model_get_symbol(a->model, symbol)};
    rows->object = pfr_model_get_object(a->model, rows->symbol->object);
    source_files_of(a, rows->object);
    rows->row_size = sizeof(struct annotate_row) + a->nr_events * sizeof(struct annotate_sum);
    rows->why = code_file_open_at(a, rows->object, rows->symbol->address, &rows->file);
    if (rows->why == SYMBOL_FOUND)
        rows->why = read_code(a, disasm, rows, &span);
    const uint64_t shift = span.size ? span.address - rows->symbol->address : 0;
    if (!add_instructions(a, rows) || !add_sums(a, rows, symbol, shift))
        return mem_fail(a->memory, err, "annotate");
    if (rows->count > rows->code.count)
        put_in_order(a, rows);
    return PFR_OK;
}

void function_rows_free(struct annotate *a, struct function_rows *rows) {
    code_file_close(&rows->file);
    code_free(&rows->code, a->memory);
    mem_free(a->memory, rows->rows, rows->room, rows->row_size);
}

const char *function_rows_why(const struct annotate *a, const struct function_rows *rows) {
    if (rows->object->kind == PFR_OBJECT_KERNEL && !a->naming.vmlinux)
        return "kernel code is read from the file given with --vmlinux, or by root from /proc/kcore while that kernel "
               "runs";
    if (rows->object->kind == PFR_OBJECT_MODULE && rows->why == SYMBOL_OTHER_BUILD)
        return "code of kernel modules is not read";
    if (rows->object->kind == PFR_OBJECT_JIT && rows->why == SYMBOL_OTHER_BUILD)
        return "the jitdump has other code at this address";
    if (rows->object->kind != PFR_OBJECT_FILE && rows->object->kind != PFR_OBJECT_MODULE &&
        rows->object->kind != PFR_OBJECT_KERNEL && rows->object->kind != PFR_OBJECT_VDSO &&
        rows->object->kind != PFR_OBJECT_JIT)
        return "no file contains its code";
    if (rows->why == SYMBOL_LIMIT)
        return "the function is larger than 1 MB";
    if (rows->why == SYMBOL_NO_MATCH)
        return disasm_available()
                   ? "its code cannot be disassembled"
                   : "there is no disassembler: perfray needs libcapstone, at build time and at run time";
    return symbol_result_text(rows->why);
}

static size_t count_bad(const struct function_rows *rows) {
    size_t bad = 0;
    for (size_t i = 0; i < rows->count; i++)
        bad += function_row(rows, i)->kind == INSN_BAD;
    return bad;
}

void function_rows_note(struct annotate *a, const struct function_rows *rows) {
    char name[256], object[512], sentence[1024];
    const char *symbol = annotate_symbol_name(rows->symbol);
    const size_t bad = rows->why == SYMBOL_FOUND ? count_bad(rows) : 0;
    if ((rows->why == SYMBOL_FOUND && !bad) || !a->options->note)
        return;
    pfr_escape(name, sizeof name, symbol, strlen(symbol));
    pfr_escape(object, sizeof object, rows->object->path, strlen(rows->object->path));
    if (bad)
        snprintf(sentence, sizeof sentence,
                 "%s in %s: capstone cannot decode %zu of %zu instructions, printed as (bad)", name, object, bad,
                 rows->count);
    else
        snprintf(sentence, sizeof sentence, "%s in %s: only addresses with samples are shown: %s", name, object,
                 function_rows_why(a, rows));
    a->options->note(a->options->context, sentence);
}
