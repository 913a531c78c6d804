# SPDX-License-Identifier: Apache-2.0
# One symbol of every kind that could name an address, and several for one address; nothing here is ever run.

.macro name type, name, size=16
    .type \name, \type
\name:
    .skip 16, 1
    .size \name, \size
.endm

.macro label name
\name:
    .skip 16, 1
    name @function, \name\()_end
.endm

.text
    name @function, function
    name @gnu_indirect_function, indirect
    name @object, object_in_code
    name @function, without_size, 0
    .globl function, indirect
    label label
hidden_label:
    .globl hidden_label
    .hidden hidden_label
    .skip 16, 1
    name @function, hidden_function
    .globl hidden_function
    .hidden hidden_function
    name @function, shorter_than_its_room, 4

# Of several names for one address one counts.
    .globl one, one_and_longer, two_global, __three, four
    .type one, @function
    .type one_and_longer, @gnu_indirect_function
one:
one_and_longer:
    .skip 16, 1
    .size one, 16
    .size one_and_longer, 16
    .type two_local_and_longer, @function
    .type two_global, @object
two_local_and_longer:
two_global:
    .skip 16, 1
    .size two_local_and_longer, 16
    .size two_global, 8
    .weak three_is_weak
    .type three_is_weak, @function
    .type __three, @function
three_is_weak:
__three:
    .skip 16, 1
    .size three_is_weak, 16
    .size __three, 16
    .type SyS_call, @function
    .type sys_call, @function
SyS_call:
sys_call:
    .skip 16, 1
    .size SyS_call, 16
    .size sys_call, 16
    .type four_without_size, @function
four_without_size:
four:
    .skip 16, 1
    name @function, behind_four
    .globl behind_four

# What has no type counts where a section has such a name.
.section .text.hot, "ax", @progbits
    label in_hot_code
.section xtext, "ax", @progbits
    label in_xtext
.section other, "ax", @progbits
    label in_other_code
.section .rodata, "a", @progbits
    label in_constants
.section .data, "aw", @progbits
    label in_data
.section mydata, "aw", @progbits
    label in_mydata
.section things, "aw", @progbits
    label in_other
.section .data, "aw", @progbits
    name @object, object
    .globl object
.section things, "aw", @progbits
    name @object, object_elsewhere
.section .tdata, "awT", @progbits
    name @tls_object, of_a_thread
.section .kept, "", @progbits
    name @object, not_in_memory

.bss
    .type zeros, @object
zeros:
    .skip 16
    .size zeros, 16
label_of_zeros:
    .skip 16

absolute = 0x401004
.type absolute, @function
