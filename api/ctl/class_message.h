/* SPDX-License-Identifier: GPL-2.0-or-later */
/* class_message.h - between KEY=VALUE, struct class_settings and the message SchedClass */
#ifndef SCHEDD_CTL_CLASS_MESSAGE_H
#define SCHEDD_CTL_CLASS_MESSAGE_H

#include <stddef.h>

#include "daemon/class.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"

/* Points into itself and into settings: do not copy or move it. */
struct class_message {
	Schedd__V1alpha1__SchedClass message;
	struct class_settings settings;
	Google__Protobuf__UInt32Value guarantee, burst, weight;
	Google__Protobuf__BoolValue exclusive_smt;
	Google__Protobuf__Duration slice, quantum, congestion, wakeup_target;
	uint32_t reset; /* CLASS_FIELD_*: `KEY=' without a value */
	Google__Protobuf__FieldMask mask; /* of the keys given; to be sent when something is reset */
	char *paths[16];
};

/* words: KEY=VALUE... ; -EINVAL with a sentence in error. */
int class_message_parse(struct class_message *ret, const char *name, const char *const *words, size_t nr_words,
			char *error, size_t error_size);

/* The value of a key as one would type it; "" when the message has none.  Returns dst. */
char *class_message_value(const Schedd__V1alpha1__SchedClass *c, uint32_t field, char *dst, size_t size);

/* Where that value comes from: "call", "config", "builtin" or "default". */
const char *class_message_origin(const Schedd__V1alpha1__SchedClass *c, const struct class_key *key);

#endif
