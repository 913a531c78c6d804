/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_SYMBOL_DISASM_H
#define PFR_SYMBOL_DISASM_H
/*
 * Disassembles machine code to text, by capstone in a confined process (base/threads/confined.h), because the code
 * comes from untrusted files. Unknown instructions become "(bad)": one byte on x86, an aligned word on other machines.
 *
 *  struct disasm d;
 *  struct code code;
 *  disasm_begin(&d, DISASM_X86_64, false);
 *  if (disasm_run(&d, address, bytes, length, memory, &code) == SYMBOL_FOUND)
 *      for (size_t i = 0; i < code.count; i++)
 *          code.at[i].address, code_text(&code, i)
 *  code_free(&code, memory);
 *  disasm_end(&d);
 */
#include "base/threads/confined.h"
#include "symbol/table/symbol_source.h"

enum disasm_machine {
    DISASM_NONE,
    DISASM_X86_64,
    DISASM_I386,
    DISASM_AARCH64,
    DISASM_ARM,
    DISASM_THUMB,
    DISASM_S390X,
    DISASM_MACHINES
};

enum insn_kind { INSN_OTHER, INSN_JUMP, INSN_CALL, INSN_RETURN, INSN_BAD, INSN_KINDS };

struct insn {
    uint64_t address;
    uint64_t target; /* target of a jump or call to a constant address; else 0 */
    uint32_t text;   /* offset in code.texts, NUL-terminated */
    uint8_t size;    /* bytes, at least 1 */
    uint8_t kind;    /* enum insn_kind */
};

struct code {
    struct insn *at; /* sorted by address, without gaps */
    size_t count, room;
    char *texts;
    size_t texts_room;
};

struct disasm {
    struct confined process;
    enum disasm_machine machine;
    bool intel; /* Intel's syntax on x86, else AT&T's, which objdump and perf print */
};

#define DISASM_BYTES_MOST ((size_t)1 << 20) /* maximum bytes of one function */
#define INSN_TEXT_MOST 200u

/* Whether capstone is installed and supported by this build. */
bool disasm_available(void);
/* Returns the machine for e_machine and the class of an ELF file; NONE: not supported. */
enum disasm_machine disasm_machine_of(uint16_t elf_machine, bool wide);

void disasm_begin(struct disasm *d, enum disasm_machine machine, bool intel);
/* Disassembles at most DISASM_BYTES_MOST bytes. FOUND: *code belongs to the caller, who frees it by code_free.
   NO_MATCH: this machine is not supported by capstone or by this build, or the process ended or took too long; LIMIT,
   NO_MEMORY. */
enum symbol_result disasm_run(struct disasm *d, uint64_t address, const uint8_t *bytes, size_t length,
                              struct memory *memory, struct code *code);
void disasm_end(struct disasm *d);

static inline const char *code_text(const struct code *code, size_t index) {
    return code->texts + code->at[index].text;
}

/* Index of the instruction that contains the address; code->count: there is no such instruction. */
size_t code_find(const struct code *code, uint64_t address);
void code_free(struct code *code, struct memory *memory);

/* --- Protocol between the two processes. */

/* A request is this struct and the bytes of code. An answer is a uint32_t, the number of bytes that follow, and then
   rows, each followed by its text. */
struct disasm_question {
    uint64_t address;
    uint32_t length;
    uint8_t machine, intel;
};

struct disasm_row {
    uint64_t target;
    uint8_t size, kind, text_length;
};

/* Called in the new process before it is confined. */
void disasm_prepare(void *context);
/* Main function of the confined process: answers requests from descriptor 0 until it is closed (disasm_here.c). */
void disasm_answer_questions(void *context);

#endif
