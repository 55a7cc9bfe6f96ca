// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which columns of a relation a format has.
#include "relation.h"

uint32_t tp_relation_list(
    const struct tp_relation *relation, uint8_t form, uint8_t columns[TP_RELATION_COLUMNS])
{
	const uint8_t *own = form == TP_FORM_TEXT     ? relation->text
			     : form == TP_FORM_CSV    ? relation->csv
			     : form == TP_FORM_REPORT ? relation->report
						      : NULL;
	uint32_t count = 0;
	if (own)
		for (; own[count] != TP_RELATION_END; count++)
			columns[count] = own[count];
	else if (relation->forms & form & ~(TP_FORM_TEXT | TP_FORM_REPORT))
		for (uint32_t i = 0; i < relation->count; i++)
			if (!(relation->columns[i].absent & form))
				columns[count++] = (uint8_t)i;
	return count;
}
