/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * doctor.h - what this machine has and lacks, read from files below a root
 *
 * The root is "" on a real machine and a directory with made-up files in tests.
 */
#ifndef SCHEDD_CTL_DOCTOR_H
#define SCHEDD_CTL_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_result {
	DOCTOR_OK,
	DOCTOR_NOTE,           /* works, and somebody may want to know */
	DOCTOR_MISSING,        /* schedd cannot do its work */
};

struct doctor_check {
	char name[32];
	enum doctor_result result;
	char found[256];
	char advice[256];      /* "" = nothing to do */
};

enum { DOCTOR_MAX_CHECKS = 40 };

struct doctor {
	struct doctor_check checks[DOCTOR_MAX_CHECKS];
	size_t nr_checks;
	bool failed;           /* something is DOCTOR_MISSING */
};

void doctor_add(struct doctor *d, const char *name, enum doctor_result result, const char *advice,
		const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Kernel, sched_ext, BTF, cgroup hierarchy; release is uname -r. */
void doctor_check_kernel(struct doctor *d, const char *root, const char *release);
void doctor_check_cgroup(struct doctor *d, const char *root);
/* The socket: is it there, who may use it. */
void doctor_check_socket(struct doctor *d, const char *path);

#endif
