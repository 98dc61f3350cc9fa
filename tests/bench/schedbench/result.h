/* SPDX-License-Identifier: GPL-2.0-or-later */
/* result.h - what a test found: a status, named figures, samples on request */
#ifndef SCHEDBENCH_RESULT_H
#define SCHEDBENCH_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum status { STATUS_DONE, STATUS_PASS, STATUS_FAIL, STATUS_SKIP, STATUS_ERROR };

struct metric {
	char name[48]; /* with its unit at the end */
	double value;
};

struct result {
	enum status status;
	char reason[400];
	struct metric *metrics;
	size_t nr_metrics;
	bool keep_samples;
	double *samples_us; /* of the first series, in the order in which they were taken */
	size_t nr_samples;
};

void result_init(struct result *r, bool keep_samples);
void result_destroy(struct result *r);

const char *result_status_name(enum status status);

/* Memory that runs out ends the program: there is nothing to measure without it. */
void result_metric(struct result *r, double value, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* n, percentiles and maximum of samples, which it sorts; with prefix before each name.  None: only n. */
void result_series(struct result *r, const char *prefix, uint64_t *ns, size_t n);

void result_skip(struct result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Adds to the reason, after "; " where there is one. */
void result_note(struct result *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The first error is kept: what follows comes of it.  Returns error. */
int result_error(struct result *r, int error, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The unit that a name ends in, "" when it has none: "p99_us" -> "us". */
const char *result_unit(const char *metric_name);

#endif
