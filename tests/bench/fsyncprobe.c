/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fsyncprobe.c - latency of a 4 KiB write with fsync: fsyncprobe FILE COUNT */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/demo/clock.h"
#include "tests/demo/hist.h"

enum { BLOCK_BYTES = 4096, FILE_BLOCKS = 256 };

static int write_one(int fd, unsigned long i, struct hist *h)
{
	char block[BLOCK_BYTES];
	uint64_t begin_ns;

	memset(block, (int)('a' + i % 26), sizeof(block));
	begin_ns = clock_read_ns(CLOCK_MONOTONIC);
	if (pwrite(fd, block, sizeof(block), (off_t)(i % FILE_BLOCKS * BLOCK_BYTES)) != (ssize_t)sizeof(block) ||
	    fsync(fd) < 0)
		return -errno;
	hist_add(h, clock_read_ns(CLOCK_MONOTONIC) - begin_ns);
	return 0;
}

int main(int argc, char **argv)
{
	unsigned long count = argc == 3 ? strtoul(argv[2], NULL, 10) : 0;
	struct hist *h = calloc(1, sizeof(*h));
	int fd, r;

	if (!count || !h) {
		fprintf(stderr, "usage: fsyncprobe FILE COUNT\n");
		return 2;
	}
	fd = open(argv[1], O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0) {
		fprintf(stderr, "fsyncprobe: cannot open %s: %s\n", argv[1], strerror(errno));
		return 1;
	}
	for (unsigned long i = 0; i < count; i++) {
		r = write_one(fd, i, h);
		if (r < 0) {
			fprintf(stderr, "fsyncprobe: cannot write %s: %s\n", argv[1], strerror(-r));
			return 1;
		}
	}
	printf("count=%llu p50_us=%llu p99_us=%llu max_us=%llu\n", (unsigned long long)h->count,
	       (unsigned long long)hist_quantile(h, 500000) / 1000, (unsigned long long)hist_quantile(h, 990000) / 1000,
	       (unsigned long long)h->max_ns / 1000);
	free(h);
	close(fd);
	return 0;
}
