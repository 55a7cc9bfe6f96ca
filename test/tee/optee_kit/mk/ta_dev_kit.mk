# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Stands in for the makefile of OP-TEE's dev kit: the variables of an application's Makefile and
# sub.mk that it documents, and an application that is a program of this machine. It is stripped and
# gets a header, as signing gives it one.
kit := $(patsubst %/mk/,%,$(dir $(abspath $(lastword $(MAKEFILE_LIST)))))
O ?= .
CC = cc
warnings = -Werror -Wall -Wextra -Wcast-align -Wmissing-declarations -Wmissing-prototypes -Wnested-externs \
	-Wpointer-arith -Wshadow -Wstrict-prototypes -Wwrite-strings -Wno-missing-field-initializers \
	-Wredundant-decls -Wold-style-definition -Wundef -pedantic -Wdeclaration-after-statement

all: $(O)/$(BINARY).ta

include sub.mk

flags = -std=gnu99 -g3 -Os -fpie $(warnings) -I. $(addprefix -I,$(global-incdirs-y)) -I$(kit)/include
objs := $(addprefix $(O)/,$(srcs-y:.c=.o))

$(objs): $(O)/%.o: %.c
	$(CC) $(flags) $(cppflags-y) $(cppflags-$(notdir $<)-y) $(cflags-y) -c -o $@ $<

$(O)/ta_process.o: $(kit)/src/ta_process.c
	$(CC) -O1 -g -I. -I$(kit)/include -c -o $@ $<

# No build ID; and only what the dev kit's linker would take of an archive.
$(O)/$(BINARY).elf: $(objs) $(O)/ta_process.o $(libdeps)
	$(CC) -pie -Wl,--build-id=none -Wl,--defsym=__text_start=__executable_start -o $@ \
		$(objs) $(LDADD) $(O)/ta_process.o

$(O)/$(BINARY).stripped.elf: $(O)/$(BINARY).elf
	objcopy --strip-unneeded $< $@

$(O)/$(BINARY).ta: $(O)/$(BINARY).stripped.elf
	{ printf 'signature of 32 bytes, stands in'; cat $<; } >$@

clean:
	rm -f $(objs) $(O)/ta_process.o $(O)/$(BINARY).elf $(O)/$(BINARY).stripped.elf $(O)/$(BINARY).ta $(cleanfiles)

.PHONY: all clean
