/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PFR_WIRE_FEATURE_BITS_H
#define PFR_WIRE_FEATURE_BITS_H
/* Numbers of the perf.data features that code names (HEADER_... in tools/perf/util/header.h). The layout tables
   describe their contents. */

enum feature_bit {
    BIT_TRACING_DATA = 1,
    BIT_BUILD_ID = 2,
    BIT_HOSTNAME = 3, /* the first feature that has a section of its own */
    BIT_OSRELEASE = 4,
    BIT_VERSION = 5,
    BIT_ARCH = 6,
    BIT_NRCPUS = 7,
    BIT_CPUDESC = 8,
    BIT_CPUID = 9,
    BIT_TOTAL_MEM = 10,
    BIT_CMDLINE = 11,
    BIT_EVENT_DESC = 12,
    BIT_CPU_TOPOLOGY = 13,
    BIT_NUMA_TOPOLOGY = 14,
    BIT_BRANCH_STACK = 15,
    BIT_PMU_MAPPINGS = 16,
    BIT_GROUP_DESC = 17,
    BIT_AUXTRACE = 18,
    BIT_STAT = 19,
    BIT_CACHE = 20,
    BIT_SAMPLE_TIME = 21,
    BIT_MEM_TOPOLOGY = 22,
    BIT_CLOCKID = 23,
    BIT_DIR_FORMAT = 24,
    BIT_BPF_PROG_INFO = 25,
    BIT_BPF_BTF = 26,
    BIT_COMPRESSED = 27,
    BIT_CPU_PMU_CAPS = 28,
    BIT_CLOCK_DATA = 29,
    BIT_PMU_CAPS = 31,
    BIT_SIMPLEPERF_META_INFO = 129
};

#endif
