/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * grant.c - how long GrantCores takes until the CPUs are there, measured at the client
 *
 * grant [-n CALLS] [-g GAP_US] [-s SOCKET] [-r] CLASS CPUS
 *
 * One connection, one call after the other; each waits until the class owns
 * CPUS more (-r: until they ran it), and is taken back before the next.  A
 * sample is the time from the first byte to the reply.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/ctl/client.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "tests/bench/sample.h"

static const uint64_t call_timeout_ns = 60000000000;

struct order {
	const char *class_name;
	uint32_t cpus;
	bool running;
};

static int usage(void)
{
	fprintf(stderr, "usage: grant [-n CALLS] [-g GAP_US] [-s SOCKET] [-r] CLASS CPUS\n");
	return 2;
}

static int call(struct client *client, const char *method, const ProtobufCMessage *request,
		Schedd__V1alpha1__Lease **ret_lease)
{
	struct client_error error = { 0 };
	ProtobufCMessage *reply = NULL;
	int r;

	r = client_call(client, &schedd__v1alpha1__scheduler__descriptor, method, request, call_timeout_ns, &reply,
			&error);
	if (r != 0)
		fprintf(stderr, "grant: %s: status %d: %s\n", method, r, error.message ? error.message : "no message");
	client_error_free(&error);
	*ret_lease = (Schedd__V1alpha1__Lease *)reply;
	return r;
}

static int grant(struct client *client, const struct order *o, Schedd__V1alpha1__Lease **ret_lease)
{
	Schedd__V1alpha1__GrantCoresRequest request = SCHEDD__V1ALPHA1__GRANT_CORES_REQUEST__INIT;
	Google__Protobuf__Duration ttl = GOOGLE__PROTOBUF__DURATION__INIT;

	ttl.seconds = 60;
	request.class_name = (char *)o->class_name;
	request.cpus = o->cpus;
	request.ttl = &ttl;
	request.wait_for = o->running ? SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_RUNNING :
					SCHEDD__V1ALPHA1__WAIT_FOR__WAIT_FOR_OWNED;
	return call(client, "GrantCores", &request.base, ret_lease);
}

static int release(struct client *client, const char *lease_id)
{
	Schedd__V1alpha1__ReleaseLeaseRequest request = SCHEDD__V1ALPHA1__RELEASE_LEASE_REQUEST__INIT;
	Schedd__V1alpha1__Lease *lease = NULL;
	int r;

	request.lease_id = (char *)lease_id;
	r = call(client, "ReleaseLease", &request.base, &lease);
	if (lease)
		schedd__v1alpha1__lease__free_unpacked(lease, NULL);
	return r;
}

static int measure(struct client *client, const struct order *o, long calls, long gap_us, uint64_t *took_ns)
{
	for (long i = 0; i < calls; i++) {
		Schedd__V1alpha1__Lease *lease = NULL;
		uint64_t begin_ns = sample_now_ns();
		int r = grant(client, o, &lease);

		took_ns[i] = sample_now_ns() - begin_ns;
		if (r == 0)
			r = release(client, lease->lease_id);
		if (lease)
			schedd__v1alpha1__lease__free_unpacked(lease, NULL);
		if (r != 0)
			return 1;
		if (gap_us)
			usleep((useconds_t)gap_us);
	}
	sample_print("grant", took_ns, calls);
	return 0;
}

int main(int argc, char **argv)
{
	const char *socket_path = getenv("SCHEDD_SOCKET");
	long calls = 200, gap_us = 10000;
	struct order o = { 0 };
	struct client *client;
	uint64_t *took_ns;
	int c, r;

	while ((c = getopt(argc, argv, "n:g:s:r")) != -1) {
		if (c == 'n')
			calls = atol(optarg);
		else if (c == 'g')
			gap_us = atol(optarg);
		else if (c == 's')
			socket_path = optarg;
		else if (c == 'r')
			o.running = true;
		else
			return usage();
	}
	if (argc - optind != 2 || calls < 1 || gap_us < 0 || gap_us >= 1000000)
		return usage();
	o.class_name = argv[optind];
	o.cpus = (uint32_t)atol(argv[optind + 1]);
	r = client_connect(socket_path ? socket_path : "/run/schedd/schedd.sock", call_timeout_ns, &client);
	if (r < 0) {
		fprintf(stderr, "grant: cannot connect: %s\n", strerror(-r));
		return 1;
	}
	took_ns = calloc((size_t)calls, sizeof(*took_ns));
	r = took_ns ? measure(client, &o, calls, gap_us, took_ns) : 1;
	free(took_ns);
	client_free(client);
	return r;
}
