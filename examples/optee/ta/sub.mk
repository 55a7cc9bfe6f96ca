# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# What the dev kit compiles itself; what is recorded is in the Makefile.
global-incdirs-y += .
srcs-y += entry.c
cppflags-entry.c-y += -I$(TEEPERF_PREFIX)/include
