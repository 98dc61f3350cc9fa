/* SPDX-License-Identifier: GPL-2.0-or-later */
/* idmap.h - 64-bit number -> pointer: open addressing, grows, no tombstones */
#ifndef SCHEDD_CGROUP_IDMAP_H
#define SCHEDD_CGROUP_IDMAP_H

#include <stddef.h>
#include <stdint.h>

struct idmap_slot {
	uint64_t key;
	void *value; /* NULL = free */
};

struct idmap { /* zeroed = empty */
	struct idmap_slot *slots;
	size_t nr_slots; /* 0 or a power of two, at most 2/3 used */
	size_t nr_used;
};

/* value is not NULL; a key that is there already gets the new value. -ENOMEM */
int idmap_put(struct idmap *m, uint64_t key, void *value);
void *idmap_get(const struct idmap *m, uint64_t key); /* NULL = not there */
void *idmap_take(struct idmap *m, uint64_t key);      /* removes; NULL = was not there */
void idmap_clear(struct idmap *m);                    /* frees; empty and reusable */

uint64_t idmap_mix(uint64_t key); /* a hash of one number */

#endif
