/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Addresses of functions that were asked for, very many perhaps. */
#ifndef TP_ADDRESS_LIST_H
#define TP_ADDRESS_LIST_H

#include "common/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as {0}. */
struct tp_address_list {
	uint64_t *items;
	uint32_t count;
	uint32_t room;
};

void tp_address_list_release(struct tp_address_list *list);
/* False: no memory. */
bool tp_address_list_add(struct tp_address_list *list, uint64_t address);
/*
 * Add the hexadecimal TEXT. 0, TP_ERR_SYNTAX if it is not an address, TP_ERR_MEMORY; *err says it.
 */
int tp_address_list_add_text(struct tp_address_list *list, const char *text, struct tp_err *err);
/* Add all that FD has, one in each line. The same, or TP_ERR_SYSTEM. */
int tp_address_list_read(struct tp_address_list *list, int fd, struct tp_err *err);
/* In ascending order, each once. */
void tp_address_list_sort(struct tp_address_list *list);

#endif
