/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_BPF_H
#define PFR_VIEW_INFO_BPF_H
/*
 * One BPF program out of feature BPF_PROG_INFO: the kernel's struct bpf_prog_info, read by offset because its size is
 * the writer's, and the arrays that its pointers (offsets into `data`) lead to. Every access is checked; what lies
 * outside is 0 or NULL.
 */
#include <perfray/reader.h>
#include "base/memory/memory.h"

struct bpf_program {
    uint32_t id, type, jited_size, xlated_size, btf_id;
    uint32_t parts;                            /* functions compiled to machine code */
    const uint8_t *tag;                        /* 8 bytes, NULL: not there */
    pfr_text name;                             /* at most 15 characters */
    const uint8_t *addresses, *lengths, *tags; /* `parts` of 8, 4, 8 bytes; NULL: not all recorded */
    const uint8_t *functions;                  /* records whose second word is the type of part i in the BTF */
    uint32_t function_size;
    bool swap;
};

/* `swap` as of the recording: program->swap is that of `entry` itself. */
void bpf_program_read(const struct pfr_rec_bpf_prog_info_entry *entry, bool swap, struct bpf_program *program);

/* The BTF of one entry of feature BPF_BTF, and the offsets of its types. */
struct btf {
    uint32_t id;
    uint32_t order; /* its number in the feature */
    pfr_bytes data;
    bool indexed, swap;           /* set by btf_index, as is the rest */
    pfr_bytes type_data, strings; /* sections of `data` */
    uint32_t *types;              /* offset of each type; NULL: none */
    uint64_t nr_types, types_room;
};

/* Finds the types, on the first call for each BTF. Without memory for that none has a name. */
void btf_index(struct btf *btf, struct memory *memory, bool swap);
void btf_free(struct btf *btf, struct memory *memory);

#define BTF_NAME_MAX 511u /* bytes; KSYM_NAME_LEN of the kernel less its terminator */

/* The name of a type of an indexed BTF, at most BTF_NAME_MAX bytes; length 0: it has none. */
pfr_text btf_type_name(const struct btf *btf, uint32_t type_id);

#endif
