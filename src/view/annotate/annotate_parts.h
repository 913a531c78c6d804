/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_ANNOTATE_PARTS_H
#define PFR_VIEW_ANNOTATE_PARTS_H
/*
 * The steps of perfray/annotate.h, one file for each:
 *
 *     annotate.c          options, the model, loop over the chosen functions
 *     annotate_counts.c   samples and weights of each frame and event, in one pass over the samples
 *     annotate_choose.c   selects functions by weight, name, line or address
 *     annotate_code.c     the bytes of a function, from the object that the recording names
 *     annotate_rows.c     rows: instructions with their lines and sums
 *     annotate_lines.c    rows by source line (--by-line)
 *     annotate_source.c   texts of source files
 *     annotate_diff.h     two recordings by line (--diff)
 *     annotate_arrows.c   jumps beside the rows
 *     annotate_text.c, annotate_csv.c, annotate_json.c   output
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

#define EVENTS_MOST 64u /* maximum number of events, which are columns */

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
    uint32_t events[EVENTS_MOST], nr_events; /* ids of the requested events that have samples */
    struct annotate_sum *sums;               /* [frame id * nr_events + event] of innermost frames */
    size_t nr_sums;
    struct annotate_sum *line_sums; /* [stack id]: self sums of the first event, for by_line */
    struct annotate_chosen {
        uint32_t symbol;
        uint64_t weight;
    } * chosen; /* heaviest first */
    size_t nr_chosen, chosen_room;
    uint32_t printed;     /* number of chosen functions to print */
    bool only_source_dir; /* the recorded source paths belong to another version */
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

/* Fills events, sums and, by line, line_sums. Errors: those of pfr_samples_next; USAGE: there is no such event. */
pfr_status annotate_count(struct annotate *a, pfr_error *err);
static inline const struct annotate_sum *annotate_sums_of(const struct annotate *a, uint32_t frame) {
    return a->sums + (size_t)frame * a->nr_events;
}

/* --- annotate_choose.c */

/* Errors: END: no requested function has samples; MEMORY, LIMIT. */
pfr_status annotate_choose(struct annotate *a, pfr_error *err);

/* --- annotate_code.c */

struct code_file {
    int fd; /* -1: not open */
    struct elf_object elf;
    struct named_object named; /* for lines */
    struct name_limits limits;
    struct jit_dump *jit; /* if set, `elf` and `named` are not used */
    uint64_t size;        /* size of a dump */
    bool is_core;         /* the running kernel's memory */
};

/* Opens the object of a symbol. FOUND: `file` is open and is the recorded build. Other results state the reason, and
   nothing is open. */
enum symbol_result code_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* Like code_file_open, for code at a kernel address: opens the kernel's file, or else the kernel's memory. */
enum symbol_result code_file_open_at(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                     struct code_file *file);
/* Reads bytes of the file into a buffer from a->memory. */
enum symbol_result code_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                  uint8_t **bytes);
/* The address of a byte of the file, relative to the object's headers, and the number of bytes of its segment that
   follow. */
bool code_file_address(const struct code_file *file, uint64_t offset, uint64_t *address, uint64_t *left);
void code_file_close(struct code_file *file);

/* --- annotate_memory.c */

/* The kernel that contains this address was loaded *shift bytes above the addresses in its file. False: the recording
   does not contain this fact. */
bool kernel_file_shift(const struct annotate *a, const struct code_file *file, uint64_t address, uint64_t *shift);
/* Opens the memory of the running kernel, if this is the recorded kernel and still at the same address; root only. */
enum symbol_result kernel_core_open(const struct annotate *a, const pfr_model_object *object, uint64_t address,
                                    struct code_file *file);
enum symbol_result core_file_open(const struct annotate *a, const char *path, struct code_file *file);
enum symbol_result jit_file_open(const struct annotate *a, const pfr_model_object *object, struct code_file *file);
/* The address at which the code of a symbol was loaded, and the size of the code. False: the dump has other code
   there. */
bool jit_file_place(const struct code_file *file, const pfr_model_symbol *symbol, uint64_t *address, uint64_t *left);
enum symbol_result jit_file_read(const struct annotate *a, const struct code_file *file, uint64_t offset, size_t size,
                                 uint8_t **bytes);

/* --- annotate_rows.c */

struct annotate_row {
    uint64_t address; /* virtual, relative to the object's headers; for the kernel and a JIT compiler, the recorded
                         address */
    uint64_t target;
    const char *text; /* "": the code was not found */
    const char *file; /* source file of the innermost function; NULL: not known */
    uint32_t line;
    uint8_t kind;               /* enum insn_kind */
    bool is_inlined;            /* the line belongs to a function that was inlined here */
    struct annotate_sum sums[]; /* nr_events: see function_row */
};

struct function_rows {
    const pfr_model_symbol *symbol;
    const pfr_model_object *object;
    struct annotate_sum totals[EVENTS_MOST];
    struct code code;
    struct code_file file;
    uint64_t load_shift; /* addresses of rows minus those in the file's headers, or minus the offsets in the dump */
    uint8_t *rows;       /* of row_size bytes each */
    size_t count, room, row_size;
    enum symbol_result why; /* FOUND: there is code */
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
/* Passes this reason to the caller as a note. */
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

/* A line of the source function. `self` is the weight of samples at the line, including those in functions inlined
 * there. `total` also includes everything called from the line. If `inlined` is not NULL, the row is the part of the
 * line's weights in this inlined function. */
struct listed_line {
    const char *file, *inlined;
    uint32_t line;
    uint64_t self, total, samples; /* samples: those of `self` */
};

struct line_rows {
    const char *function;
    struct listed_line *at; /* by file, line, inlined (NULL first) */
    size_t count, room;
    uint64_t self, total, samples; /* sums of the whole function */
    struct symbol_texts texts;     /* names of inlined functions */
};

/* Returns the innermost frame of a sample with this stack. If functions were inlined at the sampled address, the stack
 * contains the address twice. The inlined functions then begin at the second frame. */
uint32_t line_innermost(const struct annotate *a, uint32_t stack);
/* Makes the rows of all functions with the symbol's name, wherever they were inlined. Errors: MEMORY, LIMIT. */
pfr_status line_rows_make(struct annotate *a, uint32_t symbol, struct line_rows *lines, pfr_error *err);
void line_rows_free(struct annotate *a, struct line_rows *lines);

/* --- annotate_arrows.c */

#define ARROW_LANES 6u

struct arrows {
    uint8_t *inside; /* by row: lanes that a jump goes through, starts or ends in */
    struct arrow {
        uint32_t from, to; /* indexes of rows */
        uint8_t lane;      /* ARROW_LANES: no lane was free */
    } * at;
    size_t count, room, rows;
    uint32_t *first_end, *ends; /* by row: where its arrows begin in `ends`; one entry more at the end */
    unsigned lanes;             /* number of lanes in use */
};

pfr_status arrows_make(struct annotate *a, const struct function_rows *rows, struct arrows *arrows, pfr_error *err);
/* Draws 2 * lanes + 1 columns beside row `index`. */
void arrows_draw(const struct arrows *arrows, size_t index, struct output *out);
/* Whether a later row jumps back to this one: it is the first instruction of a loop. */
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

/* Frees the results of counting and choosing, but keeps the model. */
void annotate_release(struct annotate *a);
/* Returns "[unknown]" for a symbol without a name; never NULL. */
const char *annotate_symbol_name(const pfr_model_symbol *symbol);

#endif
