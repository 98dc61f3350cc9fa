/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tree.c - the cgroup2 tree as we know it: id <-> path <-> parent */
#include "cgroup/tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cgroup/idmap.h"
#include "daemon/base/cleanup.h"

/*
 * The public node is the first member.  name_next chains the nodes of one
 * bucket of the (parent, name) table: a slice can have ten thousand children,
 * and each event about one of them names it.
 */
struct tree_node {
	struct cgroup_node pub;
	struct tree_node *prev_sibling;
	struct tree_node *name_next;
	uint64_t name_hash;
};

struct cgroup_tree {
	struct cgroup_node *root;
	struct idmap by_id;
	struct tree_node **buckets; /* by name_hash */
	size_t nr_buckets;          /* a power of two */
	size_t nr_nodes;
};

enum { TREE_FIRST_BUCKETS = 64 };

static struct tree_node *priv(struct cgroup_node *node)
{
	return (struct tree_node *)node;
}

static uint64_t hash_name(uint64_t parent_id, const char *name, size_t len)
{
	uint64_t h = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * UINT64_C(0x100000001b3);
	return idmap_mix(h ^ idmap_mix(parent_id));
}

struct cgroup_tree *cgroup_tree_new(void)
{
	_cleanup_free_ struct cgroup_tree *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->buckets = calloc(TREE_FIRST_BUCKETS, sizeof(*t->buckets));
	if (!t->buckets)
		return NULL;
	t->nr_buckets = TREE_FIRST_BUCKETS;
	return TAKE_PTR(t);
}

void cgroup_tree_free(struct cgroup_tree *t)
{
	if (!t)
		return;
	if (t->root)
		cgroup_tree_remove(t, t->root);
	idmap_clear(&t->by_id);
	free(t->buckets);
	free(t);
}

/* Failure leaves longer chains, nothing worse. */
static void grow_buckets(struct cgroup_tree *t)
{
	size_t nr = t->nr_buckets * 2;
	struct tree_node **bigger = calloc(nr, sizeof(*bigger));

	if (!bigger)
		return;
	for (size_t i = 0; i < t->nr_buckets; i++) {
		struct tree_node *n, *next;

		for (n = t->buckets[i]; n; n = next) {
			next = n->name_next;
			n->name_next = bigger[n->name_hash & (nr - 1)];
			bigger[n->name_hash & (nr - 1)] = n;
		}
	}
	free(t->buckets);
	t->buckets = bigger;
	t->nr_buckets = nr;
}

static void link_node(struct cgroup_tree *t, struct tree_node *n)
{
	struct tree_node **bucket = &t->buckets[n->name_hash & (t->nr_buckets - 1)];
	struct cgroup_node *parent = n->pub.parent;

	n->name_next = *bucket;
	*bucket = n;
	if (!parent) {
		t->root = &n->pub;
		return;
	}
	n->pub.next_sibling = parent->first_child;
	if (parent->first_child)
		priv(parent->first_child)->prev_sibling = n;
	parent->first_child = &n->pub;
}

static void unlink_node(struct cgroup_tree *t, struct tree_node *n)
{
	struct tree_node **at = &t->buckets[n->name_hash & (t->nr_buckets - 1)];

	while (*at != n)
		at = &(*at)->name_next;
	*at = n->name_next;
	if (n->pub.next_sibling)
		priv(n->pub.next_sibling)->prev_sibling = n->prev_sibling;
	if (n->prev_sibling)
		n->prev_sibling->pub.next_sibling = n->pub.next_sibling;
	else if (n->pub.parent)
		n->pub.parent->first_child = n->pub.next_sibling;
	if (t->root == &n->pub)
		t->root = NULL;
}

int cgroup_tree_add(struct cgroup_tree *t, struct cgroup_node *parent, const char *name, uint64_t id,
		    struct cgroup_node **ret_node)
{
	_cleanup_free_ struct tree_node *n = NULL;
	_cleanup_free_ char *own_name = NULL;
	int r;

	if (!parent)
		name = "";
	if (idmap_get(&t->by_id, id) || (!parent && t->root))
		return -EEXIST;
	n = calloc(1, sizeof(*n));
	own_name = strdup(name);
	if (!n || !own_name)
		return -ENOMEM;
	r = idmap_put(&t->by_id, id, n);
	if (r < 0)
		return r;
	n->pub.id = id;
	n->pub.parent = parent;
	n->pub.name = TAKE_PTR(own_name);
	n->pub.watch_descriptor = -1;
	n->name_hash = hash_name(parent ? parent->id : 0, name, strlen(name));
	if (t->nr_nodes >= t->nr_buckets)
		grow_buckets(t);
	link_node(t, n);
	t->nr_nodes++;
	if (ret_node)
		*ret_node = &n->pub;
	TAKE_PTR(n);
	return 0;
}

static void free_leaf(struct cgroup_tree *t, struct cgroup_node *node)
{
	unlink_node(t, priv(node));
	idmap_take(&t->by_id, node->id);
	t->nr_nodes--;
	free(node->name);
	free(node);
}

/* Not recursive: how deep a tree is, a container may decide. */
void cgroup_tree_remove(struct cgroup_tree *t, struct cgroup_node *node)
{
	struct cgroup_node *at = node, *parent;

	for (;;) {
		while (at->first_child)
			at = at->first_child;
		if (at == node)
			break;
		parent = at->parent;
		free_leaf(t, at);
		at = parent;
	}
	free_leaf(t, node);
}

struct cgroup_node *cgroup_tree_root(const struct cgroup_tree *t)
{
	return t->root;
}

struct cgroup_node *cgroup_tree_find_id(const struct cgroup_tree *t, uint64_t id)
{
	return idmap_get(&t->by_id, id);
}

static struct cgroup_node *find_child(const struct cgroup_tree *t, const struct cgroup_node *parent, const char *name,
				      size_t len)
{
	uint64_t hash = hash_name(parent->id, name, len);

	for (struct tree_node *n = t->buckets[hash & (t->nr_buckets - 1)]; n; n = n->name_next)
		if (n->name_hash == hash && n->pub.parent == parent && strncmp(n->pub.name, name, len) == 0 &&
		    n->pub.name[len] == '\0')
			return &n->pub;
	return NULL;
}

struct cgroup_node *cgroup_tree_find_child(const struct cgroup_tree *t, const struct cgroup_node *parent,
					   const char *name)
{
	return find_child(t, parent, name, strlen(name));
}

struct cgroup_node *cgroup_tree_find_path(const struct cgroup_tree *t, const char *path)
{
	struct cgroup_node *node = t->root;

	if (path[0] != '/')
		return NULL;
	for (path++; node && *path;) {
		size_t len = strcspn(path, "/");

		/* "//" and a trailing "/" are not paths of ours. */
		if (!len || (path[len] == '/' && !path[len + 1]))
			return NULL;
		node = find_child(t, node, path, len);
		path += len + (path[len] == '/');
	}
	return node;
}

size_t cgroup_tree_size(const struct cgroup_tree *t)
{
	return t->nr_nodes;
}

int cgroup_node_path(const struct cgroup_node *node, char *dst, size_t size)
{
	size_t len = 0, at;

	for (const struct cgroup_node *n = node; n->parent; n = n->parent)
		len += 1 + strlen(n->name);
	if (len + 1 > size || size < 2)
		return -ENAMETOOLONG;
	if (!len) {
		memcpy(dst, "/", 2);
		return 0;
	}
	dst[len] = '\0';
	at = len;
	for (const struct cgroup_node *n = node; n->parent; n = n->parent) {
		size_t part = strlen(n->name);

		at -= part;
		memcpy(dst + at, n->name, part);
		dst[--at] = '/';
	}
	return 0;
}

struct cgroup_node *cgroup_node_next(struct cgroup_node *top, struct cgroup_node *at)
{
	if (!at)
		return top;
	if (at->first_child)
		return at->first_child;
	while (at != top && !at->next_sibling)
		at = at->parent;
	return at == top ? NULL : at->next_sibling;
}
