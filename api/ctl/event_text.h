/* SPDX-License-Identifier: GPL-2.0-or-later */
/* event_text.h - between words on the command line and events: kinds, positions, one line of text; pure */
#ifndef SCHEDD_CTL_EVENT_TEXT_H
#define SCHEDD_CTL_EVENT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "schedd/v1alpha1/scheduler.pb-c.h"

enum { EVENT_TYPE_MAX = 32, EVENT_EPOCH_MAX = 64 };

/* TYPE_CLASS_CHANGED -> "class-changed"; returns dst. */
char *event_type_name(Schedd__V1alpha1__Event__Type type, char dst[EVENT_TYPE_MAX]);
/* And back, for kinds that one can ask for.  -EINVAL with a sentence in error. */
int event_type_parse(const char *word, Schedd__V1alpha1__Event__Type *ret_type, char *error, size_t error_size);

/* EPOCH:SEQUENCE, as they are in the JSON of an event.  -EINVAL. */
int event_position_parse(const char *text, char ret_epoch[EVENT_EPOCH_MAX], uint64_t *ret_sequence);

/* What happened, and who or what did it, for people; control characters escaped.  Never NULL; free() them. */
char *event_text(const Schedd__V1alpha1__Event *e);
char *event_actor(const Schedd__V1alpha1__Event *e);

#endif
