/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reflection.h - answers of the gRPC reflection service, from a compiled descriptor set
 *
 * v1 and v1alpha have the same wire form, so one function serves both.
 */
#ifndef SCHEDD_API_REFLECTION_H
#define SCHEDD_API_REFLECTION_H

#include <stddef.h>
#include <stdint.h>

struct reflection;

/* set: a FileDescriptorSet with its imports; it must outlive the result.  -EINVAL, -ENOMEM. */
int reflection_new(const void *set, size_t size, struct reflection **ret_reflection);
void reflection_free(struct reflection *r);

/* The set that was linked into this program (protoset.S). */
int reflection_new_embedded(struct reflection **ret_reflection);

/*
 * One ServerReflectionRequest -> one ServerReflectionResponse; what cannot be
 * found is an answer.  -EINVAL: not such a request; -E2BIG: too much of one; -ENOMEM.
 */
int reflection_answer(const struct reflection *r, const void *bytes, size_t size, uint8_t **ret_bytes,
		      size_t *ret_size);

#endif
