/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_PARTS_H
#define PFR_VIEW_ANNOTATE_PARTS_H
/*
 * perfray/annotate.h, in steps:
 *
 *     annotate.c          options, the model, one chosen function after the other
 *     annotate_counts.c   samples and weights of each frame and event, in one pass over the samples
 *     annotate_choose.c   which functions: by weight, name, line or address
 *     annotate_code.c     the bytes of a function, from the object that the recording names
 *     annotate_rows.c     rows: instructions with their lines and sums
 *     annotate_lines.c    rows by source line (--by-line)
 *     annotate_source.c   texts of source files
 *     annotate_diff.h     two recordings by line (--diff)
 *     annotate_arrows.c   jumps beside the rows
 *     annotate_text.c, annotate_csv.c, annotate_json.c   what is printed
 */
#include <perfray/annotate.h>
#include <perfray/samples.h>

#include "base/memory/fail.h"
#include "base/tables/intern.h"
#include "base/text/json.h"
#include "base/text/public_output.h"
#include "file/read/recording.h"
#include "model/names/named_object.h"
#include "query/sample_filter.h"
#include "symbol/disasm/disasm.h"
#include "symbol/elf/elf_object.h"

#define EVENTS_MOST 64u /* columns side by side */

struct annotate_sum {
    uint64_t samples, weight;
};

struct annotate {
    const pfr_annotate_options *options;
    pfr_symbol_options naming;
    pfr_reader *reader;
    struct memory *memory;
    pfr_model *model;
    pfr_output *out;
    struct sample_filter filter;
    uint32_t events[EVENTS_MOST], nr_events; /* ids of those that have samples, as asked for */
    struct annotate_sum *sums;               /* [frame id * nr_events + event] of innermost frames */
    size_t nr_sums;
    struct annotate_sum *line_sums; /* [stack id]: of the first event itself, for by_line */
    struct annotate_chosen {
        uint32_t symbol;
        uint64_t weight;
    } * chosen; /* heaviest first */
    size_t nr_chosen, chosen_room;
    uint32_t printed;     /* of the chosen */
    bool only_source_dir; /* the recorded paths of sources are those of another version */
    struct json json;
    struct source_files {
        const pfr_model_object *object; /* whose line table names the files that are asked for */
        struct intern_table names;      /* of files */
        struct source_text *texts;      /* annotate_source.c; by number of the name */
        size_t room;
        uint32_t oldest, newest; /* texts in memory, linked by `next` */
        uint64_t held, was_read; /* bytes */
        bool is_open, is_over;   /* is_over: there is more to read than READ_MOST */
    } sources;
};

/* --- annotate_counts.c */

/* Fills events, sums and, by line, line_sums. Errors: as pfr_samples_next; USAGE: no such event. */
pfr_status annotate_count(struct annotate *a, pfr_error *err);
static inline const struct annotate_sum *annotate_sums_of(const struct annotate *a, uint32_t frame) {
    return a->sums + (size_t)frame * a->nr_events;
}

/* --- annotate_choose.c */

/* END: nothing that was asked for has samples. Else MEMORY, LIMIT. */
pfr_status annotate_choose(struct annotate *a, pfr_error *err);

/* --- annotate_code.c */

struct code_file {
    int fd; /* -1: not open */
    struct elf_object elf;
    struct named_object named; /* for lines */
    struct name_limits limits;
    struct jit_dump *jit; /* then `elf` and `named` are not used */
    uint64_t size;        /* of a dump */
    bool is_core;         /* the running kernel's memory */
};

/* The object of a symbol. FOUND: `file` is open and has the build that was recorded; else why not, and nothing is open.
 */
enum symbol_result code_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* The same of code at an address of the kernel: its file, else its memory. */
enum symbol_result code_file_open_at(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                     struct code_file *file);
/* Bytes of the file into memory of a->memory. */
enum symbol_result code_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                  uint8_t **bytes);
/* The address that the object's headers count of a byte of the file, and how many bytes of its segment follow. */
bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address, uint64_t *left);
void code_file_close(struct code_file *file);

/* --- annotate_memory.c */

/* How much higher than in its file the kernel was loaded that has this address. False: the recording does not say. */
bool kernel_file_shift(const struct annotate *a, const struct code_file *file, uint64_t address, uint64_t *shift);
/* The memory of the running kernel, if it is the recorded one and still where it was; root only. */
enum symbol_result kernel_core_open(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                    struct code_file *file);
enum symbol_result core_file_open(const struct annotate *a, const char *path, struct code_file *file);
enum symbol_result jit_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* Where the code of a symbol was loaded, and its size. False: the dump has other code there. */
bool jit_file_place(const struct code_file *file, const pfr_model_symbol *symbol, uint64_t *address, uint64_t *left);
enum symbol_result jit_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                 uint8_t **bytes);

/* --- annotate_rows.c */

struct annotate_row {
    uint64_t address; /* virtual, as the object's headers count; of the kernel and of a JIT that of the recording */
    uint64_t target;
    const char *text; /* "": the code is not there */
    const char *file; /* source file of the innermost function; NULL: not known */
    uint32_t line;
    uint8_t kind;               /* enum insn_kind */
    bool is_inlined;            /* the line is of a function that was inlined here */
    struct annotate_sum sums[]; /* nr_events: see function_row */
};

struct function_rows {
    const pfr_model_symbol *symbol;
    const pfr_model_object *object;
    struct annotate_sum totals[EVENTS_MOST];
    struct code code;
    struct code_file file;
    uint64_t load_shift; /* addresses of rows less those of the file's headers, or of a dump's bytes */
    uint8_t *rows;       /* of row_size bytes each */
    size_t count, room, row_size;
    enum symbol_result why; /* FOUND: with code */
};

static inline struct annotate_row *function_row(const struct function_rows *rows, size_t index) {
    return (struct annotate_row *)(void *)(rows->rows + index * rows->row_size);
}

/* Errors: MEMORY, LIMIT. function_rows_free after every outcome. */
pfr_status function_rows_make(struct annotate *a, struct disasm *disasm, uint32_t symbol, struct function_rows *rows,
                              pfr_error *err);
void function_rows_free(struct annotate *a, struct function_rows *rows);
/* Why there are no instructions. */
const char *function_rows_why(const struct annotate *a, const struct function_rows *rows);
/* The same as a note to the caller. */
void function_rows_note(struct annotate *a, const struct function_rows *rows);

/* --- annotate_source.c */

/* From now on files are those that this object's line table names. */
void source_files_of(struct annotate *a, const pfr_model_object *object);
/* The text of a line, NUL-terminated, of a file that an object's line table names; NULL: the file or the line is not
   there, or longer than LINE_MOST. It may be freed by the next call for another file. */
const char *source_line(struct annotate *a, const char *file, uint32_t line);
/* How many lines of the file are there. */
size_t source_count(struct annotate *a, const char *file);
void source_files_free(struct annotate *a);

/* --- annotate_lines.c */

/* A line of the source function: the weight of samples in it, those in functions inlined there included, and with all
   that was called from it. `inlined`: NULL, else the parts of `self` and `total` that are in this function inlined
   here.
   */
struct listed_line {
    const char *file, *inlined;
    uint32_t line;
    uint64_t self, total, samples; /* samples: of self */
};

struct line_rows {
    const char *function;
    struct listed_line *at; /* by file, line, inlined (NULL first) */
    size_t count, room;
    uint64_t self, total, samples; /* of the function */
    struct symbol_texts texts;     /* of what was inlined */
};

/* The innermost frame of a sample with this stack: its address is in the call chain once more, below which is what was
   inlined there. */
uint32_t line_innermost(const struct annotate *a, uint32_t stack);
/* All functions of the symbol's name, wherever they were inlined. Errors: MEMORY, LIMIT. */
pfr_status line_rows_make(struct annotate *a, uint32_t symbol, struct line_rows *lines, pfr_error *err);
void line_rows_free(struct annotate *a, struct line_rows *lines);

/* --- annotate_arrows.c */

#define ARROW_LANES 6u

struct arrows {
    uint8_t *inside; /* by row: lanes that a jump goes through, starts or ends in */
    struct arrow {
        uint32_t from, to; /* rows */
        uint8_t lane;      /* ARROW_LANES: there was no lane left */
    } * at;
    size_t count, room, rows;
    uint32_t *first_end, *ends; /* by row, one more at the end: where its arrows begin in `ends` */
    unsigned lanes;             /* in use */
};

pfr_status arrows_make(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err);
/* 2 * lanes + 1 columns beside row `index`. */
void arrows_draw(const struct arrows *arrows, size_t index, struct output *out);
/* Whether a jump from below comes back here: the first instruction of a loop. */
bool arrows_loop(const struct arrows *arrows, size_t index);
void arrows_free(struct annotate *a, struct arrows *arrows);

/* --- Printing. */

pfr_status annotate_text(struct annotate *a, const struct function_rows *rows, pfr_error *err);
void annotate_text_lines(struct annotate *a, const struct line_rows *lines);
void annotate_csv_head(struct annotate *a);
void annotate_csv(struct annotate *a, const struct function_rows *rows);
void annotate_csv_lines(struct annotate *a, const struct line_rows *lines);
void annotate_json_begin(struct annotate *a);
void annotate_json(struct annotate *a, const struct function_rows *rows);
void annotate_json_lines(struct annotate *a, const struct line_rows *lines);
void annotate_json_end(struct annotate *a);

/* Frees what counting and choosing made; the model stays. */
void annotate_release(struct annotate *a);
/* "[unknown]" for a symbol without a name: never NULL. */
const char *annotate_symbol_name(const pfr_model_symbol *symbol);

#endif
