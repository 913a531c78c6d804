/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_VIEW_SCRIPT_SAMPLE_H
#define PFR_VIEW_SCRIPT_SAMPLE_H
/* Interface of script_sample.c; that file describes how it works. */
#include "view/script/script_parts.h"

script_printer print_machine_pid, print_vcpu, print_who, print_cpu, print_misc, print_time, print_tod, print_period,
    print_event, print_flags, print_trace, print_data_src, print_weight, print_ins_lat, print_retire_lat, print_iregs,
    print_uregs, print_bpf_output, print_phys_addr, print_data_page_size, print_code_page_size, print_cgroup;

#endif
