/* SPDX-License-Identifier: GPL-2.0-or-later */
/* target.h - a TARGET as typed: path, unit, pod, container, process */
#ifndef SCHEDD_CTL_TARGET_H
#define SCHEDD_CTL_TARGET_H

#include <stddef.h>

#include "schedd/v1alpha1/scheduler.pb-c.h"

/* The message points into the struct: do not copy or move it. */
struct target {
	Schedd__V1alpha1__Target message;
	Schedd__V1alpha1__PodTarget pod;
	Schedd__V1alpha1__PidTarget process;
	Schedd__V1alpha1__SelfTarget self;
	char text[4352]; /* a path of 4095 bytes below a mount of some 255 */
};

/*
 * mount: where cgroup2 is mounted; a path that begins with it is taken
 * relative to it, any other absolute path is one already.  -EINVAL with a
 * sentence in error.
 */
int target_parse(const char *text, const char *mount, struct target *ret, char *error, size_t error_size);
void target_set_self(struct target *ret);

/* For people: the path, the unit, "pod:ns/name", ..., "-" for none.  Never NULL; free() it. */
char *target_format(const Schedd__V1alpha1__Target *t);

#endif
