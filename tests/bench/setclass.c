/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * setclass.c - how long SetClass takes, measured at the client
 *
 * setclass [-n CALLS] [-g GAP_US] [-s SOCKET] CGROUP CLASS OTHER_CLASS
 *
 * One connection, one call after the other: to CLASS and OTHER_CLASS in turn,
 * so that each call changes something and the last one leaves OTHER_CLASS when
 * CALLS is even.  A sample is the time from the first byte to the reply.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "api/ctl/client.h"
#include "schedd/v1alpha1/scheduler.pb-c.h"
#include "tests/bench/sample.h"

static const uint64_t call_timeout_ns = 60000000000;

static int usage(void)
{
	fprintf(stderr, "usage: setclass [-n CALLS] [-g GAP_US] [-s SOCKET] CGROUP CLASS OTHER_CLASS\n");
	return 2;
}

static int set_class(struct client *client, const char *cgroup, const char *class_name)
{
	Schedd__V1alpha1__SetClassRequest request = SCHEDD__V1ALPHA1__SET_CLASS_REQUEST__INIT;
	Schedd__V1alpha1__Target target = SCHEDD__V1ALPHA1__TARGET__INIT;
	struct client_error error = { 0 };
	ProtobufCMessage *reply = NULL;
	int r;

	target.target_case = SCHEDD__V1ALPHA1__TARGET__TARGET_CGROUP_PATH;
	target.cgroup_path = (char *)cgroup;
	request.target = &target;
	request.class_name = (char *)class_name;
	r = client_call(client, &schedd__v1alpha1__scheduler__descriptor, "SetClass", &request.base, call_timeout_ns,
			&reply, &error);
	if (r != 0)
		fprintf(stderr, "setclass: %s to %s: status %d: %s\n", cgroup, class_name, r,
			error.message ? error.message : "no message");
	client_error_free(&error);
	if (reply)
		protobuf_c_message_free_unpacked(reply, NULL);
	return r;
}

static int measure(struct client *client, char *const *words, long calls, long gap_us, uint64_t *took_ns)
{
	for (long i = 0; i < calls; i++) {
		uint64_t begin_ns = sample_now_ns();

		if (set_class(client, words[0], words[1 + i % 2]) != 0)
			return 1;
		took_ns[i] = sample_now_ns() - begin_ns;
		if (gap_us)
			usleep((useconds_t)gap_us);
	}
	sample_print("setclass", took_ns, calls);
	return 0;
}

int main(int argc, char **argv)
{
	const char *socket_path = getenv("SCHEDD_SOCKET");
	long calls = 200, gap_us = 10000;
	struct client *client;
	uint64_t *took_ns;
	int c, r;

	while ((c = getopt(argc, argv, "n:g:s:")) != -1) {
		if (c == 'n')
			calls = atol(optarg);
		else if (c == 'g')
			gap_us = atol(optarg);
		else if (c == 's')
			socket_path = optarg;
		else
			return usage();
	}
	if (argc - optind != 3 || calls < 1 || gap_us < 0 || gap_us >= 1000000)
		return usage();
	r = client_connect(socket_path ? socket_path : "/run/schedd/schedd.sock", call_timeout_ns, &client);
	if (r < 0) {
		fprintf(stderr, "setclass: cannot connect: %s\n", strerror(-r));
		return 1;
	}
	took_ns = calloc((size_t)calls, sizeof(*took_ns));
	r = took_ns ? measure(client, argv + optind, calls, gap_us, took_ns) : 1;
	free(took_ns);
	client_free(client);
	return r;
}
