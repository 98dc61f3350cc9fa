/* SPDX-License-Identifier: GPL-2.0-or-later */
/* protected.c - cgroups that the node depends on: not best-effort without force */
#include "cgroup/protected.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "daemon/base/cleanup.h"

/* Service names without ".service"; "ssh" is what Debian calls sshd. */
static const struct {
	const char *unit, *why;
} protected_units[] = {
	{ "sshd", "remote logins" },
	{ "ssh", "remote logins" },
	{ "dbus", "the system bus" },
	{ "dbus-broker", "the system bus" },
	{ "kubelet", "the node agent of Kubernetes" },
	{ "k3s", "the node agent of Kubernetes" },
	{ "k3s-agent", "the node agent of Kubernetes" },
	{ "rke2-server", "the node agent of Kubernetes" },
	{ "rke2-agent", "the node agent of Kubernetes" },
	{ "containerd", "the container runtime" },
	{ "crio", "the container runtime" },
	{ "cri-o", "the container runtime" },
	{ "docker", "the container runtime" },
	{ "schedd", "schedd itself" },
};

/*
 * A name is believed only below slices of the system manager: a slice is never
 * delegated, while whoever got a service, a scope or a pod may give any name to
 * the cgroups inside, "sshd.service" too, and would escape its class that way.
 */
static bool below_slices_only(const char *path, const char *last)
{
	while (path < last) {
		const char *end = path + 1 + strcspn(path + 1, "/");
		size_t n = (size_t)(end - path);

		if (n <= strlen("/.slice") || memcmp(end - strlen(".slice"), ".slice", strlen(".slice")) != 0)
			return false;
		path = end;
	}
	return true;
}

const char *cgroup_protected(const char *path)
{
	const char *last = strrchr(path, '/'), *dot = strrchr(path, '.');
	size_t n;

	if (strcmp(path, "/") == 0)
		return "everything";
	if (strcmp(path, "/init.scope") == 0)
		return "the system manager";
	if (!last || !dot || dot < last || strcmp(dot, ".service") != 0 || !below_slices_only(path, last))
		return NULL;
	n = (size_t)(dot - last - 1);
	for (size_t i = 0; i < ARRAY_SIZE(protected_units); i++)
		if (strlen(protected_units[i].unit) == n && memcmp(protected_units[i].unit, last + 1, n) == 0)
			return protected_units[i].why;
	return NULL;
}
