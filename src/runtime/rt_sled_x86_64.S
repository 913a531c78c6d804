/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry points of patched sleds of clang's -fxray-instrument (rt_sleds.c); %r10d has the word of the function. The
 * program's call is in progress, so every register except %r10 must be preserved. The functions of rt_sled_hooks.c save
 * each general register that they use, and use no others.
 *
 *  enter   called before the function's first instruction: its arguments are in registers
 *  exit    jumped to instead of `ret`: its results are in registers; this code executes the `ret`
 *  tail    called before a jump to another function, whose arguments are in registers
 */
#if defined __x86_64__

    .macro begin name
    .globl \name
    .hidden \name
    .type \name, @function
    .balign 16
\name:
    .cfi_startproc
    endbr64
    .endm

    .macro finish name
    .cfi_endproc
    .size \name, . - \name
    .endm

    .macro trampoline name, hook
    begin \name
    pushq %rdi
    .cfi_adjust_cfa_offset 8
    movl %r10d, %edi
    call \hook
    popq %rdi
    .cfi_adjust_cfa_offset -8
    ret
    finish \name
    .endm

    .text
    trampoline rt_sled_enter, rt_hook_enter
    trampoline rt_sled_exit, rt_hook_exit
    trampoline rt_sled_tail, rt_hook_tail

    /* The first argument is passed on in its register. */
    begin rt_sled_argument
    pushq %rsi
    .cfi_adjust_cfa_offset 8
    movl %r10d, %esi
    call rt_hook_argument
    popq %rsi
    .cfi_adjust_cfa_offset -8
    ret
    finish rt_sled_argument

    begin rt_sled_custom
    jmp rt_hook_custom
    finish rt_sled_custom

    begin rt_sled_typed
    jmp rt_hook_typed
    finish rt_sled_typed

/*
 * long rt_apart(long (*function)(long, long), long, long): calls a function of the C library, which may use vector
 * registers, with these saved around it, on an aligned stack. rt_vectors has the states that the machine has (XCR0); 0:
 * only the sixteen SSE registers. 2816 bytes hold the states up to AVX-512 (Intel's manual, volume 1, 13.4).
 */
    begin rt_apart
    pushq %rbp
    .cfi_adjust_cfa_offset 8
    .cfi_offset %rbp, -16
    movq %rsp, %rbp
    .cfi_def_cfa_register %rbp
    pushq %rbx
    .cfi_offset %rbx, -24
    movq %rdi, %rbx
    movq %rsi, %rdi
    movq %rdx, %rsi
    subq $2816, %rsp
    andq $-64, %rsp
    xorl %edx, %edx
    movl rt_vectors(%rip), %eax
    testl %eax, %eax
    jz 1f
    movq %rdx, 512(%rsp)
    movq %rdx, 520(%rsp)
    movq %rdx, 528(%rsp)
    movq %rdx, 536(%rsp)
    movq %rdx, 544(%rsp)
    movq %rdx, 552(%rsp)
    movq %rdx, 560(%rsp)
    movq %rdx, 568(%rsp)
    xsave64 (%rsp)
    call *%rbx
    movq %rax, %rbx
    xorl %edx, %edx
    movl rt_vectors(%rip), %eax
    xrstor64 (%rsp)
    jmp 2f
1:  fxsave64 (%rsp)
    call *%rbx
    movq %rax, %rbx
    fxrstor64 (%rsp)
2:  movq %rbx, %rax
    movq -8(%rbp), %rbx
    leave
    .cfi_def_cfa %rsp, 8
    ret
    finish rt_apart

#endif
    .section .note.GNU-stack, "", @progbits
