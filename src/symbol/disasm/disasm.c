/* SPDX-License-Identifier: Apache-2.0 */
/* Sends requests to the process that disassembles, and checks each row of its answers; see disasm.h. */
#include "symbol/disasm/disasm.h"

#include <elf.h>
#include <string.h>

#define MEMORY ((uint64_t)256 << 20)
#define CPU_SECONDS 60u
#define WAIT_MS 20000u
/* room for one row per byte of code, each with a text of maximum length */
#define ANSWER_MOST (DISASM_BYTES_MOST * (sizeof(struct disasm_row) + INSN_TEXT_MOST))

enum disasm_machine disasm_machine_of(uint16_t elf_machine, bool wide) {
    switch (elf_machine) {
    case EM_X86_64:
        return DISASM_X86_64;
    case EM_386:
        return DISASM_I386;
    case EM_AARCH64:
        return DISASM_AARCH64;
    case EM_ARM:
        return DISASM_ARM;
    case EM_S390:
        return wide ? DISASM_S390X : DISASM_NONE;
    default:
        return DISASM_NONE;
    }
}

void disasm_begin(struct disasm *d, enum disasm_machine machine, bool intel) {
    *d = (struct disasm){.machine = machine, .intel = intel};
}

void disasm_end(struct disasm *d) {
    confined_end(&d->process);
}

static bool ask(struct disasm *d, uint64_t address, const uint8_t *bytes, size_t length) {
    const struct disasm_question q = {
        .address = address, .length = (uint32_t)length, .machine = (uint8_t)d->machine, .intel = d->intel};
    if (d->process.pid == 0) {
        if (!disasm_available()) /* also loads the library, which the process cannot do */
            return false;
        d->process = (struct confined){.memory = MEMORY, .seconds = CPU_SECONDS, .prepare = disasm_prepare};
        if (!confined_begin(&d->process, disasm_answer_questions, NULL))
            return false;
    }
    return confined_write(d->process.fd, &q, sizeof q) && confined_write(d->process.fd, bytes, length);
}

/* Takes and checks one row of an answer; false if it or its text is incomplete. */
static bool take_row(const uint8_t **at, const uint8_t *end, struct disasm_row *row, const char **text) {
    if ((size_t)(end - *at) < sizeof *row)
        return false;
    memcpy(row, *at, sizeof *row);
    *at += sizeof *row;
    if (row->text_length > INSN_TEXT_MOST || row->text_length > (size_t)(end - *at) || row->kind >= INSN_KINDS)
        return false;
    *text = (const char *)*at;
    *at += row->text_length;
    return row->size > 0;
}

/* Counts the rows of an answer, and checks that they cover exactly `length` bytes of code. */
static bool count_rows(const uint8_t *at, const uint8_t *end, size_t length, size_t *count) {
    struct disasm_row row;
    const char *text;
    for (*count = 0; at < end && take_row(&at, end, &row, &text) && row.size <= length; ++*count)
        length -= row.size;
    return at == end && length == 0;
}

static void fill(struct code *code, const uint8_t *at, const uint8_t *end, uint64_t address) {
    struct disasm_row row;
    const char *text;
    size_t used = 0;
    for (size_t i = 0; i < code->count && take_row(&at, end, &row, &text); i++) {
        code->at[i] = (struct insn){
            .address = address, .target = row.target, .text = (uint32_t)used, .size = row.size, .kind = row.kind};
        memcpy(code->texts + used, text, row.text_length);
        code->texts[used + row.text_length] = '\0';
        used += row.text_length + 1u;
        address += row.size;
    }
}

/* The result is smaller than the answer: each row loses its header, and each text gets a NUL. */
static enum symbol_result read_rows(const uint8_t *answer, size_t length, uint64_t address, size_t code_length,
                                    struct memory *memory, struct code *code) {
    if (!count_rows(answer, answer + length, code_length, &code->count))
        return SYMBOL_NO_MATCH;
    code->room = code->count;
    code->texts_room = length;
    code->at = mem_alloc(memory, code->room, sizeof *code->at);
    code->texts = mem_alloc(memory, code->texts_room, 1);
    if (!code->at || !code->texts)
        return SYMBOL_NO_MEMORY;
    fill(code, answer, answer + length, address);
    return SYMBOL_FOUND;
}

static enum symbol_result hear(struct disasm *d, uint64_t address, size_t code_length, struct memory *memory,
                               struct code *code) {
    const uint64_t until = confined_now_ms() + WAIT_MS;
    uint32_t length = 0;
    if (!confined_hear(&d->process, &length, sizeof length, until) || length == 0 || length > ANSWER_MOST)
        return SYMBOL_NO_MATCH;
    uint8_t *answer = mem_alloc(memory, length, 1);
    if (!answer)
        return SYMBOL_NO_MEMORY;
    const enum symbol_result result = confined_hear(&d->process, answer, length, until)
                                          ? read_rows(answer, length, address, code_length, memory, code)
                                          : SYMBOL_NO_MATCH;
    mem_free(memory, answer, length, 1);
    return result;
}

enum symbol_result disasm_run(struct disasm *d, uint64_t address, const uint8_t *bytes, size_t length,
                              struct memory *memory, struct code *code) {
    *code = (struct code){.at = NULL};
    if (length > DISASM_BYTES_MOST)
        return SYMBOL_LIMIT;
    if (!disasm_available() || d->machine == DISASM_NONE || length == 0)
        return SYMBOL_NO_MATCH;
    const enum symbol_result result =
        ask(d, address, bytes, length) ? hear(d, address, length, memory, code) : SYMBOL_NO_MATCH;
    if (result == SYMBOL_FOUND)
        return result;
    code_free(code, memory);
    confined_end(&d->process); /* otherwise the next request would read the rest of this answer */
    return result;
}

size_t code_find(const struct code *code, uint64_t address) {
    size_t low = 0, high = code->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (code->at[middle].address + code->at[middle].size <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < code->count && code->at[low].address <= address ? low : code->count;
}

void code_free(struct code *code, struct memory *memory) {
    mem_free(memory, code->at, code->room, sizeof *code->at);
    mem_free(memory, code->texts, code->texts_room, 1);
    *code = (struct code){.at = NULL};
}
