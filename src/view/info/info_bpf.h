/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_INFO_BPF_H
#define PFR_VIEW_INFO_BPF_H
/*
 * One BPF program from the feature BPF_PROG_INFO: the kernel's struct bpf_prog_info, and the arrays that its pointers
 * (offsets into `data`) refer to. The struct is accessed by offset, because its size depends on the writer. Every
 * access is checked; values outside the data are 0 or NULL.
 */
#include <perfray/reader.h>
#include "base/memory/memory.h"

struct bpf_program {
    uint32_t id, type, jited_size, xlated_size, btf_id;
    uint32_t parts;     /* number of functions compiled to machine code */
    const uint8_t *tag; /* 8 bytes; NULL if not recorded */
    pfr_text name;      /* at most 15 characters */
    const uint8_t *addresses, *lengths,
        *tags;                /* arrays with elements of 8, 4 and 8 bytes, `parts` each; NULL if incomplete */
    const uint8_t *functions; /* one record per function; its second word is the function's BTF type */
    uint32_t function_size;
    bool swap;
};

/* `swap` tells whether the byte order of the recording differs from that of this machine. The byte order of the entry
   may differ from that of the recording; program->swap is set for the entry. */
void bpf_program_read(const struct pfr_rec_bpf_prog_info_entry *entry, bool swap, struct bpf_program *program);

/* The BTF of one entry of the feature BPF_BTF, and the offsets of its types. */
struct btf {
    uint32_t id;
    uint32_t order; /* position in the feature */
    pfr_bytes data;
    bool indexed, swap;           /* set by btf_index, like the members below */
    pfr_bytes type_data, strings; /* sections of `data` */
    uint32_t *types;              /* offset of each type; NULL if there are no types */
    uint64_t nr_types, types_room;
};

/* Indexes the types on the first call for each BTF. If memory runs out, its types have no names. */
void btf_index(struct btf *btf, struct memory *memory, bool swap);
void btf_free(struct btf *btf, struct memory *memory);

#define BTF_NAME_MAX 511u /* bytes: the kernel's KSYM_NAME_LEN without the NUL */

/* The name of a type of an indexed BTF, at most BTF_NAME_MAX bytes; length 0 if it has no name. */
pfr_text btf_type_name(const struct btf *btf, uint32_t type_id);

#endif
