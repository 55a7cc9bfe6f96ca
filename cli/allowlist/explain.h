/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* One function, explained: as text for people and as a JSON object. */
#ifndef TP_EXPLAIN_H
#define TP_EXPLAIN_H

#include "cli/allowlist/open_list.h"
#include "common/json.h"
#include "allowlists/check/explained.h"

void tp_explain_add_text(struct tp_buf *out, const struct tp_explained *explained,
    const struct tp_open_profile *profile);
void tp_explain_add_json(struct tp_json *json, const struct tp_explained *explained,
    const struct tp_open_profile *profile);

#endif
