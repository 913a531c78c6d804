/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SAMPLE_TEXT_H
#define PFR_VIEW_SAMPLE_TEXT_H
/*
 * Prints fields of a sample exactly as `perf script` of perf 6.1 does, one function per field. Separators between
 * fields are part of the field where perf prints them as such. A line with time, weight and page size:
 *
 *     out_time(&out->out, s.time, 6);
 *     out_text(&out->out, ": ");
 *     words_weight(out, s.weight);                    "             225"
 *     words_page_size(out, s.data_page_size);         " 4K"
 *
 * The functions return no errors: output errors are kept in the output. Bytes of the recording are escaped unless the
 * output has raw names.
 */
#include <perfray/out.h>
#include <perfray/record_structs.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * data_src: 16 columns of hexadecimal digits, a blank, "|OP LOAD|LVL L1 hit|SNP None|TLB L1 hit|LCK No|BLK  N/A". As in
 * perf, the text is cut at 99 characters and padded to the length of the longest text printed so far. This length is
 * kept in *widest, which must be 0 at the start of an output.
 */
void words_data_src(pfr_output *out, uint64_t data_src, size_t *widest);

/* One part of data_src, as in the columns of reports: "L1 hit", "None", "L1 hit", "No", " N/A". */
enum words_memory { WORDS_LEVEL, WORDS_SNOOP, WORDS_TLB, WORDS_LOCK, WORDS_BLOCK };
void words_memory(pfr_output *out, uint64_t data_src, enum words_memory part);

/* The text after "from/to" of a branch: "/M/-/-/0/", plus the branch type if recorded: "/P/X/A/12/CALL". */
void words_branch_flags(pfr_output *out, const struct pfr_rec_branch_entry *entry);

/*
 * Dumped registers: " ABI:2    AX:0x1    BX:0x2 ". `arch` is the text of the feature ARCH (uname -m); NULL or "" if the
 * feature is missing: the machine is then taken to be x86, as perf on x86 does. `values` has one value for each set bit
 * of `mask`, lowest bit first. With abi 0, nothing is printed. A bit without a name is printed as "unknown".
 */
void words_regs(pfr_output *out, const char *arch, uint64_t mask, const pfr_u64s *values, uint64_t abi);

/* The name of a register, a static string. `set` comes from words_register_set, which should be called once, not per
 * register. */
unsigned words_register_set(const char *arch, size_t length);
const char *words_register_name(unsigned set, unsigned bit);

/*
 * Field bpf-output: a newline, then a dump of the bytes, eight per line, and the text if the bytes are a text; each
 * line ends with a newline.
 *
 *     \n      BPF output: 0000: 68 65 6c 6c 6f 00 00 00  hello...\n      BPF string: "hello"\n
 */
void words_bpf_output(pfr_output *out, const uint8_t *raw, size_t length);

/* " 4K", " 2M", " 1024M", " 512B"; " N/A" for 0. */
void words_page_size(pfr_output *out, uint64_t size);

/* Fields weight and ins_lat, in 16 columns. With WEIGHT_STRUCT, weight is the low 32 bits and ins_lat the next 16 bits;
 * with WEIGHT, weight is the whole value. */
void words_weight(pfr_output *out, uint64_t weight);
void words_ins_lat(pfr_output *out, uint64_t weight_struct);
/* Field retire_lat: the upper 16 bits (p_stage_cyc on powerpc). perf 6.1 has no such field. Printed like ins_lat. */
void words_retire_lat(pfr_output *out, uint64_t weight_struct);

/* Field phys_addr: hexadecimal in 16 columns. */
void words_phys_addr(pfr_output *out, uint64_t address);

/* Field flags of a sample that was not made by an AUX decoder: 24 blanks. */
void words_flags(pfr_output *out);

/* Field misc: the letters of the cpumode and of the bits that are meaningful for this record type, in 6 columns. */
void words_misc(pfr_output *out, uint32_t type, uint16_t misc);

#endif
