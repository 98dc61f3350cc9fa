/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * pipe.c - what handing the CPU over costs: a byte to and fro over two pipes
 *
 * pipe [-n ROUND_TRIPS] [-r REPEATS]
 *
 * Prints the microseconds of one round trip, the median of REPEATS.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/bench/sample.h"

#define MAX_REPEATS 1000

static void echo(int in, int out)
{
	char c;

	while (read(in, &c, 1) == 1)
		if (write(out, &c, 1) != 1)
			break;
	_exit(0);
}

static uint64_t round_trips(int out, int in, long n)
{
	uint64_t start = sample_now_ns();
	char c = 'x';

	for (long i = 0; i < n; i++)
		if (write(out, &c, 1) != 1 || read(in, &c, 1) != 1)
			exit(1);
	return (sample_now_ns() - start) / n;
}

int main(int argc, char **argv)
{
	long n = 10000, repeats = 5;
	uint64_t ns[MAX_REPEATS];
	int to[2], from[2], c;
	pid_t pid;

	while ((c = getopt(argc, argv, "n:r:")) != -1) {
		if (c == 'n')
			n = atol(optarg);
		else if (c == 'r')
			repeats = atol(optarg);
		else
			return 2;
	}
	if (n < 1 || repeats < 1 || repeats > MAX_REPEATS || pipe(to) || pipe(from))
		return 2;
	pid = fork();
	if (pid < 0)
		return 1;
	if (!pid) {
		close(to[1]);
		close(from[0]);
		echo(to[0], from[1]);
	}
	close(to[0]);
	close(from[1]);
	for (long i = 0; i < repeats; i++)
		ns[i] = round_trips(to[1], from[0], n);
	close(to[1]);
	waitpid(pid, NULL, 0);
	sample_print("pipe", ns, repeats);
	return 0;
}
