/* SPDX-License-Identifier: Apache-2.0 */
/* Disassembles in the confined process; see disasm.h. */
#include "symbol/disasm/disasm.h"

#include "symbol/disasm/x86_length.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if PFR_HAVE_CAPSTONE
#include "symbol/disasm/capstone_api.h"

static const struct machine {
    cs_arch arch;
    cs_mode mode;
    uint8_t step; /* size of an unknown instruction */
} machines[DISASM_MACHINES] = {
    [DISASM_X86_64] = {CS_ARCH_X86, CS_MODE_64, 1},
    [DISASM_I386] = {CS_ARCH_X86, CS_MODE_32, 1},
    [DISASM_AARCH64] = {CS_ARCH_ARM64, CS_MODE_LITTLE_ENDIAN, 4},
    [DISASM_ARM] = {CS_ARCH_ARM, CS_MODE_ARM, 4},
    [DISASM_THUMB] = {CS_ARCH_ARM, CS_MODE_THUMB, 2},
    [DISASM_S390X] = {CS_ARCH_SYSZ, CS_MODE_BIG_ENDIAN, 2},
};

struct answer {
    uint8_t *bytes;
    size_t length, room;
};

static void put(struct answer *a, const void *bytes, size_t length) {
    if (a->length + length > a->room) {
        a->room = 2 * a->room + length + 4096;
        a->bytes = realloc(a->bytes, a->room);
        if (!a->bytes)
            _Exit(1);
    }
    memcpy(a->bytes + a->length, bytes, length);
    a->length += length;
}

static void put_row(struct answer *a, const struct disasm_row *row, const char *text) {
    put(a, row, sizeof *row);
    put(a, text, row->text_length);
}

static uint8_t kind_of(const struct capstone_api *cs, csh handle, const cs_insn *insn) {
    return cs->p_cs_insn_group(handle, insn, CS_GRP_CALL)   ? INSN_CALL
           : cs->p_cs_insn_group(handle, insn, CS_GRP_RET)  ? INSN_RETURN
           : cs->p_cs_insn_group(handle, insn, CS_GRP_JUMP) ? INSN_JUMP
                                                            : INSN_OTHER;
}

/* The last operand if it is a number; 0 for jumps through memory or registers. */
static uint64_t target_of(const cs_insn *insn) {
    const char *last = strrchr(insn->op_str, ',');
    last = last ? last + 1 : insn->op_str;
    while (*last == ' ' || *last == '#')
        last++;
    char *end;
    const uint64_t target = strncmp(last, "0x", 2) == 0 ? strtoull(last, &end, 16) : 0;
    return target && *end == '\0' ? target : 0;
}

static void put_insn(struct answer *a, const struct capstone_api *cs, csh handle, const cs_insn *insn) {
    char text[INSN_TEXT_MOST + 1];
    struct disasm_row row = {.size = (uint8_t)insn->size, .kind = kind_of(cs, handle, insn)};
    const int length = insn->op_str[0] ? snprintf(text, sizeof text, "%-6s %s", insn->mnemonic, insn->op_str)
                                       : snprintf(text, sizeof text, "%s", insn->mnemonic);
    row.text_length = (uint8_t)(length < 0 ? 0 : length > (int)INSN_TEXT_MOST ? (int)INSN_TEXT_MOST : length);
    if (row.kind == INSN_JUMP || row.kind == INSN_CALL)
        row.target = target_of(insn);
    put_row(a, &row, text);
}

/* The code that is not disassembled yet. */
struct code_left {
    const uint8_t *at;
    size_t size;
    uint64_t address;
};

struct decoder {
    const struct capstone_api *cs;
    const struct machine *machine;
    csh handle;
    cs_insn *insn; /* the current instruction */
};

static bool decode(const struct decoder *d, struct code_left *code) {
    return d->cs->p_cs_disasm_iter(d->handle, &code->at, &code->size, &code->address, d->insn);
}

static void skip(struct code_left *code, size_t size) {
    code->at += size, code->address += size, code->size -= size;
}

static void put_unknown(struct answer *a, struct code_left *code, size_t size) {
    const struct disasm_row row = {
        .size = (uint8_t)(code->size < size ? code->size : size), .kind = INSN_BAD, .text_length = 5};
    put_row(a, &row, "(bad)");
    skip(code, row.size);
}

/*
 * Handles an instruction whose size is known without the library. The library may not know it, or may have moved its
 * immediate into the mnemonic ("vpcmpeqb"); but the next row must begin where the processor sees the next instruction.
 */
static void put_of_size(struct answer *a, const struct decoder *d, struct code_left *code,
                        const struct x86_length *is) {
    struct code_left after = *code;
    const size_t found = decode(d, &after) ? d->insn->size : 0;
    if (!found || (found != is->size && !(is->has_immediate && found + 1 == is->size))) {
        put_unknown(a, code, is->size);
        return;
    }
    d->insn->size = is->size;
    put_insn(a, d->cs, d->handle, d->insn);
    skip(code, is->size);
}

static void disassemble(const struct decoder *d, const struct disasm_question *q, const uint8_t *bytes,
                        struct answer *a) {
    const bool is_x86_64 = d->machine == &machines[DISASM_X86_64];
    struct code_left code = {bytes, q->length, q->address};
    struct x86_length size;
    while (code.size) {
        if (is_x86_64 && x86_length_of(code.at, code.size, &size))
            put_of_size(a, d, &code, &size);
        else if (decode(d, &code))
            put_insn(a, d->cs, d->handle, d->insn);
        else
            put_unknown(a, &code, d->machine->step);
    }
}

static void answer_one(const struct disasm_question *q, const uint8_t *code, struct answer *a) {
    csh handle;
    const struct capstone_api *const cs = capstone_api_load();
    const struct machine *m = &machines[q->machine < DISASM_MACHINES ? q->machine : DISASM_NONE];
    if (!cs || !m->step || cs->p_cs_open(m->arch, m->mode, &handle) != CS_ERR_OK)
        return;
    cs->p_cs_option(handle, CS_OPT_DETAIL, CS_OPT_ON);
    if (m->arch == CS_ARCH_X86 && !q->intel)
        cs->p_cs_option(handle, CS_OPT_SYNTAX, CS_OPT_SYNTAX_ATT);
    const struct decoder d = {cs, m, handle, cs->p_cs_malloc(handle)};
    if (d.insn) {
        disassemble(&d, q, code, a);
        cs->p_cs_free(d.insn, 1);
    }
    cs->p_cs_close(&handle);
}

bool disasm_available(void) {
    return capstone_api_load() != NULL;
}

/* Disassembles once before the process is confined: at its first instruction, capstone sorts tables by qsort(3), which
 * asks the system for the amount of memory. The confined process must not do so. */
void disasm_prepare(void *context) {
    static const uint8_t zeros[8] = {0};
    struct answer a = {.bytes = NULL};
    (void)context;
    for (unsigned i = 0; i < 2 * DISASM_MACHINES; i++) {
        const struct disasm_question q = {.length = sizeof zeros, .machine = (uint8_t)(i / 2), .intel = i % 2};
        answer_one(&q, zeros, &a);
    }
    free(a.bytes);
}
#else
struct answer {
    uint8_t *bytes;
    size_t length;
};

static void answer_one(const struct disasm_question *q, const uint8_t *code, struct answer *a) {
    (void)q, (void)code, (void)a;
}

bool disasm_available(void) {
    return false;
}

void disasm_prepare(void *context) {
    (void)context;
}
#endif

void disasm_answer_questions(void *context) {
    struct disasm_question q;
    struct answer a = {.bytes = NULL};
    uint8_t *code = malloc(DISASM_BYTES_MOST);
    (void)context;
    while (code && confined_read(0, &q, sizeof q) && q.length <= DISASM_BYTES_MOST &&
           confined_read(0, code, q.length)) {
        a.length = 0;
        answer_one(&q, code, &a);
        const uint32_t length = (uint32_t)a.length;
        if (!confined_write(0, &length, sizeof length) || !confined_write(0, a.bytes, length))
            break;
    }
    free(code);
    free(a.bytes);
}
